"""Values of Python as values of the protocol, and back."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from .errors import LarderError, failure
from .identifiers import Identifier, TemporaryIdentifier, identifier_of_message
from .v1 import value_pb2

EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
INTEGERS = range(-(2**63), 2**63)
DECIMAL_DIGITS_MAX = 38

#: The type of a JSON document in a dataclass: dictionaries, lists, strings, numbers, bool, None.
JSON = Annotated[Any, "a JSON document"]


class Url(str):
    """The value of a URL attribute: percent-encoded text, which has to be marked as a URL."""

    __slots__ = ()


@dataclass(frozen=True)
class Json:
    """A JSON document to store, where Python's value alone could be of another type: a string, a
    number, None, or an empty list. Dictionaries, and lists of anything but identifiers, are
    documents without it."""

    document: Any

    def text(self) -> str:
        """The document as text."""
        try:
            return json.dumps(
                self.document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise malformed(f"the value is not a JSON document: {error}") from None


def malformed(message: str, hint: str = "") -> LarderError:
    """The error for a value that no attribute can have."""
    return failure("MALFORMED_VALUE", message, hint=hint)


def wrong_type(message: str, hint: str = "") -> LarderError:
    """The error for a value of a type that does not fit."""
    return failure("WRONG_TYPE", message, hint=hint)


# From Python


def seconds_of(moment: datetime.datetime) -> float:
    """The seconds since 2001 in UTC; a time without a zone is an error."""
    if moment.tzinfo is None:
        raise malformed(
            f"the datetime {moment} has no time zone", hint="give it one, such as datetime.UTC")
    return (moment - EPOCH).total_seconds()


def decimal_text(number: decimal.Decimal) -> str:
    """The digits of a decimal number."""
    if not number.is_finite():
        raise malformed(f"{number} is not a decimal number of a store")
    if len(number.normalize(CONTEXT).as_tuple().digits) > DECIMAL_DIGITS_MAX:
        raise malformed(f"a decimal number has at most {DECIMAL_DIGITS_MAX} significant digits")
    return str(number).lower()


# Never rounds; its digits are limited by the length of the number itself.
CONTEXT = decimal.Context(
    prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def value(python: Any) -> value_pb2.Value:
    """A value of a property or an argument. Identifiers, and lists of them, are objects."""
    Value = value_pb2.Value
    try:
        match python:
            case None: return Value(null_value=True)
            case bool(): return Value(bool_value=python)
            case int(): return Value(int_value=integer(python))
            case float(): return Value(double_value=python)
            case decimal.Decimal(): return Value(decimal_value=decimal_text(python))
            case Url(): return Value(url_value=str(python))
            case str(): return Value(string_value=python)
            case datetime.datetime(): return Value(date_value=seconds_of(python))
            case uuid.UUID(): return Value(uuid_value=python.bytes)
            case bytes() | bytearray() | memoryview(): return Value(data_value=bytes(python))
            case Json(): return Value(json_value=python.text())
            case Mapping(): return Value(json_value=Json(dict(python)).text())
            case Identifier() | TemporaryIdentifier():
                return Value(object_value=python.message())
            case list() | tuple(): return listed(list(python))
    except UnicodeEncodeError:
        raise malformed("the text has characters that are not of Unicode") from None
    raise wrong_type(f"{type(python).__name__} is not a type of values")


def integer(number: int) -> int:
    """The number, which has to fit 64 bits."""
    if number not in INTEGERS:
        raise malformed(f"{number:.3e} does not fit 64 bits" if abs(number) < 10**300
                        else "an integer does not fit 64 bits")
    return number


def listed(items: list[Any]) -> value_pb2.Value:
    """A list of identifiers as objects, another list as a JSON document."""
    if all(isinstance(item, Identifier | TemporaryIdentifier) for item in items):
        return value_pb2.Value(
            objects_value=value_pb2.Identifiers(items=[item.message() for item in items]))
    return value_pb2.Value(json_value=Json(items).text())


def argument(python: Any) -> value_pb2.Argument:
    """A query argument: a list, tuple or set is a list of values, for IN and BETWEEN."""
    if isinstance(python, list | tuple | set | frozenset | range):
        return value_pb2.Argument(
            list=value_pb2.ValueList(items=[value(item) for item in python]))
    return value_pb2.Argument(value=value(python))


def arguments(given: Iterable[Any]) -> list[value_pb2.Argument]:
    """The values of `%@` and `%K`."""
    if isinstance(given, str | bytes):
        raise wrong_type("the arguments are a list", hint=f"write [{given!r}]")
    return [argument(each) for each in given]


def variables(given: Mapping[str, Any] | None) -> list[value_pb2.NamedArgument]:
    """The values of `$name`, in the order of their names."""
    return [value_pb2.NamedArgument(name=name, argument=argument(each))
            for name, each in sorted((given or {}).items())]


# To Python


def datetime_of(seconds: float) -> datetime.datetime:
    """The time in UTC, rounded to microseconds."""
    try:
        return EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise malformed(
            f"the date {seconds:g} seconds after 2001 is outside of the years 1 to 9999",
            hint="select the other columns") from None


def json_of(text: str) -> Any:
    """The document in a text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the document is nested too deeply") from None


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "null_value": lambda _: None,
    "decimal_value": decimal.Decimal,
    "date_value": datetime_of,
    "uuid_value": lambda content: uuid.UUID(bytes=content),
    "url_value": Url,
    "json_value": json_of,
    "object_value": identifier_of_message,
    "objects_value": lambda objects: [identifier_of_message(each) for each in objects.items],
}


def python_value(message: value_pb2.Value) -> Any:
    """The value of a message in a reply."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise failure("MALFORMED_MESSAGE", "the server sent a value of an unknown kind")
    content = getattr(message, kind)
    try:
        return CONVERSIONS[kind](content) if kind in CONVERSIONS else content
    except (ArithmeticError, ValueError):
        raise failure("MALFORMED_MESSAGE", "the server sent a malformed value") from None
