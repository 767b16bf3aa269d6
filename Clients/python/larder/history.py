"""The history of a store: tokens, transactions and their changes."""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .errors import failure, violation
from .identifiers import Identifier
from .queries import CREDIT, count, enumerator
from .v1 import history_pb2, larder_pb2
from .values import datetime_of, python_value, seconds_of

TOKEN = re.compile(
    r"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})-e(-?[0-9]{1,19})-n([0-9]{1,19})")
Kind = Literal["inserted", "updated", "deleted"]
KINDS: dict[int, Kind] = {
    history_pb2.HISTORY_CHANGE_KIND_INSERTED: "inserted",
    history_pb2.HISTORY_CHANGE_KIND_UPDATED: "updated",
    history_pb2.HISTORY_CHANGE_KIND_DELETED: "deleted"}


@dataclass(frozen=True, slots=True)
class HistoryToken:
    """A position in the history of a store: after one transaction and before the next. It can be
    stored as text, and stays valid until transactions after it are deleted."""

    store: uuid.UUID
    epoch: int
    #: The number of the last transaction before the position; 0 is the beginning.
    number: int

    def __str__(self) -> str:
        return f"{str(self.store).upper()}-e{self.epoch}-n{self.number}"

    @classmethod
    def parse(cls, text: str) -> HistoryToken:
        """The token in a text; NotFoundError for another text."""
        match = TOKEN.fullmatch(text) if isinstance(text, str) else None
        if match is None or int(match[3]) >= 2**63 or not -(2**63) <= int(match[2]) < 2**63:
            raise failure("MALFORMED_TOKEN", "the history token is malformed",
                          hint="a token looks like <UUID>-e<epoch>-n<number>")
        return cls(uuid.UUID(match[1]), int(match[2]), int(match[3]))

    def message(self) -> history_pb2.HistoryToken:
        """The token in the protocol."""
        return history_pb2.HistoryToken(
            store=self.store.bytes, epoch=self.epoch, number=self.number)


@dataclass(frozen=True)
class HistoryChange:
    """A change of objects of one entity with consecutive keys."""

    kind: Kind
    entity: str
    first_key: int
    last_key: int
    #: The updated properties, sorted.
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tombstone:
    """A deleted object, and its values that the schema preserves."""

    identifier: Identifier
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Transaction:
    """The changes of a save, or of a part of an insert stream."""

    #: From 1, increasing, never used again.
    number: int
    time: datetime.datetime
    author: str
    #: The name of the client, and its user and process, which are None if they are unknown.
    client: str
    user: int | None
    process: int | None
    changes: tuple[HistoryChange, ...]
    tombstones: tuple[Tombstone, ...] = ()


@dataclass(frozen=True)
class HistoryPage:
    """The next transactions, perhaps none, and the position after them."""

    transactions: tuple[Transaction, ...]
    position: HistoryToken
    #: Whether this is the end of the history for now; later ones follow as they are committed.
    is_current: bool


@dataclass(frozen=True, kw_only=True)
class HistoryFilter:
    """Which transactions, and which of their changes, to read. An empty list selects all."""

    authors: Sequence[str] = ()
    excluded_authors: Sequence[str] = ()
    clients: Sequence[str] = ()
    entities: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    #: Only updates of one of these properties; inserts and deletes are not affected.
    properties: Sequence[str] = ()
    since: datetime.datetime | None = None
    until: datetime.datetime | None = None
    #: Whether the transactions have their changes.
    includes_changes: bool = True

    def request(
            self, *, after: HistoryToken | None, follow: bool = False, starts_now: bool = False,
            newest_first: bool = False, limit: int | None = None,
            up_to: HistoryToken | None = None) -> larder_pb2.HistoryRequest:
        """A read of the history with this filter."""
        return larder_pb2.HistoryRequest(
            after=after.message() if after else None, up_to=up_to.message() if up_to else None,
            start=history_pb2.HISTORY_START_NOW if starts_now else
            history_pb2.HISTORY_START_OLDEST,
            authors=self.authors, excluded_authors=self.excluded_authors, clients=self.clients,
            entities=self.entities, properties=self.properties,
            kinds=[
                enumerator(
                    history_pb2.HistoryChangeKind, "HISTORY_CHANGE_KIND_", each.upper(),
                    "kind of change")
                for each in self.kinds],
            since=None if self.since is None else seconds_of(self.since),
            until=None if self.until is None else seconds_of(self.until),
            without_changes=not self.includes_changes, newest_first=newest_first,
            limit=None if limit is None else count("limit", limit), credit=CREDIT, follow=follow)


def token_of_message(message: history_pb2.HistoryToken) -> HistoryToken:
    if len(message.store) != 16 or message.number < 0:
        raise violation("the server sent a malformed position")
    return HistoryToken(uuid.UUID(bytes=message.store), message.epoch, message.number)


def transaction_of_message(
        message: history_pb2.HistoryTransaction, store: uuid.UUID) -> Transaction:
    return Transaction(
        message.number, datetime_of(message.time), message.author, message.client,
        message.user if message.HasField("user") else None,
        message.process if message.HasField("process") else None,
        tuple(change_of_message(run) for run in message.runs),
        tuple(
            Tombstone(
                Identifier(store, each.entity, each.key),
                {part.name: python_value(part.value) for part in each.values})
            for each in message.tombstones))


def change_of_message(run: history_pb2.HistoryRun) -> HistoryChange:
    if run.kind not in KINDS or not 1 <= run.first_key <= run.last_key:
        raise violation("the server sent a malformed change of the history")
    return HistoryChange(
        KINDS[run.kind], run.entity, run.first_key, run.last_key, tuple(run.properties))


@dataclass
class TransactionAssembly:
    """Joins the parts of a large transaction, which come in several replies."""

    #: The longest transaction, in bytes of its parts; a server cannot fill the memory with one.
    bytes_max: int = 1 << 30
    _part: history_pb2.HistoryTransaction | None = None
    _bytes: int = field(default=0)

    def page(self, reply: history_pb2.HistoryReply) -> HistoryPage:
        """The complete transactions of a reply."""
        position = token_of_message(reply.position)
        found = list(reply.transactions)
        if self._part is not None and found:
            if found[0].number != self._part.number:
                raise violation("the server sent a part of another transaction")
            self._part.MergeFrom(found[0])
            found[0] = self._part
        self._part = found.pop() if reply.partial and found else None
        self._bytes = self._bytes + reply.ByteSize() if self._part is not None else 0
        if self._bytes > self.bytes_max:
            raise failure("RESOURCE_EXHAUSTED", f"a transaction has over {self.bytes_max} bytes")
        return HistoryPage(
            tuple(transaction_of_message(each, position.store) for each in found), position,
            reply.current)
