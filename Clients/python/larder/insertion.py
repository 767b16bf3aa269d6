"""Streams of new objects: rows of values as columns of the protocol."""

from __future__ import annotations

import datetime
import decimal
import itertools
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .attempts import Lost, NoReply
from .errors import LarderError, failure, violation
from .identifiers import Identifier
from .records import Record, entity_and_values
from .v1 import batch_pb2, larder_pb2
from .values import Json, decimal_text, integer, seconds_of, wrong_type

ROWS_MAX = 5_000
#: The values of a part of the stream, in bytes; a single row may be longer.
BYTES_MAX = 1 << 20
#: The parts that may be on their way.
PARTS_MAX = 4
COLUMN_TYPES = {
    "bool": "BOOL", "int16": "INT16", "int32": "INT32", "int64": "INT64", "float": "FLOAT",
    "double": "DOUBLE", "decimal": "DECIMAL", "string": "STRING", "date": "DATE", "uuid": "UUID",
    "url": "URL", "data": "DATA", "json": "JSON"}


@dataclass(frozen=True)
class InsertedRows:
    """The result of a stream of new objects."""

    row_count: int
    #: In the order of the rows; empty unless they were wanted.
    identifiers: tuple[Identifier, ...]
    #: The number of the last transaction; 0 without rows.
    transaction: int


@dataclass(frozen=True)
class PropertyType:
    """A column type, and for relationships the entity of the objects."""

    column: str
    destination: str = ""


def property_types(schema: str, entity: str) -> dict[str, PropertyType]:
    """The types of the properties of an entity, with those that it inherits."""
    entities = {each["name"]: each for each in json.loads(schema)["entities"]}
    if entity not in entities:
        raise failure("UNKNOWN_ENTITY", f"the schema has no entity {entity}")
    found: dict[str, PropertyType] = {}
    name: str | None = entity
    while name is not None:
        described = entities[name]
        for each in described.get("attributes", []):
            found[each["name"]] = PropertyType(COLUMN_TYPES[each["type"]])
        for each in described.get("relationships", []):
            found[each["name"]] = PropertyType(
                "OBJECTS" if each.get("toMany") else "OBJECT", each["destination"])
        name = described.get("parent")
    return found


# The values of columns


def exactly(*types: type) -> Callable[[Any], Any]:
    """A conversion that accepts values of these types, and bool only if it is one of them."""
    def convert(given: Any) -> Any:
        if not isinstance(given, types) or isinstance(given, bool) and bool not in types:
            raise TypeError
        return given
    return convert


def text_bytes(given: Any) -> bytes:
    try:
        return str(exactly(str)(given)).encode()
    except UnicodeEncodeError:
        raise wrong_type("the text has characters that are not of Unicode") from None


def decimal_bytes(given: Any) -> bytes:
    return decimal_text(decimal.Decimal(exactly(int, decimal.Decimal)(given))).encode()


def moment(given: Any) -> float:
    return seconds_of(exactly(datetime.datetime)(given))


def document_bytes(given: Any) -> bytes:
    return (given if isinstance(given, Json) else Json(given)).text().encode()


WHOLE: dict[str, Callable[[Any], Any]] = {
    "BOOL": exactly(bool), **dict.fromkeys(
        ("INT16", "INT32", "INT64"), lambda given: integer(exactly(int)(given)))}
REAL: dict[str, Callable[[Any], Any]] = {
    "FLOAT": lambda given: float(exactly(int, float)(given)),
    "DOUBLE": lambda given: float(exactly(int, float)(given)), "DATE": moment}
HEAP: dict[str, Callable[[Any], Any]] = {
    "STRING": text_bytes, "URL": text_bytes, "JSON": document_bytes, "DECIMAL": decimal_bytes,
    "UUID": lambda given: exactly(uuid.UUID)(given).bytes,
    "DATA": lambda given: bytes(exactly(bytes, bytearray)(given))}


