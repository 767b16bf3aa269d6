"""Frames of the protocol, built once and sent many times, and connections that send them."""

import math
import socket
import time
from typing import Any

from raw_client import (
    LarderError, argument, changes, error_of_reply, larder, queries, value, values, where)
from proto import messages

REPLY_SECONDS = 10.0
LEAST_WAIT_SECONDS = 0.05
HEADER_BYTES = 4

__all__ = [
    "Closed", "Connection", "HEADER_BYTES", "LarderError", "argument", "change_all", "changes",
    "field", "fetch", "frame", "framed", "get", "insert", "larder", "messages",
    "queries", "query", "save", "values", "where"]


class Closed(Exception):
    """The server closed the connection, or did not reply in time."""


def frame(kind: str, body: Any, timeout: float = 0, request_id: int = 1) -> bytes:
    """The frame of a request."""
    envelope = larder.Envelope(
        id=request_id, timeout_milliseconds=int(timeout * 1_000), **{kind: body})
    return framed(envelope.SerializeToString())


def framed(content: bytes) -> bytes:
    """Any content with its length."""
    return len(content).to_bytes(HEADER_BYTES, "big") + content


def varint(number: int) -> bytes:
    """A number as protobuf encodes it."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(encoded) + bytes([number])


def field(number: int, content: bytes) -> bytes:
    """A field with bytes, for messages that are too large to build as objects."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def query(shape: Any, arguments: tuple = (), **options: Any) -> Any:
    """A query request; variables is a dictionary."""
    named = [values.NamedArgument(name=name, argument=argument(given))
             for name, given in sorted(options.pop("variables", {}).items())]
    return larder.QueryRequest(
        shape=shape.SerializeToString(deterministic=True), variables=named,
        arguments=[argument(given) for given in arguments], **options)


def fetch(
        format: str | None = None, arguments: tuple = (), entity: str = "Item",
        **options: Any) -> Any:
    """A query for the objects that match."""
    shape = queries.Query(fetch=queries.FetchQuery(
        entity=entity, predicate=where(format), selection=queries.SELECTION_OBJECTS))
    return query(shape, arguments, **options)


def get(store: bytes, keys: list[int]) -> Any:
    return larder.GetRequest(
        identifiers=[values.Identifier(store=store, entity="Item", key=key) for key in keys])


def insert(entity: str, name: str = "t:new", **properties: Any) -> Any:
    """A change that inserts an object. Properties are Values or Python values."""
    listed = [
        changes.PropertyValue(name=each, value=given if isinstance(given, values.Value)
                              else value(given))
        for each, given in properties.items()]
    return changes.Change(
        kind=changes.CHANGE_KIND_INSERT, values=listed,
        object=values.Identifier(entity=entity, temporary_name=name))


def change_all(
    entity: str, assignments: dict[str, str], format: str | None = None, arguments: tuple = ()
) -> Any:
    """A change of all objects that match."""
    listed = [queries.NamedTerm(name=n, term=where(text)) for n, text in assignments.items()]
    return changes.Change(
        kind=changes.CHANGE_KIND_UPDATE_ALL, by_predicate=changes.ObjectsChange(
            entity=entity, predicate=where(format), assignments=listed,
            arguments=[argument(given) for given in arguments]))


def save(*listed: Any, **options: Any) -> Any:
    return changes.ChangeSet(changes=listed, **options)


class Connection:
    """A connection after its handshake."""

    def __init__(
        self, path: str, name: str, timeout: float = REPLY_SECONDS, deadline: float = math.inf
    ) -> None:
        """Waits for each reply for a time, but not beyond the deadline of the monotonic clock."""
        self._timeout, self._deadline = timeout, deadline
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(path)
            self.send(frame("hello", larder.Hello(protocol_version=1, client_name=name)))
            self.welcome = self.reply()
        except (OSError, LarderError, Closed):
            self.socket.close()
            raise

    def send(self, framed_request: bytes) -> None:
        self.socket.sendall(framed_request)

    def receive(self) -> bytes:
        """The content of the next frame."""
        length = int.from_bytes(self._read(HEADER_BYTES), "big")
        return self._read(length)

    def _read(self, count: int) -> bytes:
        content = bytearray(count)
        rest = memoryview(content)
        while rest:
            left = max(LEAST_WAIT_SECONDS, self._deadline - time.monotonic())
            self.socket.settimeout(min(self._timeout, left))
            try:
                received = self.socket.recv_into(rest)
            except TimeoutError:
                raise Closed("no reply in time") from None
            except OSError as error:
                raise Closed(f"the connection broke: {error}") from None
            if received == 0:
                place = "the middle of a frame" if len(rest) < count else "a frame's beginning"
                raise Closed(f"the server closed the connection at {place}")
            rest = rest[received:]
        return bytes(content)

    def envelope(self) -> Any:
        """The next frame's message, which may be `failed`."""
        return larder.Envelope.FromString(self.receive())

    def reply(self) -> Any:
        """The body of the next reply; raises the error of `failed`."""
        envelope = self.envelope()
        if envelope.HasField("failed"):
            raise error_of_reply(envelope.failed)
        return getattr(envelope, envelope.WhichOneof("body"))

    def replies(self) -> Any:
        """The last reply of a stream."""
        reply = self.reply()
        while getattr(reply, "more", False):
            reply = self.reply()
        return reply

    def call(self, framed_request: bytes) -> Any:
        self.send(framed_request)
        return self.replies()

    def call_once(self, framed_request: bytes) -> Any:
        """Sends a request and reads one reply, of this request or of another."""
        self.send(framed_request)
        return self.reply()

    def close(self) -> None:
        self.socket.close()
