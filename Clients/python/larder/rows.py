"""Rows of the protocol's columns, which are checked before they are used."""

from __future__ import annotations

import decimal
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from .errors import LarderError, failure
from .identifiers import Identifier
from .v1 import batch_pb2
from .values import Url, datetime_of, json_of

#: An object or a row of a result, by names. Objects also have "@id" and "@version".
Row = dict[str, Any]

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "BOOL": bool,
    "DATE": datetime_of,
    "DECIMAL": lambda part: decimal.Decimal(part.decode()),
    "UUID": lambda part: uuid.UUID(bytes=part),
    "STRING": bytes.decode,
    "URL": lambda part: Url(part.decode()),
    "JSON": lambda part: json_of(part.decode()),
}
TYPE_PREFIX = "COLUMN_TYPE_"


def type_name(number: int) -> str:
    """The name of a column's type."""
    return batch_pb2.ColumnType.Name(number).removeprefix(TYPE_PREFIX)


def identifiers(named: Any, keys: Sequence[int], store: uuid.UUID) -> list[Identifier]:
    """The identifiers for the keys of an identity or of a column of objects."""
    entities = [named.entity, *named.subentities]
    indexes = named.entity_indexes or [0] * len(keys)
    return [Identifier(store, entities[index], key)
            for key, index in zip(keys, indexes, strict=True)]


def parts(whole: Sequence[Any], ends: Sequence[int]) -> list[Any]:
    """A heap or list, divided at the ends of its rows."""
    starts = [0, *ends][: len(ends)]
    if any(start > end for start, end in zip(starts, ends)) or ends and ends[-1] > len(whole):
        raise ValueError("the ends are not in order, or beyond the heap")
    return [whole[start:end] for start, end in zip(starts, ends)]


def column_values(column: batch_pb2.Column, row_count: int, store: uuid.UUID) -> list[Any]:
    """The values of a column, one per row; None for nil."""
    kind = type_name(column.type)
    items: Sequence[Any]
    if kind in ("BOOL", "INT16", "INT32", "INT64"):
        items = column.integers
    elif kind in ("FLOAT", "DOUBLE", "DATE"):
        items = column.doubles
    elif kind == "OBJECT":
        items = identifiers(column, column.integers, store)
    elif kind == "OBJECTS":
        items = parts(identifiers(column, column.integers, store), column.ends)
    else:
        items = parts(column.heap, column.ends)
    if len(items) != row_count:
        raise ValueError("a column has another number of rows than its batch")
    convert = CONVERSIONS.get(kind)
    if not column.nulls:
        return [convert(item) for item in items] if convert else list(items)
    nils = column.nulls.ljust((row_count + 7) // 8, b"\0")
    return [
        None if nils[row // 8] >> row % 8 & 1 else convert(item) if convert else item
        for row, item in enumerate(items)]


def rows(batch: batch_pb2.Batch, store: uuid.UUID) -> list[Row]:
    """The rows of a batch. A batch whose columns contradict each other is an error."""
    try:
        found: dict[str, Sequence[Any]] = {
            each.name: column_values(each, batch.row_count, store) for each in batch.columns}
        if batch.HasField("identity"):
            found["@id"] = identifiers(batch.identity, batch.identity.keys, store)
            found["@version"] = batch.identity.versions
        if any(len(items) != batch.row_count for items in found.values()):
            raise ValueError("the batch has another number of rows than its columns")
        if not found and batch.row_count:
            raise ValueError("the batch has rows without columns")
        return [dict(zip(found, row)) for row in zip(*found.values())]
    except LarderError:
        raise
    except (ArithmeticError, IndexError, ValueError):
        raise failure(
            "MALFORMED_MESSAGE", "the server sent columns that contradict each other") from None
