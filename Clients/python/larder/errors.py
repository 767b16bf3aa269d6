"""The errors of all calls: LarderError, with one subclass per hundreds digit of the numbers in
docs/protocol.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .v1 import error_pb2, larder_pb2

NAME_PREFIX = "ERROR_CODE_"
CODES: dict[str, int] = {
    name.removeprefix(NAME_PREFIX): number for name, number in error_pb2.ErrorCode.items()}
NAMES = {number: name for name, number in CODES.items()}


@dataclass(frozen=True)
class ConflictingProperty:
    """A property of a version conflict. A value that the server left out is None."""

    name: str
    #: The value as the change's caller read it.
    base: Any
    #: The value in the store.
    stored: Any
    #: The value that the change sets.
    given: Any


@dataclass(frozen=True)
class Problem:
    """One violation of a change set, or one problem of a request."""

    code: int
    name: str
    message: str
    #: The index of the change in the set, or of the row in a stream; None for the whole set.
    change: int | None = None
    #: The index of the condition in the set.
    condition: int | None = None
    #: The number of objects that a condition found.
    found: int | None = None
    entity: str = ""
    properties: tuple[str, ...] = ()
    uri: str = ""
    #: The violated rule, such as `minLength` or `unique`.
    rule: str = ""
    #: The object's version in the store, of a version conflict; 0 once it is deleted.
    stored_version: int | None = None
    conflicts: tuple[ConflictingProperty, ...] = field(default=())


class LarderError(Exception):
    """An error with a stable number: the server's, or one of the client about its connection.

    `code` is the number, `name` its name such as `UNKNOWN_PROPERTY`, `message` one sentence about
    the error, `hint` one about the remedy or empty, `column` the position of an error in a
    predicate, from 1, or 0, `uri` that of the object concerned or empty, and `problems` has all
    problems of a save, or is empty.
    """

    def __init__(
            self, code: int, message: str, *, hint: str = "", column: int = 0, uri: str = "",
            problems: Sequence[Problem] = ()) -> None:
        super().__init__(code, message)
        self.code, self.name, self.message = code, name_of(code), message
        self.hint, self.column, self.uri = hint, column, uri
        self.problems = tuple(problems)
        if hint:
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


class ProtocolError(LarderError):
    """100 to 199: the client or the server violated the protocol."""


class NotFoundError(LarderError):
    """200 to 299: an identifier, a token or a name refers to nothing in this store."""


class MalformedIdentifierError(NotFoundError, ValueError):
    """200: a text is not the URI of an object."""


class InvalidError(LarderError):
    """300 to 399: the data or the query is invalid."""


class ConflictError(LarderError):
    """400 to 499: another client changed the objects first; read them again."""


class RefusedError(LarderError):
    """500 to 599: a limit or a permission forbids the request."""


class TemporaryError(LarderError):
    """600 to 699: the same request may succeed later."""


class ConnectionFailedError(LarderError):
    """700 to 799: there is no connection, or it was lost."""


class IndeterminateError(ConnectionFailedError):
    """701: the reply to a write was lost, so that it may or may not have been executed."""


class StorageError(LarderError):
    """800 to 899: the storage of the server failed."""


KINDS: dict[int, type[LarderError]] = {
    1: ProtocolError, 2: NotFoundError, 3: InvalidError, 4: ConflictError, 5: RefusedError,
    6: TemporaryError, 7: ConnectionFailedError, 8: StorageError}
EXACT: dict[int, type[LarderError]] = {
    CODES["MALFORMED_IDENTIFIER"]: MalformedIdentifierError,
    CODES["INDETERMINATE"]: IndeterminateError}


def name_of(code: int) -> str:
    """The name of a number; of an unknown one its digits."""
    return NAMES.get(code, str(code))


def error_of_code(code: int, message: str, **details: Any) -> LarderError:
    """The error of the class for a number."""
    return EXACT.get(code, KINDS.get(code // 100, LarderError))(code, message, **details)


def failure(name: str, message: str, **details: Any) -> LarderError:
    """The error with the name of a number."""
    return error_of_code(CODES[name], message, **details)


def violation(message: str) -> LarderError:
    """The error of a server that violates the protocol."""
    return failure("MALFORMED_MESSAGE", message)


def error_of_reply(reply: larder_pb2.ErrorReply) -> LarderError:
    """The error of the reply `failed`."""
    problems = [problem_of_message(each) for each in reply.details]
    if not problems:
        problems = [Problem(reply.code, name_of(reply.code), text) for text in reply.problems]
    return error_of_code(
        reply.code, reply.message, hint=reply.hint, column=reply.column, uri=reply.uri,
        problems=problems)


def problem_of_message(detail: larder_pb2.ChangeViolation) -> Problem:
    from .values import python_value

    def given(part: Any, name: str) -> Any:
        return python_value(getattr(part, name)) if part.HasField(name) else None

    def number(name: str) -> int | None:
        return int(getattr(detail, name)) if detail.HasField(name) else None

    conflict = detail.conflict if detail.HasField("conflict") else None
    return Problem(
        detail.code, name_of(detail.code), detail.message, change=number("change"),
        condition=number("condition"), found=number("found"), entity=detail.entity,
        properties=tuple(detail.properties), uri=detail.uri, rule=detail.rule,
        stored_version=conflict.stored_version if conflict else None,
        conflicts=tuple(
            ConflictingProperty(
                part.name, given(part, "base_value"), given(part, "stored"), given(part, "given"))
            for part in (conflict.properties if conflict else ())))
