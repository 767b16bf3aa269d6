"""What both clients share: frames, errors, values, and rows from columns. It does no I/O.

The modules whose names end in `_pb2` are generated from Proto/; see ../README.md.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import batch_pb2 as batches
import change_pb2 as changes
import error_pb2 as errors
import expression_pb2 as expressions
import history_pb2 as histories
import larder_pb2 as larder
import query_pb2 as queries
import value_pb2 as values
from google.protobuf.message import DecodeError

EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
LENGTH_BYTES = 4
# The longest frame of either side before the end of the handshake, and of the server after it.
HANDSHAKE_BYTES_MAX = 64 << 10
REPLY_BYTES_MAX = 16 << 20
# The replies of a stream that may be on their way.
CREDIT = 4
# The field of the reply to each request.
REPLIES = {
    "hello": "welcome", "get": "batches", "query": "batches", "explain": "explained",
    "save": "saved", "schema": "schema_text", "statistics": "statistics_list", "ping": "pong",
    "check": "checked", "insert_rows": "inserted", "history": "transactions",
    "delete_history": "history_deleted", "activity": "activity_report",
    "open_snapshot": "snapshot_opened", "observe": "observed", "backup": "backup_part",
    "migrate": "migrated"}

__all__ = [
    "CREDIT", "EPOCH", "HANDSHAKE_BYTES_MAX", "LENGTH_BYTES", "LarderError", "REPLY_BYTES_MAX",
    "argument", "batches", "change", "change_all", "change_set", "changes", "column",
    "column_values", "complete", "condition", "decoded_frame", "edit", "encoded_frame", "errors",
    "expressions", "fetch", "frame_length", "histories", "identifier", "identifiers",
    "is_temporary", "larder", "new", "opened", "parts", "queries", "query_request", "rows", "uri",
    "value", "values", "where"]


class LarderError(Exception):
    """An error with a number of Proto/error.proto: the reply `failed`, or one of the client."""

    def __init__(
            self, code: int, message: str, reply: larder.ErrorReply | None = None,
            hint: str = "") -> None:
        known = code in errors.ErrorCode.values()
        name = errors.ErrorCode.Name(code).removeprefix("ERROR_CODE_") if known else str(code)
        super().__init__(f"error[{name}]: {message}")
        self.code, self.name, self.message, self.reply = code, name, message, reply
        self.hint = reply.hint if reply else hint


def is_temporary(error: Exception) -> bool:
    """Whether the same request may succeed later: a broken connection, TIMEOUT or UNAVAILABLE."""
    return isinstance(error, OSError) or isinstance(error, LarderError) and error.code in (
        errors.ERROR_CODE_TIMEOUT, errors.ERROR_CODE_UNAVAILABLE)


# Frames


def encoded_frame(envelope: larder.Envelope, bytes_max: int) -> bytes:
    content = envelope.SerializeToString()
    if len(content) > bytes_max:
        raise LarderError(
            errors.ERROR_CODE_FRAME_TOO_LONG,
            f"the request has {len(content)} bytes; at most {bytes_max} are allowed",
            hint="divide it")
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def frame_length(header: bytes, bytes_max: int) -> int:
    """The length of a frame, checked before memory is allocated for its content."""
    length = int.from_bytes(header, "big")
    if length > bytes_max:
        raise LarderError(
            errors.ERROR_CODE_FRAME_TOO_LONG,
            f"the server sent a frame of {length} bytes; at most {bytes_max} are allowed")
    return length


def decoded_frame(content: bytes) -> larder.Envelope:
    try:
        envelope = larder.Envelope.FromString(content)
    except DecodeError:
        raise LarderError(
            errors.ERROR_CODE_MALFORMED_FRAME, "the server sent a frame that is not an envelope"
        ) from None
    if envelope.WhichOneof("body") is None:
        raise LarderError(
            errors.ERROR_CODE_UNKNOWN_MESSAGE,
            "the server sent a message that is not a known reply")
    return envelope


def opened(envelope: larder.Envelope, request: str | None = None) -> Any:
    """The body of a reply to this kind of request; raises the error of `failed`."""
    if envelope.HasField("failed"):
        raise LarderError(envelope.failed.code, envelope.failed.message, envelope.failed)
    found = envelope.WhichOneof("body")
    if found != REPLIES.get(request, found):
        raise LarderError(
            errors.ERROR_CODE_MALFORMED_MESSAGE, "the server replied with another message")
    return getattr(envelope, found)


# Values


def identifier(uri: str) -> values.Identifier:
    """The identifier in a URI."""
    match = re.fullmatch(r"x-coredata://([0-9A-Fa-f-]{36})/([A-Za-z][A-Za-z0-9_]*)/p(\d+)", uri)
    try:
        return values.Identifier(
            store=uuid.UUID(match[1]).bytes, entity=match[2], key=int(match[3]))
    except (TypeError, ValueError):
        raise LarderError(
            errors.ERROR_CODE_MALFORMED_IDENTIFIER, "the URI is malformed") from None


def uri(found: values.Identifier) -> str:
    return f"x-coredata://{str(uuid.UUID(bytes=found.store)).upper()}/{found.entity}/p{found.key}"


def value(python: Any) -> values.Value:
    """A Python value as a Value; identifiers and lists of identifiers are objects."""
    match python:
        case None: return values.Value(null_value=True)
        case bool(): return values.Value(bool_value=python)
        case int(): return values.Value(int_value=python)
        case float(): return values.Value(double_value=python)
        case decimal.Decimal(): return values.Value(decimal_value=str(python))
        case str(): return values.Value(string_value=python)
        case datetime.datetime(): return values.Value(date_value=(python - EPOCH).total_seconds())
        case uuid.UUID(): return values.Value(uuid_value=python.bytes)
        case bytes(): return values.Value(data_value=python)
        case list(): return values.Value(objects_value=values.Identifiers(items=python))
        case _: return values.Value(object_value=python)


def argument(python: Any) -> values.Argument:
    """A query argument: a tuple is a list of values, anything else is one value."""
    if isinstance(python, tuple):
        return values.Argument(list=values.ValueList(items=[value(item) for item in python]))
    return values.Argument(value=value(python))


# Rows


def identifiers(named: Any, keys: Sequence[int], store: bytes) -> list[values.Identifier]:
    """The identifiers for the keys of an identity or of a column of objects."""
    entities = [named.entity, *named.subentities]
    indexes = named.entity_indexes or [0] * len(keys)
    return [values.Identifier(store=store, entity=entities[index], key=key)
            for key, index in zip(keys, indexes, strict=True)]


def parts(whole: Sequence[Any], ends: Sequence[int]) -> list[Any]:
    """A heap or list, divided at the ends of its rows."""
    starts = [0, *ends][: len(ends)]
    if any(start > end for start, end in zip(starts, ends)) or ends and ends[-1] > len(whole):
        raise ValueError("the ends are not in order, or beyond the heap")
    return [whole[start:end] for start, end in zip(starts, ends)]


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "BOOL": bool,
    "DATE": lambda seconds: EPOCH + datetime.timedelta(seconds=seconds),
    "DECIMAL": lambda part: decimal.Decimal(part.decode()),
    "UUID": lambda part: uuid.UUID(bytes=part),
    "STRING": bytes.decode, "URL": bytes.decode, "JSON": bytes.decode,
}


def column_values(column: batches.Column, row_count: int, store: bytes) -> list[Any]:
    """The values of a column, one per row; None for nil."""
    kind = batches.ColumnType.Name(column.type).removeprefix("COLUMN_TYPE_")
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
    convert = CONVERSIONS.get(kind, lambda item: item)
    nils = column.nulls.ljust((row_count + 7) // 8, b"\0")
    return [None if nils[row // 8] >> row % 8 & 1 else convert(item)
            for row, item in enumerate(items)]


def rows(batch: batches.Batch, store: bytes) -> list[dict[str, Any]]:
    """The rows of a batch as dictionaries; objects also have "@id" and "@version"."""
    try:
        found = {c.name: column_values(c, batch.row_count, store) for c in batch.columns}
        if batch.HasField("identity"):
            found["@id"] = identifiers(batch.identity, batch.identity.keys, store)
            found["@version"] = list(batch.identity.versions)
        if any(len(items) != batch.row_count for items in found.values()) or not found:
            raise ValueError("the batch has another number of rows than its columns")
        return [dict(zip(found, row)) for row in zip(*found.values())]
    except (ArithmeticError, IndexError, ValueError):
        raise LarderError(
            errors.ERROR_CODE_MALFORMED_MESSAGE,
            "the server sent columns that contradict each other") from None


def column(name: str, kind: str, items: Sequence[Any]) -> batches.Column:
    """A column of text or integers, with one item per row; None for nil."""
    made = batches.Column(name=name, type=batches.ColumnType.Value(f"COLUMN_TYPE_{kind}"))
    nulls = bytearray((len(items) + 7) // 8)
    parts = []
    for row, item in enumerate(items):
        if item is None:
            nulls[row // 8] |= 1 << row % 8
        parts.append((item or "").encode() if kind == "STRING" else item or 0)
    if kind == "STRING":
        made.heap = b"".join(parts)
        made.ends.extend(itertools.accumulate(map(len, parts)))
    else:
        made.integers.extend(parts)
    made.nulls = bytes(nulls)
    return made


# Requests


def where(format: str | None) -> queries.Term | None:
    return queries.Term(format=format) if format else None


def fetch(
        entity: str, format: str | None = None, sort: Iterable[str] = (),
        columns: dict[str, str] | None = None) -> queries.Query:
    """A query for objects that match, or for columns of them: names and expressions."""
    return queries.Query(fetch=queries.FetchQuery(
        entity=entity, predicate=where(format),
        sort=[queries.SortKey(term=where(text)) for text in sort],
        selection=queries.SELECTION_COLUMNS if columns else queries.SELECTION_OBJECTS,
        columns=[queries.NamedTerm(name=n, term=where(t)) for n, t in (columns or {}).items()]))


def query_request(
        shape: queries.Query, arguments: Iterable[Any] = (), *, credit: int = CREDIT,
        limit: int | None = None, variables: dict[str, Any] | None = None) -> larder.QueryRequest:
    """The shape is encoded in one way, because the server caches its plan by these bytes."""
    return larder.QueryRequest(
        shape=shape.SerializeToString(deterministic=True), limit=limit, credit=credit,
        arguments=[argument(given) for given in arguments],
        variables=[values.NamedArgument(name=name, argument=argument(given))
                   for name, given in sorted((variables or {}).items())])


def new(entity: str, name: str) -> values.Identifier:
    """The temporary identifier of an object that a change set inserts."""
    return values.Identifier(entity=entity, temporary_name=name)


def change(
        kind: str, target: values.Identifier, properties: dict[str, Any] | None = None,
        **options: Any) -> changes.Change:
    """An INSERT, UPDATE or DELETE of one object."""
    listed = [changes.PropertyValue(name=n, value=value(v)) for n, v in (properties or {}).items()]
    return changes.Change(
        kind=changes.ChangeKind.Value(f"CHANGE_KIND_{kind}"), object=target, values=listed,
        **options)


def change_all(
        kind: str, entity: str, format: str | None = None, arguments: Iterable[Any] = (),
        properties: dict[str, str] | None = None, **options: Any) -> changes.Change:
    """A change of objects that match, such as UPDATE_ALL; properties are expressions."""
    listed = [
        queries.NamedTerm(name=n, term=where(text)) for n, text in (properties or {}).items()]
    objects = changes.ObjectsChange(
        entity=entity, predicate=where(format), assignments=listed,
        arguments=[argument(given) for given in arguments], **options)
    return changes.Change(
        kind=changes.ChangeKind.Value(f"CHANGE_KIND_{kind}"), by_predicate=objects)


def edit(kind: str, name: str, objects: list[Any], **position: Any) -> changes.RelationshipEdit:
    """An edit of a to-many relationship, at end="FIRST", before=…, after=… or index=…."""
    if "end" in position:
        position["end"] = changes.ListEnd.Value(f"LIST_END_{position['end']}")
    return changes.RelationshipEdit(
        kind=changes.RelationshipEditKind.Value(f"RELATIONSHIP_EDIT_KIND_{kind}"), name=name,
        objects=objects, **position)


def condition(
        count: int, entity: str, format: str | None = None, arguments: Iterable[Any] = (),
        **options: Any) -> changes.Condition:
    """The condition that this number of objects match."""
    objects = changes.ObjectsChange(
        entity=entity, predicate=where(format),
        arguments=[argument(given) for given in arguments], **options)
    return changes.Condition(objects=objects, count=count)


def change_set(
        *listed: changes.Change, conditions: Iterable[changes.Condition] = (),
        idempotency_key: str = "", author: str = "") -> changes.ChangeSet:
    return changes.ChangeSet(
        changes=listed, conditions=conditions, idempotency_key=idempotency_key, author=author)


# The history


def complete(
        part: histories.HistoryTransaction | None, reply: histories.HistoryReply
) -> tuple[list[histories.HistoryTransaction], histories.HistoryTransaction | None]:
    """The complete transactions of a reply, and the part of one that the next reply continues.
    The first argument is that part of the reply before."""
    transactions = list(reply.transactions)
    if part is not None and transactions:
        part.MergeFrom(transactions[0])
        transactions[0] = part
    return transactions, transactions.pop() if reply.partial and transactions else None
