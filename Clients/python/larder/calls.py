"""The calls of both clients: which request each sends, and how its replies become results. The
module does no I/O."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .changes import ChangeSet, Edit, MergePolicy, SaveResult, Selection, UpdateSelection
from .errors import failure
from .history import HistoryFilter, HistoryPage, HistoryToken, TransactionAssembly
from .identifiers import Identifier
from .live import LiveResult, LiveRows, Section
from .queries import CREDIT, Fetch, Query, SortKey, get_request
from .records import Record, record_of_row
from .rows import Row, rows
from .server import ServerDescription
from .v1 import change_pb2, history_pb2, larder_pb2, observe_pb2

Output = TypeVar("Output")
Item_co = TypeVar("Item_co", covariant=True)


@dataclass(frozen=True)
class Call(Generic[Output]):
    """A request with one reply."""

    kind: str
    body: Any
    #: The result in the body of the reply.
    output: Callable[[Any, ServerDescription], Output]
    is_write: bool = False
    has_key: bool = False


class Source(Protocol[Item_co]):
    """A request with several replies, and the items in them."""

    kind: str
    #: Whether it has no end, so that it is requested again after a lost connection.
    is_endless: bool

    def body(self) -> Any:
        """The request, which continues after the items so far if it is sent again."""

    def items(self, reply: Any, server: ServerDescription) -> Iterable[Item_co]:
        """The items that a reply completes."""


# Calls with one reply


def get(
        wanted: Sequence[Identifier], properties: Sequence[str] | None = None
) -> Call[list[Row]]:
    """The objects that exist, in the order of the identifiers."""
    for each in wanted:
        if not isinstance(each, Identifier):
            raise failure("WRONG_TYPE", f"{each!r} is not an identifier",
                          hint="Identifier.parse makes one of a URI")

    def output(reply: larder_pb2.BatchesReply, server: ServerDescription) -> list[Row]:
        found = {row["@id"]: row for batch in reply.batches for row in rows(batch, server.store)}
        return [found[each] for each in wanted if each in found]

    return Call("get", get_request(wanted, properties), output)


def save(changes: ChangeSet, author: str) -> Call[SaveResult]:
    """One transaction. The message is made once, so that it is the same in each attempt."""
    message = changes.message()
    message.author = message.author or author
    return Call(
        "save", message, lambda reply, _: changes.result(reply), is_write=True,
        has_key=bool(message.idempotency_key))


def insertion(
        entity: str | Record, values: Mapping[str, Any] | None, upsert: bool, key: str
) -> ChangeSet:
    changes = ChangeSet(idempotency_key=key, upsert=upsert)
    changes.insert(entity, values)
    return changes


def updating(
        target: Identifier | Record, values: Mapping[str, Any] | None, edits: Sequence[Edit],
        if_version: int | None, base: Mapping[str, Any] | None, policy: MergePolicy, key: str
) -> ChangeSet:
    changes = ChangeSet(idempotency_key=key, merge_policy=policy)
    changes.update(target, values, edits=edits, if_version=if_version, base=base)
    return changes


def deletion(target: Identifier | Record, if_version: int | None, key: str) -> ChangeSet:
    changes = ChangeSet(idempotency_key=key)
    changes.delete(target, if_version=if_version)
    return changes


def updating_all(
        entity: str | type[Record], values: Mapping[str, Any] | None, key: str,
        selection: UpdateSelection) -> ChangeSet:
    changes = ChangeSet(idempotency_key=key)
    changes.update_all(entity, values, **selection)
    return changes


def deletion_all(entity: str | type[Record], key: str, selection: Selection) -> ChangeSet:
    changes = ChangeSet(idempotency_key=key)
    changes.delete_all(entity, **selection)
    return changes


def insert_request(
        entity: str, atomic: bool, upsert: bool, wants_identifiers: bool, author: str
) -> larder_pb2.InsertRequest:
    """The beginning of a stream of new objects."""
    return larder_pb2.InsertRequest(
        entity=entity, atomic=atomic, author=author, identifiers_wanted=wants_identifiers,
        on_unique_conflict=change_pb2.UNIQUE_CONFLICT_POLICY_UPSERT if upsert
        else change_pb2.UNIQUE_CONFLICT_POLICY_ERROR)


def only(items: Sequence[Output]) -> Output:
    """The only item of a reply."""
    if len(items) != 1:
        raise failure("MALFORMED_MESSAGE", "the server sent another number of results")
    return items[0]


def count_of(found: list[Row]) -> int:
    """The number in the result of a Count."""
    number = only(found).get("count")
    if not isinstance(number, int):
        raise failure("MALFORMED_MESSAGE", "the server sent a count that is not a number")
    return number


def ping() -> Call[None]:
    return Call("ping", larder_pb2.PingRequest(), lambda *_: None)


def schema() -> Call[str]:
    return Call("schema", larder_pb2.SchemaRequest(), lambda reply, _: str(reply.json))


# Streams


@dataclass
class RowSource:
    """The rows of a query, as dictionaries or as records."""

    query: Query
    kind: str = "query"
    is_endless: bool = False

    def body(self) -> larder_pb2.QueryRequest:
        return self.query.request(CREDIT)

    def items(self, reply: larder_pb2.BatchesReply, server: ServerDescription) -> list[Any]:
        found = [row for batch in reply.batches for row in rows(batch, server.store)]
        return as_records(self.query.entity, found)


def as_records(entity: str | type[Record], found: list[Row]) -> list[Any]:
    """The rows, or the records in them if the entity is a class."""
    if isinstance(entity, str):
        return found
    return [record_of_row(entity, row) for row in found]


@dataclass
class HistorySource:
    """Pages of the history, of the past or without an end."""

    filter: HistoryFilter
    after: HistoryToken | None
    is_endless: bool
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    kind: str = "history"
    _assembly: TransactionAssembly = dataclasses.field(default_factory=TransactionAssembly)

    def body(self) -> larder_pb2.HistoryRequest:
        # Parts of a transaction are sent again.
        self._assembly = TransactionAssembly()
        return self.filter.request(
            after=self.after, follow=self.is_endless,
            starts_now=self.is_endless and self.after is None, **self.options)

    def items(
            self, reply: history_pb2.HistoryReply, server: ServerDescription) -> list[HistoryPage]:
        page = self._assembly.page(reply)
        self.after = page.position
        return [page]


@dataclass
class LiveSource:
    """The results of an observed query."""

    query: Query
    section: str | SortKey | None
    interval: float
    kind: str = "observe"
    is_endless: bool = True
    _rows: LiveRows = dataclasses.field(default_factory=LiveRows)

    def __post_init__(self) -> None:
        if self.section is not None:
            if not isinstance(self.query, Fetch):
                raise failure("UNSUPPORTED", "only a Fetch has sections")
            self.query = dataclasses.replace(
                self.query, sort=[self.section, *self.query.sort])

    def body(self) -> larder_pb2.ObserveRequest:
        self._rows = LiveRows(is_sectioned=self.section is not None)
        return larder_pb2.ObserveRequest(
            query=self.query.request(CREDIT), sectioned=self.section is not None,
            interval_milliseconds=max(0, int(self.interval * 1_000)))

    def items(
            self, reply: observe_pb2.ObserveReply,
            server: ServerDescription) -> list[LiveResult[Any]]:
        found = self._rows.apply(reply, server.store)
        if found is None:
            return []
        entity = self.query.entity
        if isinstance(entity, str):
            return [found]
        return [dataclasses.replace(
            found, rows=as_records(entity, found.rows),
            sections=[Section(s.value, as_records(entity, s.rows)) for s in found.sections])]


def history_of_pages(pages: Sequence[HistoryPage]) -> HistoryPage:
    """The pages of a finite read as one."""
    if not pages:
        raise failure("MALFORMED_MESSAGE", "the server sent no page of the history")
    transactions = tuple(each for page in pages for each in page.transactions)
    return dataclasses.replace(pages[-1], transactions=transactions)
