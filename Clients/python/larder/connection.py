"""One connection of the blocking client. A thread reads the socket and passes each reply to the
request with its id, so that any number of threads can send requests and read streams on it."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import threading
import time
from collections.abc import Generator
from typing import Any

from .attempts import Lost, NoReply
from .errors import LarderError, error_of_reply, failure
from .frames import (
    HANDSHAKE_BYTES_MAX, LENGTH_BYTES, REPLY_BYTES_MAX, decoded_frame, encoded_frame, envelope,
    frame_length, reply_body)
from .queries import CREDIT
from .server import Options, server_of_welcome
from .stream_state import SLACK_SECONDS
from .tracker import Pending, RequestTracker, connection_failed
from .v1 import larder_pb2

#: The bytes of one read from the socket.
RECEIVE_BYTES = 64 << 10
CLOSED = "the server closed the connection"


def socket_error(path: str, error: Exception) -> LarderError:
    """The error of a socket that cannot be connected."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    message = f"cannot connect to {path}: {reason}"
    if isinstance(error, PermissionError):
        return failure("PERMISSION_DENIED", message)
    return connection_failed(message)


class FrameSocket:
    """A socket that sends and receives frames. One thread may send while another receives."""

    def __init__(self, path: str, deadline: float) -> None:
        self._buffer = bytearray()
        self.request_bytes_max = self.reply_bytes_max = HANDSHAKE_BYTES_MAX
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            self._socket.connect(path)
            self._socket.setblocking(False)
        except (OSError, ValueError) as error:
            self._socket.close()
            raise socket_error(path, error) from None

    def send(self, frame: bytes, deadline: float) -> None:
        """Sends a whole frame; after an error a part of it may have been sent."""
        rest = memoryview(frame)
        while rest:
            try:
                rest = rest[self._socket.send(rest):]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)

    def receive(self, deadline: float | None) -> larder_pb2.Envelope:
        """The next frame, without a limit of the time if the deadline is None."""
        length = frame_length(self._take(LENGTH_BYTES, deadline), self.reply_bytes_max)
        return decoded_frame(self._take(length, deadline))

    def _take(self, count: int, deadline: float | None) -> bytes:
        while len(self._buffer) < count:
            try:
                received = self._socket.recv(RECEIVE_BYTES)
            except BlockingIOError:
                self._wait(select.POLLIN, deadline)
                continue
            if not received:
                raise connection_failed(CLOSED)
            self._buffer += received
        content = bytes(self._buffer[:count])
        del self._buffer[:count]
        return content

    def _wait(self, events: int, deadline: float | None) -> None:
        poll = select.poll()
        poll.register(self._socket, events)
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not poll.poll(None if left is None else left * 1_000):
            raise connection_failed("the server does not read or write in time")

    def shut_down(self) -> None:
        """Wakes both threads, for which the connection has ended."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Releases the descriptor, when no thread uses it."""
        self._socket.close()


