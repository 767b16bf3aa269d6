"""Objects as dataclasses: subclasses of Record, as `larder schema show --output python` prints
them.

A field has the name of a property. A name that Python or this class reserves has an underscore at
its end, which is not part of the property's name: `class_` is the property `class`. The entity of a
class is its name, under the same rule.
"""

from __future__ import annotations

import dataclasses
import typing
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import LarderError, failure
from .identifiers import Identifier
from .rows import Row
from .values import JSON, Json

IDENTITY = ("identifier", "version")


@dataclass(kw_only=True)
class Record:
    """An object of an entity. Its identifier and version are those of the store; they are None
    before it is inserted."""

    identifier: Identifier | None = None
    version: int | None = None


SomeRecord = TypeVar("SomeRecord", bound=Record)


def without_underscore(name: str) -> str:
    """The schema's name of a class or field."""
    return name.removesuffix("_")


def entity_name(entity: str | type[Record]) -> str:
    """The name of an entity that is given as text or as a class."""
    if isinstance(entity, str):
        return entity
    if not (isinstance(entity, type) and issubclass(entity, Record)):
        raise failure("WRONG_TYPE", f"{entity!r} is neither the name of an entity nor a Record")
    return without_underscore(entity.__name__)


@dataclass(frozen=True)
class Property:
    """A field of a record class."""

    field: str
    name: str
    is_json: bool
    is_derived: bool


def properties(type_of_record: type[Record]) -> tuple[Property, ...]:
    """The fields of a class that are properties of its entity."""
    found = PROPERTIES.get(type_of_record)
    if found is None:
        found = PROPERTIES[type_of_record] = properties_of(type_of_record)
    return found


PROPERTIES: weakref.WeakKeyDictionary[type[Record], tuple[Property, ...]] = (
    weakref.WeakKeyDictionary())


def properties_of(type_of_record: type[Record]) -> tuple[Property, ...]:
    hints = typing.get_type_hints(type_of_record, include_extras=True)

    def is_json(hint: Any) -> bool:
        return hint == JSON or JSON in typing.get_args(hint)

    return tuple(
        Property(
            each.name, without_underscore(each.name), is_json(hints[each.name]),
            bool(each.metadata.get("derived")))
        for each in dataclasses.fields(type_of_record) if each.name not in IDENTITY)


def values_of_record(record: Record) -> dict[str, Any]:
    """The values to store; the store computes derived attributes itself."""
    found: dict[str, Any] = {}
    for each in properties(type(record)):
        if not each.is_derived:
            given = getattr(record, each.field)
            is_document = each.is_json and given is not None and not isinstance(given, Json)
            found[each.name] = Json(given) if is_document else given
    return found


def record_of_row(type_of_record: type[SomeRecord], row: Row) -> SomeRecord:
    """The object in a row that has all properties of its class."""
    try:
        values = {each.field: row[each.name] for each in properties(type_of_record)}
    except KeyError as error:
        raise failure(
            "MALFORMED_MESSAGE", f"the server sent a row without the property {error}") from None
    return type_of_record(identifier=row["@id"], version=row["@version"], **values)


def entity_and_values(
        entity: str | Record, values: Mapping[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    """The entity and the values of an insert, which are given by name or as a record."""
    if isinstance(entity, Record):
        return entity_name(type(entity)), {**values_of_record(entity), **(values or {})}
    return entity_name(entity), dict(values or {})


def identifier_of(target: Identifier | Record) -> Identifier:
    """The identifier of an object, which is given by itself or by its record."""
    if isinstance(target, Record):
        if target.identifier is None:
            raise not_inserted(target)
        return target.identifier
    if not isinstance(target, Identifier):
        raise failure(
            "WRONG_TYPE", f"{target!r} is not an identifier",
            hint="Identifier.parse makes one of a URI")
    return target


def not_inserted(record: Record) -> LarderError:
    return failure(
        "OBJECT_NOT_FOUND", f"the {type(record).__name__} has not been inserted, so it has no"
        " identifier")
