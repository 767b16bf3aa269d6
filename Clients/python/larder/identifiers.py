"""The identifiers of objects, which are values: they can be compared, hashed and passed to other
processes as URIs."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from .errors import failure
from .v1 import value_pb2

KEY_MAX = 2**63 - 1
URI = re.compile(
    r"x-coredata://([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
    r"/([A-Za-z][A-Za-z0-9_]*)/p([1-9][0-9]{0,18})")
HINT = "an identifier looks like x-coredata://<UUID>/<Entity>/p<number>"


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """The identifier of an object of a store. It is never used again for another object."""

    store: uuid.UUID
    #: The object's own entity, not one that it inherits from.
    entity: str
    #: A number from 1.
    key: int

    @property
    def uri(self) -> str:
        """The identifier as a URI."""
        return f"x-coredata://{str(self.store).upper()}/{self.entity}/p{self.key}"

    def __str__(self) -> str:
        return self.uri

    @classmethod
    def parse(cls, uri: str) -> Identifier:
        """The identifier of a URI; MalformedIdentifierError, a ValueError, for another text."""
        match = URI.fullmatch(uri) if isinstance(uri, str) else None
        if match is None or int(match[3]) > KEY_MAX:
            raise failure("MALFORMED_IDENTIFIER", "the identifier is malformed", hint=HINT)
        return cls(uuid.UUID(match[1]), match[2], int(match[3]))

    def message(self) -> value_pb2.Identifier:
        """The identifier in the protocol."""
        return value_pb2.Identifier(store=self.store.bytes, entity=self.entity, key=self.key)


@dataclass(frozen=True, slots=True)
class TemporaryIdentifier:
    """The identifier of an object that a change set inserts, for the other changes of the set."""

    entity: str
    name: str

    def message(self) -> value_pb2.Identifier:
        """The identifier in the protocol."""
        return value_pb2.Identifier(entity=self.entity, temporary_name=self.name)


Reference = Identifier | TemporaryIdentifier


def identifier_of_message(message: value_pb2.Identifier) -> Identifier:
    """The identifier of an object in a reply."""
    if len(message.store) != 16 or not message.entity or message.key < 1:
        raise failure("MALFORMED_MESSAGE", "the server sent a malformed identifier")
    return Identifier(uuid.UUID(bytes=message.store), message.entity, message.key)
