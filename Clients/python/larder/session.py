"""The connections of a blocking client, one after the other, and the repetition of calls."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from .attempts import PAUSES, Attempts, Lost, NoReply
from .calls import Call, Source
from .connection import Connection
from .errors import LarderError
from .parts import (
    CAPABILITY, PARTS_MAX, SECONDS_MAX, SaveProgress, is_divided, unsupported_parts)
from .server import Options, ServerDescription
from .stream_state import SLACK_SECONDS
from .tracker import connection_failed
from .v1 import larder_pb2

Output = TypeVar("Output")
Item = TypeVar("Item")
RETRIED = ("CONNECTION_FAILED", "UNAVAILABLE", "TIMEOUT")


class Session:
    """Protected by a lock: the connection, which any thread may replace when it has ended."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._connection = self._connected(
            time.monotonic() + options.connect_timeout, ("UNAVAILABLE",))
        self._schema: tuple[str, str] | None = None

    @property
    def server(self) -> ServerDescription:
        """The server of the current or the last connection."""
        return self._connection.server

    @property
    def is_open(self) -> bool:
        """Whether the client has not been closed."""
        return not self._closed.is_set()

    def close(self) -> None:
        """Ends the connection; waiting calls fail."""
        self._closed.set()
        self._connection.fail(connection_failed("the client was closed"))

    def drop(self) -> None:
        """Closes the client in a finalizer, without a lock."""
        self._closed.set()
        self._connection.shut_down()

    def connection(self, deadline: float) -> Connection:
        """The connection, or another one if it has ended."""
        if self._connection.is_open and self.is_open:
            return self._connection
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise connection_failed("there was no connection in time")
        try:
            if self._closed.is_set():
                raise connection_failed("the client was closed")
            if not self._connection.is_open:
                if self.options.reconnect_wait <= 0:
                    raise self._connection.error
                self._connection = self._connected(deadline, RETRIED)
            return self._connection
        finally:
            self._lock.release()

    def pause(self, seconds: float = PAUSES[0]) -> None:
        """Waits before another attempt, unless the client is closed."""
        self._closed.wait(seconds)

    def _connected(self, deadline: float, retried: tuple[str, ...]) -> Connection:
        pause = PAUSES[0]
        while True:
            left = deadline - time.monotonic()
            try:
                made = Connection(self.options, min(left, self.options.connect_timeout))
                break
            except LarderError as error:
                if error.name not in retried or time.monotonic() + pause > deadline:
                    raise
            if self._closed.wait(pause):
                raise connection_failed("the client was closed")
            pause = min(2 * pause, PAUSES[1])
        if self._closed.is_set():
            made.fail(connection_failed("the client was closed"))
        return made

    def repeat(
            self, work: Callable[[Connection, float], Output], timeout: float | None, *,
            is_write: bool = False, has_key: bool = False) -> Output:
        """Work with a connection and a time in seconds, again after failures that allow it."""
        seconds = self.options.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        attempts = Attempts(is_write, has_key, deadline, self.options.reconnect_wait)
        pause = PAUSES[0]
        while True:
            try:
                until = attempts.connection_deadline(time.monotonic())
                connection = self.connection(until)
                return work(connection, max(0.001, deadline - time.monotonic()))
            except (Lost, NoReply, LarderError) as error:
                attempts.failed(error, time.monotonic())
            if self._connection.is_open:
                self.pause(pause)
                pause = min(2 * pause, PAUSES[1])

    def perform(self, call: Call[Output], timeout: float | None) -> Output:
        """The result of a call with one reply."""
        def work(connection: Connection, seconds: float) -> Output:
            with connection.request(call.kind, call.body, seconds, limit=seconds) as request:
                reply = request.reply(seconds + SLACK_SECONDS)
            return call.output(reply, connection.server)

        return self.repeat(work, timeout, is_write=call.is_write, has_key=call.has_key)

    def save(self, call: Call[Output], timeout: float | None) -> Output:
        """The result of a save, which is sent in parts if it is long. The timeout is then that of
        each part."""
        if not is_divided(call.body):
            return self.perform(call, timeout)
        wait = self.options.timeout if timeout is None else timeout

        def work(connection: Connection, seconds: float) -> Output:
            if CAPABILITY not in connection.server.capabilities:
                raise unsupported_parts()
            progress = SaveProgress(call.body.SerializeToString())
            with connection.request(
                    "save_in_parts", larder_pb2.SaveInPartsRequest(), wait, limit=seconds,
                    unread_max=2 * PARTS_MAX) as request:
                while not progress.is_complete:
                    if progress.must_send:
                        request.send(
                            "save_part", progress.next_part(request.request_id), wait)
                    else:
                        progress.received(request.reply(wait + SLACK_SECONDS))
            return call.output(progress.result, connection.server)

        return self.repeat(work, SECONDS_MAX, is_write=True, has_key=call.has_key)

    def collect(self, make: Callable[[], Source[Item]], timeout: float | None) -> list[Item]:
        """All items of a stream, which begins again after a lost connection."""
        def work(connection: Connection, seconds: float) -> list[Item]:
            source = make()
            replies = connection.replies(source.kind, source.body(), seconds)
            with contextlib.closing(replies):
                return [item for reply in replies
                        for item in source.items(reply, connection.server)]

        return self.repeat(work, timeout)

    def schema(self, read: Call[str], timeout: float | None) -> str:
        """The schema file, which is read once for each schema."""
        fingerprint = self.server.schema_fingerprint
        known = self._schema
        if known is None or known[0] != fingerprint:
            known = self._schema = (fingerprint, self.perform(read, timeout))
        return known[1]