@dataclass
class ColumnBuilder:
    """One column of the rows of a part."""

    name: str
    type: PropertyType
    store: uuid.UUID
    items: list[Any] = field(default_factory=list)
    size: int = 0

    def append(self, given: Any) -> None:
        """Adds the value of a row; an error if it does not have the property's type."""
        try:
            item = None if given is None else self._converted(given)
        except (TypeError, OverflowError, AttributeError):
            raise wrong_type(
                f"{self.name} is of the type {self.type.column.lower()}, and the value is"
                f" {type(given).__name__}") from None
        self.items.append(item)
        self.size += 8 + (len(item) * (8 if self.type.column == "OBJECTS" else 1) if isinstance(
            item, list | bytes) else 0)

    def _converted(self, given: Any) -> Any:
        kind = self.type.column
        if kind == "OBJECT":
            return self._own(given)
        if kind == "OBJECTS":
            return [self._own(each) for each in exactly(list, tuple)(given)]
        return (WHOLE.get(kind) or REAL.get(kind) or HEAP[kind])(given)

    def _own(self, given: Any) -> Identifier:
        identifier: Identifier = exactly(Identifier)(given)
        if identifier.store != self.store:
            raise failure("FOREIGN_IDENTIFIER", f"{identifier} belongs to another store")
        return identifier

    def column(self) -> batch_pb2.Column:
        """The column in the protocol."""
        kind, items = self.type.column, self.items
        made = batch_pb2.Column(
            name=self.name,
            type=f"COLUMN_TYPE_{kind}")
        nulls = bytearray((len(items) + 7) // 8)
        for row, item in enumerate(items):
            if item is None:
                nulls[row // 8] |= 1 << row % 8
        made.nulls = bytes(nulls) if any(nulls) else b""
        if kind in WHOLE:
            made.integers.extend(item or 0 for item in items)
        elif kind in REAL:
            made.doubles.extend(item or 0.0 for item in items)
        elif kind in HEAP:
            made.heap = b"".join(item or b"" for item in items)
            made.ends.extend(itertools.accumulate(len(item or b"") for item in items))
        else:
            self._add_objects(made)
        return made

    def _add_objects(self, made: batch_pb2.Column) -> None:
        made.entity = self.type.destination
        if self.type.column == "OBJECTS":
            listed = [each for item in self.items for each in item or []]
            made.ends.extend(itertools.accumulate(len(item or []) for item in self.items))
        else:
            listed = self.items
        made.integers.extend(each.key if each else 0 for each in listed)
        names = sorted({each.entity for each in listed if each} - {made.entity})
        if names:
            made.subentities.extend(names)
            numbers = {name: number for number, name in enumerate(names, 1)}
            made.entity_indexes.extend(
                numbers.get(each.entity, 0) if each else 0 for each in listed)


@dataclass
class RowBuilder:
    """Collects rows, all with the same properties, into parts of a stream."""

    entity: str
    types: Mapping[str, PropertyType]
    store: uuid.UUID
    columns: list[ColumnBuilder] = field(default_factory=list)
    row_count: int = 0
    #: The rows of the parts before.
    sent_count: int = 0

    def append(self, row: Mapping[str, Any] | Record) -> None:
        """Adds a row; an error names its index in the stream."""
        index = self.sent_count + self.row_count
        if isinstance(row, Record):
            entity, row = entity_and_values(row, None)
            if entity != self.entity:
                raise wrong_type(f"row {index} is of the entity {entity}")
        if not self.columns:
            self.columns = [self._column(name, index) for name in row]
        if len(row) != len(self.columns):
            raise self._differs(index)
        try:
            for column in self.columns:
                column.append(row[column.name])
        except KeyError:
            raise self._differs(index) from None
        except LarderError as error:
            error.add_note(f"row {index}")
            raise
        self.row_count += 1

    @property
    def is_full(self) -> bool:
        """Whether the rows are to be sent."""
        return self.row_count >= ROWS_MAX or sum(c.size for c in self.columns) >= BYTES_MAX

    def part(self, request_id: int, *, is_last: bool) -> larder_pb2.RowsRequest:
        """The rows so far, as the next part of a stream."""
        made = larder_pb2.RowsRequest(request_id=request_id, last=is_last)
        if self.row_count:
            made.batch.row_count = self.row_count
            made.batch.columns.extend(column.column() for column in self.columns)
        self.columns = [ColumnBuilder(c.name, c.type, c.store) for c in self.columns]
        self.sent_count, self.row_count = self.sent_count + self.row_count, 0
        return made

    def _column(self, name: str, index: int) -> ColumnBuilder:
        if name not in self.types:
            raise failure(
                "UNKNOWN_PROPERTY", f"row {index}: {self.entity} has no property {name}")
        return ColumnBuilder(name, self.types[name], self.store)

    def _differs(self, index: int) -> LarderError:
        names = ", ".join(column.name for column in self.columns)
        return failure(
            "MISSING_VALUE", f"row {index} has other properties than the first row: {names}",
            hint="give all rows the same properties, with None where there is no value")


@dataclass
class InsertionProgress:
    """The replies to an insert stream so far."""

    builder: RowBuilder
    identifiers: list[Identifier] = field(default_factory=list)
    sent_parts: int = 0
    processed_parts: int = 0
    row_count: int = 0
    transaction: int = 0
    is_complete: bool = False

    @property
    def must_wait(self) -> bool:
        """Whether the server would refuse another part."""
        return self.sent_parts - self.processed_parts >= PARTS_MAX

    def next_part(self, request_id: int, is_last: bool) -> larder_pb2.RowsRequest:
        """The rows that have been collected, which are sent now."""
        self.sent_parts += 1
        return self.builder.part(request_id, is_last=is_last)

    def received(self, reply: larder_pb2.InsertReply) -> None:
        """Notes what the server has stored."""
        self.processed_parts, self.row_count = reply.batch_count, reply.row_count
        self.transaction, self.is_complete = reply.transaction, not reply.more
        known = sum(reply.key_counts) + len(self.identifiers)
        if known > self.builder.sent_count or len(reply.first_keys) != len(reply.key_counts):
            raise violation("the server sent keys of rows that it does not have")
        store, entity = self.builder.store, self.builder.entity
        for first, count in zip(reply.first_keys, reply.key_counts):
            self.identifiers.extend(Identifier(store, entity, first + n) for n in range(count))

    def interrupted(self, error: Lost | NoReply) -> LarderError:
        """The error if there was no reply."""
        reason = error.error.message if isinstance(error, Lost) else "the server did not reply"
        return failure(
            "INDETERMINATE",
            f"{reason}; {self.row_count} rows were acknowledged, and later ones may be stored",
            hint="read the objects again before repeating the write")

    def result(self) -> InsertedRows:
        """The result of the complete stream."""
        return InsertedRows(self.row_count, tuple(self.identifiers), self.transaction)
