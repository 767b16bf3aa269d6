"""Frames of the protocol: a length, and an envelope. The module does no I/O."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError

from .errors import failure, violation
from .v1 import larder_pb2

LENGTH_BYTES = 4
#: The longest frame of either side before the end of the handshake.
HANDSHAKE_BYTES_MAX = 64 << 10
#: The longest frame of the server after it.
REPLY_BYTES_MAX = 16 << 20
MILLISECONDS_MAX = 2**32 - 1

#: The field of the reply to each request.
REPLIES = {
    "hello": "welcome", "get": "batches", "query": "batches", "explain": "explained",
    "save": "saved", "schema": "schema_text", "statistics": "statistics_list", "ping": "pong",
    "check": "checked", "insert_rows": "inserted", "history": "transactions",
    "delete_history": "history_deleted", "activity": "activity_report",
    "open_snapshot": "snapshot_opened", "observe": "observed", "backup": "backup_part",
    "migrate": "migrated", "save_in_parts": "saved"}


def envelope(request_id: int, kind: str, body: Any, seconds: float = 0) -> larder_pb2.Envelope:
    """A request; 0 seconds leave its time to the server."""
    milliseconds = min(MILLISECONDS_MAX, max(1, int(seconds * 1_000))) if seconds else 0
    fields = {kind: body}
    return larder_pb2.Envelope(
        id=request_id, timeout_milliseconds=milliseconds, trace=_trace.get(), **fields)


_trace: contextvars.ContextVar[str] = contextvars.ContextVar("larder.trace", default="")


@contextlib.contextmanager
def trace(id: str) -> Iterator[None]:
    """Gives the requests within a `with` an id for the server's log and `larder top`, such as a
    W3C traceparent: at most 128 printable ASCII characters without spaces. The server refuses any
    other with MALFORMED_VALUE."""
    token = _trace.set(id)
    try:
        yield
    finally:
        _trace.reset(token)


def encoded_frame(request: larder_pb2.Envelope, bytes_max: int) -> bytes:
    """The bytes of a request, which the server accepts up to a length."""
    content = request.SerializeToString()
    if len(content) > bytes_max:
        raise failure(
            "FRAME_TOO_LONG",
            f"the request has {len(content)} bytes; at most {bytes_max} are allowed",
            hint="divide it")
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def frame_length(header: bytes, bytes_max: int) -> int:
    """The length of a frame, checked before memory is allocated for its content."""
    length = int.from_bytes(header, "big")
    if length > bytes_max:
        raise failure(
            "FRAME_TOO_LONG",
            f"the server sent a frame of {length} bytes; at most {bytes_max} are allowed")
    return length


def decoded_frame(content: bytes) -> larder_pb2.Envelope:
    """The envelope in the content of a frame."""
    try:
        reply = larder_pb2.Envelope.FromString(content)
    except DecodeError:
        raise failure(
            "MALFORMED_FRAME", "the server sent a frame that is not an envelope") from None
    if reply.WhichOneof("body") is None:
        raise failure(
            "UNKNOWN_MESSAGE", "the server sent a message that is not a known reply")
    return reply


def reply_body(reply: larder_pb2.Envelope, request_kind: str) -> Any:
    """The body of a reply to a request of this kind, or `failed`."""
    found = reply.WhichOneof("body")
    if found not in ("failed", REPLIES[request_kind]):
        raise violation("the server replied with another message")
    return getattr(reply, found)
