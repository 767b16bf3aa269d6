"""The connections of a client for asyncio, one after the other, and the repetition of calls."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..attempts import PAUSES, Attempts, Lost, NoReply
from ..calls import Call, Source
from ..errors import LarderError
from ..parts import (
    CAPABILITY, PARTS_MAX, SECONDS_MAX, SaveProgress, is_divided, unsupported_parts)
from ..server import Options, ServerDescription
from ..session import RETRIED
from ..stream_state import SLACK_SECONDS
from ..tracker import connection_failed
from ..v1 import larder_pb2
from .connection import Connection

Output = TypeVar("Output")
Item = TypeVar("Item")


class Session:
    """Protected by a lock: the connection, which any task may replace when it has ended."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._lock, self._closed = asyncio.Lock(), asyncio.Event()
        self._connection: Connection
        self._has_connected = False
        self._schema: tuple[str, str] | None = None

    async def open(self) -> None:
        """Makes the first connection."""
        self._connection = await self._connected(
            time.monotonic() + self.options.connect_timeout, ("UNAVAILABLE",))
        self._has_connected = True

    @property
    def server(self) -> ServerDescription:
        """The server of the current or the last connection."""
        return self._connection.server

    @property
    def is_open(self) -> bool:
        """Whether the client was connected and has not been closed."""
        return self._has_connected and not self._closed.is_set()

    async def close(self) -> None:
        """Ends the connection; waiting calls fail."""
        self._closed.set()
        await self._connection.close(connection_failed("the client was closed"))

    async def connection(self, deadline: float) -> Connection:
        """The connection, or another one if it has ended."""
        if self._connection.is_open and self.is_open:
            return self._connection
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())), self._lock:
                if self._closed.is_set():
                    raise connection_failed("the client was closed")
                if not self._connection.is_open:
                    if self.options.reconnect_wait <= 0:
                        raise self._connection.error
                    self._connection = await self._connected(deadline, RETRIED)
                return self._connection
        except TimeoutError:
            raise connection_failed("there was no connection in time") from None

    async def _connected(self, deadline: float, retried: tuple[str, ...]) -> Connection:
        pause = PAUSES[0]
        while True:
            left = deadline - time.monotonic()
            try:
                made = await Connection.open(
                    self.options, min(left, self.options.connect_timeout))
                break
            except LarderError as error:
                if error.name not in retried or time.monotonic() + pause > deadline:
                    raise
            await self.pause(pause)
            if self._closed.is_set():
                raise connection_failed("the client was closed")
            pause = min(2 * pause, PAUSES[1])
        if self._closed.is_set():
            await made.close(connection_failed("the client was closed"))
        return made

    async def pause(self, seconds: float = PAUSES[0]) -> None:
        """Waits before another attempt, unless the client is closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    async def repeat(
            self, work: Callable[[Connection, float], Awaitable[Output]],
            timeout: float | None, *, is_write: bool = False, has_key: bool = False) -> Output:
        """Work with a connection and a time in seconds, again after failures that allow it."""
        seconds = self.options.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        attempts = Attempts(is_write, has_key, deadline, self.options.reconnect_wait)
        pause = PAUSES[0]
        while True:
            try:
                until = attempts.connection_deadline(time.monotonic())
                connection = await self.connection(until)
                return await work(connection, max(0.001, deadline - time.monotonic()))
            except (Lost, NoReply, LarderError) as error:
                attempts.failed(error, time.monotonic())
            if self._connection.is_open:
                await self.pause(pause)
                pause = min(2 * pause, PAUSES[1])

    async def perform(self, call: Call[Output], timeout: float | None) -> Output:
        """The result of a call with one reply."""
        async def work(connection: Connection, seconds: float) -> Output:
            async with await connection.request(
                    call.kind, call.body, seconds, limit=seconds) as request:
                reply = await request.reply(seconds + SLACK_SECONDS)
            return call.output(reply, connection.server)

        return await self.repeat(
            work, timeout, is_write=call.is_write, has_key=call.has_key)

    async def save(self, call: Call[Output], timeout: float | None) -> Output:
        """The result of a save, which is sent in parts if it is long. The timeout is then that of
        each part."""
        if not is_divided(call.body):
            return await self.perform(call, timeout)
        wait = self.options.timeout if timeout is None else timeout

        async def work(connection: Connection, seconds: float) -> Output:
            if CAPABILITY not in connection.server.capabilities:
                raise unsupported_parts()
            progress = SaveProgress(call.body.SerializeToString())
            async with await connection.request(
                    "save_in_parts", larder_pb2.SaveInPartsRequest(), wait, limit=seconds,
                    unread_max=2 * PARTS_MAX) as request:
                while not progress.is_complete:
                    if progress.must_send:
                        await request.send(
                            "save_part", progress.next_part(request.request_id), wait)
                    else:
                        progress.received(await request.reply(wait + SLACK_SECONDS))
            return call.output(progress.result, connection.server)

        return await self.repeat(work, SECONDS_MAX, is_write=True, has_key=call.has_key)

    async def collect(
            self, make: Callable[[], Source[Item]], timeout: float | None) -> list[Item]:
        """All items of a stream, which begins again after a lost connection."""
        async def work(connection: Connection, seconds: float) -> list[Item]:
            source = make()
            items: list[Item] = []
            replies = connection.replies(source.kind, source.body(), seconds)
            async with contextlib.aclosing(replies):
                async for reply in replies:
                    items.extend(source.items(reply, connection.server))
            return items

        return await self.repeat(work, timeout)

    async def schema(self, read: Call[str], timeout: float | None) -> str:
        """The schema file, which is read once for each schema."""
        fingerprint = self.server.schema_fingerprint
        known = self._schema
        if known is None or known[0] != fingerprint:
            known = self._schema = (fingerprint, await self.perform(read, timeout))
        return known[1]