class Connection:
    """A connection after its handshake, for any number of threads."""

    def __init__(self, options: Options, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        self._frames = FrameSocket(options.path, deadline)
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._tracker, self._process = RequestTracker(), os.getpid()
        #: The ids of requests that a finalizer has dropped; the next request cancels them.
        self._dropped: queue.SimpleQueue[int] = queue.SimpleQueue()
        try:
            hello = envelope(self._tracker.new_id(), "hello", options.hello(), seconds)
            self._frames.send(encoded_frame(hello, HANDSHAKE_BYTES_MAX), deadline)
            reply = self._frames.receive(deadline)
            welcome = reply_body(reply, "hello")
            if reply.HasField("failed"):
                raise error_of_reply(reply.failed)
            self.server = server_of_welcome(welcome)
        except OSError as error:
            self._frames.close()
            raise socket_error(options.path, error) from None
        except BaseException:
            self._frames.close()
            raise
        self._frames.request_bytes_max = self.server.request_bytes_max
        self._frames.reply_bytes_max = REPLY_BYTES_MAX
        # Beyond this number the server would not read `credit` and `cancel` either.
        self._slots = threading.Semaphore(max(1, self.server.requests_in_flight_max - 1))
        threading.Thread(target=self._read, name="larder reader", daemon=True).start()

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent. A forked process needs a connection of its own."""
        return self._tracker.error is None and self._process == os.getpid()

    @property
    def error(self) -> LarderError:
        """Why the connection has ended."""
        return self._tracker.error or connection_failed("the connection was closed")

    def fail(self, error: LarderError) -> None:
        """Ends the connection; requests without a reply fail with the error."""
        with self._lock:
            self._tracker.lost(error)
        self._frames.shut_down()

    def _read(self) -> None:
        """Passes replies to their requests until the connection ends."""
        try:
            while True:
                reply = self._frames.receive(None)
                with self._lock:
                    self._tracker.received(reply)
        except LarderError as error:
            self.fail(error)
        except OSError:
            self.fail(connection_failed(CLOSED))
        except Exception as error:
            self.fail(connection_failed(f"{type(error).__name__}: {error}"))
        with self._sending:
            self._frames.close()

    def request(
            self, kind: str, body: Any, seconds: float, *, limit: float = 0,
            unread_max: int = 1, is_endless: bool = False) -> Request:
        """Sends a request, for which the server has `limit` seconds; 0 leaves that to the server.
        `seconds` limit the time to send it."""
        deadline = time.monotonic() + seconds
        # Their slots are free when the server has ended them.
        with contextlib.suppress(queue.Empty):
            while True:
                self._cancel(self._dropped.get_nowait())
        if not is_endless and not self._slots.acquire(timeout=max(0.0, seconds)):
            raise failure("TIMEOUT", "too many requests of this client have no reply yet",
                          hint="close streams that are not read to their end")
        made = Request(self, kind, unread_max, (lambda: None) if is_endless else
                       self._slots.release)
        try:
            with self._lock:
                self._tracker.add(made.pending)
            self._send(envelope(made.pending.request_id, kind, body, limit), deadline)
        except BaseException:
            with self._lock:
                self._tracker.not_sent(made.pending)
            raise
        return made

    def send(self, kind: str, body: Any, seconds: float = SLACK_SECONDS) -> None:
        """Sends a message that has no reply of its own."""
        with self._lock:
            request_id = self._tracker.new_id()
        self._send(envelope(request_id, kind, body), time.monotonic() + seconds)

    def _send(self, request: larder_pb2.Envelope, deadline: float) -> None:
        frame = encoded_frame(request, self._frames.request_bytes_max)
        if not self._sending.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise Lost(connection_failed("the server does not read in time"), was_sent=False)
        try:
            if not self.is_open:
                raise Lost(self.error, was_sent=False)
            self._frames.send(frame, deadline)
        except (LarderError, OSError) as error:
            # Perhaps a part of the frame was sent.
            self.fail(error if isinstance(error, LarderError) else connection_failed(CLOSED))
            raise Lost(self.error, was_sent=False) from None
        except Lost:
            raise
        except BaseException:
            self.fail(connection_failed("a request was interrupted while it was sent"))
            raise
        finally:
            self._sending.release()

    def abandon(self, pending: Pending) -> None:
        """Cancels a request, whose further replies are discarded."""
        with self._lock:
            must_cancel = self._tracker.abandon(pending)
        if must_cancel:
            with contextlib.suppress(Lost, LarderError):
                self._cancel(pending.request_id)

    def _cancel(self, request_id: int) -> None:
        self.send("cancel", larder_pb2.CancelRequest(request_id=request_id))

    def drop(self, pending: Pending) -> None:
        """Abandons a request without a lock, because a finalizer may run in a thread that has it.
        The server stops without credit, and learns of it with the next request."""
        pending.is_abandoned = True
        self._dropped.put(pending.request_id)

    def shut_down(self) -> None:
        """Ends the connection without a lock; the thread that reads does the rest."""
        self._frames.shut_down()

    def replies(
            self, kind: str, body: Any, seconds: float) -> Generator[Any, None, None]:
        """The replies to a request with credit, within a time for all of them."""
        deadline = time.monotonic() + seconds
        with self.request(kind, body, seconds, limit=seconds, unread_max=CREDIT + 1) as request:
            while True:
                reply = request.reply(deadline - time.monotonic() + SLACK_SECONDS)
                yield reply
                if not reply.more:
                    return
                request.add_credit()


class Request:
    """A request that was sent, and its replies. Leaving its context cancels it."""

    def __init__(self, connection: Connection, kind: str, unread_max: int, ended: Any) -> None:
        self._connection = connection
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.pending = Pending(kind, unread_max, self._replies.qsize, self._replies.put, ended)

    def __enter__(self) -> Request:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def request_id(self) -> int:
        return self.pending.request_id

    def reply(self, seconds: float | None, *, ends_connection: bool = True) -> Any:
        """The body of the next reply; raises the error of `failed`, Lost or NoReply. A server that
        does not reply in its own time hangs, so that the connection ends."""
        try:
            item = self._replies.get(timeout=None if seconds is None else max(0.0, seconds))
        except queue.Empty:
            if ends_connection:
                self._connection.fail(connection_failed("the server did not reply in time"))
            raise NoReply(seconds or 0) from None
        if item is None:
            self._replies.put(None)
            raise Lost(self._connection.error, was_sent=True)
        if isinstance(item, LarderError):
            self._replies.put(None)
            raise item
        return item

    def add_credit(self) -> None:
        """Allows the server another reply."""
        self._connection.send(
            "credit", larder_pb2.CreditRequest(request_id=self.request_id, batches=1))

    def send(self, kind: str, part: Any, seconds: float) -> None:
        """Sends a part of an insert stream or a save."""
        self._connection.send(kind, part, seconds)

    def drop(self) -> None:
        """Ends the request in a finalizer, when nothing waits for a reply."""
        self._connection.drop(self.pending)

    def close(self) -> None:
        """Ends the request, also for a thread that waits for a reply."""
        self._connection.abandon(self.pending)
        self._replies.put(None)
