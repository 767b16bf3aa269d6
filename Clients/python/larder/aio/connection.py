"""One connection of the client for asyncio. A task reads the socket and passes each reply to the
request with its id."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import Any

from ..attempts import Lost, NoReply
from ..connection import CLOSED, socket_error
from ..errors import LarderError, error_of_reply, failure
from ..frames import (
    HANDSHAKE_BYTES_MAX, LENGTH_BYTES, REPLY_BYTES_MAX, decoded_frame, encoded_frame, envelope,
    frame_length, reply_body)
from ..queries import CREDIT
from ..server import Options, ServerDescription, server_of_welcome
from ..stream_state import SLACK_SECONDS
from ..tracker import Pending, RequestTracker, connection_failed
from ..v1 import larder_pb2


class Connection:
    """A connection after its handshake, for any number of tasks of one event loop."""

    def __init__(
            self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._tracker = RequestTracker()
        #: The ids of requests that a finalizer has dropped; the next request cancels them.
        self._dropped: deque[int] = deque()
        self._request_bytes_max = self._reply_bytes_max = HANDSHAKE_BYTES_MAX
        self.server: ServerDescription
        self._slots: asyncio.Semaphore
        self._reading: asyncio.Task[None]

    @classmethod
    async def open(cls, options: Options, seconds: float) -> Connection:
        """Connects and performs the handshake."""
        try:
            async with asyncio.timeout(seconds):
                made = cls(*await asyncio.open_unix_connection(options.path))
                try:
                    await made._shake_hands(options, seconds)
                except BaseException:
                    made._writer.close()
                    raise
        except TimeoutError:
            raise connection_failed(f"cannot connect to {options.path}: timed out") from None
        except (OSError, ValueError) as error:
            raise socket_error(options.path, error) from None
        return made

    async def _shake_hands(self, options: Options, seconds: float) -> None:
        hello = envelope(self._tracker.new_id(), "hello", options.hello(), seconds)
        self._writer.write(encoded_frame(hello, HANDSHAKE_BYTES_MAX))
        reply = await self._receive()
        welcome = reply_body(reply, "hello")
        if reply.HasField("failed"):
            raise error_of_reply(reply.failed)
        self.server = server_of_welcome(welcome)
        self._request_bytes_max = self.server.request_bytes_max
        self._reply_bytes_max = REPLY_BYTES_MAX
        # Beyond this number the server would not read `credit` and `cancel` either.
        self._slots = asyncio.Semaphore(max(1, self.server.requests_in_flight_max - 1))
        self._reading = asyncio.create_task(self._read(), name="larder reader")

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._tracker.error is None

    @property
    def error(self) -> LarderError:
        """Why the connection has ended."""
        return self._tracker.error or connection_failed("the connection was closed")

    def fail(self, error: LarderError) -> None:
        """Ends the connection; requests without a reply fail with the error."""
        self._tracker.lost(error)
        self._writer.close()

    async def close(self, error: LarderError) -> None:
        """Ends the connection, and waits for its task."""
        self.fail(error)
        self._reading.cancel()
        await asyncio.wait([self._reading])

    async def _receive(self) -> larder_pb2.Envelope:
        try:
            header = await self._reader.readexactly(LENGTH_BYTES)
            return decoded_frame(
                await self._reader.readexactly(frame_length(header, self._reply_bytes_max)))
        except asyncio.IncompleteReadError:
            raise connection_failed(CLOSED) from None

    async def _read(self) -> None:
        """Passes replies to their requests until the connection ends."""
        try:
            while True:
                self._tracker.received(await self._receive())
        except LarderError as error:
            self.fail(error)
        except OSError:
            self.fail(connection_failed(CLOSED))
        except Exception as error:
            self.fail(connection_failed(f"{type(error).__name__}: {error}"))

    async def request(
            self, kind: str, body: Any, seconds: float, *, limit: float = 0,
            unread_max: int = 1, is_endless: bool = False) -> Request:
        """Sends a request, for which the server has `limit` seconds; 0 leaves that to the server.
        `seconds` limit the time to send it."""
        # Their slots are free when the server has ended them.
        while self._dropped:
            self._write_cancel(self._dropped.popleft())
        try:
            async with asyncio.timeout(seconds):
                if not is_endless:
                    await self._slots.acquire()
        except TimeoutError:
            raise failure("TIMEOUT", "too many requests of this client have no reply yet",
                          hint="close streams that are not read to their end") from None
        made = Request(
            self, kind, unread_max, (lambda: None) if is_endless else self._slots.release)
        self._tracker.add(made.pending)
        try:
            await self._send(envelope(made.pending.request_id, kind, body, limit), seconds)
        except asyncio.CancelledError:
            # The transport may have sent it.
            self.abandon(made.pending)
            raise
        except BaseException:
            self._tracker.not_sent(made.pending)
            raise
        return made

    async def send(self, kind: str, body: Any, seconds: float = SLACK_SECONDS) -> None:
        """Sends a message that has no reply of its own."""
        await self._send(envelope(self._tracker.new_id(), kind, body), seconds)

    async def _send(self, request: larder_pb2.Envelope, seconds: float) -> None:
        frame = encoded_frame(request, self._request_bytes_max)
        if not self.is_open:
            raise Lost(self.error, was_sent=False)
        # The transport sends the frames in this order. It closes if it cannot send the first byte.
        self._writer.write(frame)
        if self._writer.is_closing():
            self.fail(connection_failed(CLOSED))
            raise Lost(self.error, was_sent=False)
        try:
            async with asyncio.timeout(seconds):
                await self._writer.drain()
        except TimeoutError:
            self.fail(connection_failed("the server does not read in time"))
        except OSError:
            # The task that reads finds the end, after the last replies.
            pass

    def abandon(self, pending: Pending) -> None:
        """Cancels a request, whose further replies are discarded."""
        if self._tracker.abandon(pending):
            self._write_cancel(pending.request_id)

    def _write_cancel(self, request_id: int) -> None:
        cancel = larder_pb2.CancelRequest(request_id=request_id)
        self._writer.write(encoded_frame(
            envelope(self._tracker.new_id(), "cancel", cancel), self._request_bytes_max))

    def drop(self, pending: Pending) -> None:
        """Abandons a request in a finalizer, which may run in another thread. The server stops
        without credit, and learns of it with the next request."""
        pending.is_abandoned = True
        self._dropped.append(pending.request_id)

    async def replies(
            self, kind: str, body: Any, seconds: float) -> AsyncGenerator[Any, None]:
        """The replies to a request with credit, within a time for all of them."""
        deadline = asyncio.get_running_loop().time() + seconds
        async with await self.request(
                kind, body, seconds, limit=seconds, unread_max=CREDIT + 1) as request:
            while True:
                left = deadline - asyncio.get_running_loop().time()
                reply = await request.reply(left + SLACK_SECONDS)
                yield reply
                if not reply.more:
                    return
                await request.add_credit()


class Request:
    """A request that was sent, and its replies. Leaving its context cancels it."""

    def __init__(
            self, connection: Connection, kind: str, unread_max: int, ended: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._replies: asyncio.Queue[Any] = asyncio.Queue()
        self.pending = Pending(
            kind, unread_max, self._replies.qsize, self._replies.put_nowait, ended)

    async def __aenter__(self) -> Request:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def request_id(self) -> int:
        return self.pending.request_id

    async def reply(self, seconds: float | None, *, ends_connection: bool = True) -> Any:
        """The body of the next reply; raises the error of `failed`, Lost or NoReply. A server that
        does not reply in its own time hangs, so that the connection ends."""
        try:
            async with asyncio.timeout(seconds):
                item = await self._replies.get()
        except TimeoutError:
            if ends_connection:
                self._connection.fail(connection_failed("the server did not reply in time"))
            raise NoReply(seconds or 0) from None
        if item is None:
            self._replies.put_nowait(None)
            raise Lost(self._connection.error, was_sent=True)
        if isinstance(item, LarderError):
            self._replies.put_nowait(None)
            raise item
        return item

    async def add_credit(self) -> None:
        """Allows the server another reply."""
        await self._connection.send(
            "credit", larder_pb2.CreditRequest(request_id=self.request_id, batches=1))

    async def send(self, kind: str, part: Any, seconds: float) -> None:
        """Sends a part of an insert stream or a save."""
        await self._connection.send(kind, part, seconds)

    def drop(self) -> None:
        """Ends the request in a finalizer, when nothing waits for a reply."""
        self._connection.drop(self.pending)

    def close(self) -> None:
        """Ends the request, also for a task that waits for a reply."""
        self._connection.abandon(self.pending)
        self._replies.put_nowait(None)
