"""Messages of the protocol for tests, which are built of Python's values with the codec of the
package `larder`. Objects are identified by messages here, as the protocol does."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import proto  # Generates the messages, and makes the package importable.
from larder import Identifier
from larder import rows as larder_rows
from larder import values as larder_values
from larder.errors import LarderError, error_of_reply, failure
from larder.v1 import batch_pb2 as batches
from larder.v1 import change_pb2 as changes
from larder.v1 import error_pb2 as errors
from larder.v1 import expression_pb2 as expressions
from larder.v1 import history_pb2 as histories
from larder.v1 import larder_pb2 as larder
from larder.v1 import query_pb2 as queries
from larder.v1 import value_pb2 as values
from larder.values import EPOCH

# The replies of a stream that may be on their way.
CREDIT = 4

__all__ = [
    "CREDIT", "EPOCH", "LarderError", "argument", "batches", "change", "change_all", "change_set",
    "changes", "column", "complete", "condition", "edit", "error_of_reply", "errors",
    "expressions", "failure", "fetch", "histories", "identifier", "larder", "new", "queries",
    "query_request", "rows", "uri", "value", "values", "where"]


# Values


def identifier(text: str) -> values.Identifier:
    """The identifier in a URI."""
    return Identifier.parse(text).message()


def uri(found: values.Identifier) -> str:
    return Identifier(uuid.UUID(bytes=found.store), found.entity, found.key).uri


def value(python: Any) -> values.Value:
    """A Python value as a Value; identifiers and lists of identifiers are objects."""
    if isinstance(python, values.Identifier):
        return values.Value(object_value=python)
    if isinstance(python, list):
        return values.Value(objects_value=values.Identifiers(items=python))
    return larder_values.value(python)


def argument(python: Any) -> values.Argument:
    """A query argument: a tuple is a list of values, anything else is one value."""
    if isinstance(python, tuple):
        return values.Argument(list=values.ValueList(items=[value(item) for item in python]))
    return values.Argument(value=value(python))


# Rows


def raw(python: Any) -> Any:
    """The messages of identifiers, alone or in a list."""
    if isinstance(python, list):
        return [raw(item) for item in python]
    return python.message() if isinstance(python, Identifier) else python


def rows(batch: batches.Batch, store: bytes) -> list[dict[str, Any]]:
    """The rows of a batch as dictionaries; objects also have "@id" and "@version"."""
    found = larder_rows.rows(batch, uuid.UUID(bytes=store))
    return [{name: raw(each) for name, each in row.items()} for row in found]


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
