"""The result of an observed query, to which the replies of the server are applied."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .errors import failure, violation
from .history import HistoryToken, token_of_message
from .rows import Row, rows
from .v1 import observe_pb2

Item = TypeVar("Item")
#: The most rows of an observed fetch, as in the server.
ROWS_MAX = 1_000_000


@dataclass(frozen=True)
class Section(Generic[Item]):
    """Successive rows with the same value of the section's key; nil is a value, too."""

    value: Any
    rows: list[Item]


@dataclass(frozen=True)
class LiveResult(Generic[Item]):
    """All rows of an observed query at one moment, and how they differ from those before.

    The indexes are None if the differences are unknown: in the first result, after a lost
    connection, for a slow client, and for queries other than fetches of objects.
    """

    rows: list[Item]
    sections: list[Section[Item]]
    #: The position in the history to which the result belongs.
    position: HistoryToken
    #: The indexes of the new rows, ascending.
    inserted: list[int] | None = None
    #: The indexes before of the rows that are gone, ascending.
    deleted: list[int] | None = None
    #: The indexes of rows with new values, ascending.
    updated: list[int] | None = None
    #: The indexes before and now of rows with another position among those that stay.
    moved: list[tuple[int, int]] | None = None


@dataclass
class LiveRows:
    """The rows with their sections, and those of a whole result that is arriving."""

    rows: list[Row] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    is_sectioned: bool = False
    _begun: tuple[list[Row], list[Any]] | None = None
    _has_result: bool = False

    def apply(
            self, reply: observe_pb2.ObserveReply, store: uuid.UUID) -> LiveResult[Row] | None:
        """The result after a reply; None while a whole result is incomplete."""
        received = [row for batch in reply.rows for row in rows(batch, store)]
        keys = self._section_keys(reply, len(received), store)
        position = token_of_message(reply.position)
        if reply.begins:
            self._begun = ([], [])
        if self._begun is None:
            if not self._has_result:
                raise violation("the server sent a change before the first result")
            return self._changed(reply, received, keys, position)
        self._begun[0].extend(received)
        self._begun[1].extend(keys)
        if len(self._begun[0]) > ROWS_MAX:
            raise failure(
                "RESOURCE_EXHAUSTED", f"an observed query has over {ROWS_MAX:,} rows")
        if not reply.ends:
            return None
        (self.rows, self.keys), self._begun, self._has_result = self._begun, None, True
        return self._result(position)

    def _section_keys(
            self, reply: observe_pb2.ObserveReply, row_count: int, store: uuid.UUID) -> list[Any]:
        if not self.is_sectioned:
            return []
        if not reply.HasField("sections"):
            found = []
        elif len(reply.sections.columns) == 1:
            found = [next(iter(row.values())) for row in rows(reply.sections, store)]
        else:
            raise violation("the server sent sections of several columns")
        if len(found) != row_count:
            raise violation("the server sent another number of sections than rows")
        return found

    def _changed(
            self, reply: observe_pb2.ObserveReply, received: list[Row], keys: list[Any],
            position: HistoryToken) -> LiveResult[Row]:
        new, old, count = reply.new_indexes, reply.old_indexes, len(self.rows)
        removed = {index - 1 for index in old if index} | set(reply.deleted)
        total = count - len(removed) + len(received)
        kept = sum(1 for index in old if index)
        if not (
                len(new) == len(old) == len(reply.moved) == len(received)
                and len(removed) == kept + len(reply.deleted)
                and all(index < count for index in removed)
                and is_ascending(new) and is_ascending(reply.deleted)
                and (not new or new[-1] < total)):
            raise violation("the server sent indexes that contradict the result")
        self.rows = replaced(self.rows, removed, new, received)
        if self.is_sectioned:
            self.keys = replaced(self.keys, removed, new, keys)
        changed = list(zip(old, new, reply.moved))
        return self._result(
            position, inserted=[index for before, index, _ in changed if not before],
            deleted=list(reply.deleted),
            updated=[index for before, index, moved in changed if before and not moved],
            moved=[(before - 1, index) for before, index, moved in changed if before and moved])

    def _result(self, position: HistoryToken, **differences: Any) -> LiveResult[Row]:
        sections: list[Section[Row]] = []
        for key, row in zip(self.keys, self.rows):
            if not sections or sections[-1].value != key:
                sections.append(Section(key, []))
            sections[-1].rows.append(row)
        return LiveResult(list(self.rows), sections, position, **differences)


def is_ascending(indexes: Sequence[int]) -> bool:
    return all(before < after for before, after in itertools.pairwise(indexes))


def replaced(
        items: list[Any], removed: set[int], indexes: Sequence[int], inserted: list[Any]
) -> list[Any]:
    """The items without those at some indexes, and with others at their new indexes."""
    kept = (item for index, item in enumerate(items) if index not in removed)
    made: list[Any] = []
    for index, item in zip(indexes, inserted):
        while len(made) < index:
            made.append(next(kept))
        made.append(item)
    made.extend(kept)
    return made
