"""A client of larderd for asyncio, which sends many requests at once on one connection.

    async with await AsyncClient.connect("school.sock") as client:
        async for row in client.fetch("Student", "name BEGINSWITH %@", ["A"]):
            print(row["name"])

The errors are those of larder_client.py. One task reads the replies, and passes each to the request
with its id; streams have credit, so that a slow loop does not make other requests wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from larder_values import *

CONNECT_SECONDS = 10.0
# The server replies with TIMEOUT after the time of a request; a later reply never comes.
SLACK_SECONDS = 30.0
PAUSE_SECONDS = (0.01, 1.0)


@dataclass
class Connection:
    """A socket, and the requests that wait for replies on it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    request_bytes_max: int = HANDSHAKE_BYTES_MAX
    reply_bytes_max: int = HANDSHAKE_BYTES_MAX
    last_id: int = 0
    # The replies to each request: at most those of its credit, and the error that ends it.
    waiting: dict[int, asyncio.Queue[larder.Envelope]] = field(default_factory=dict)
    failure: Exception | None = None

    async def receive(self) -> larder.Envelope:
        header = await self.reader.readexactly(LENGTH_BYTES)
        return decoded_frame(
            await self.reader.readexactly(frame_length(header, self.reply_bytes_max)))

    async def read(self) -> None:
        """Passes each reply to its request, until the connection ends."""
        try:
            while True:
                envelope = await self.receive()
                if envelope.id == 0:
                    opened(envelope)
                queue = self.waiting.get(envelope.id)
                if queue is None or queue.full():
                    raise LarderError(
                        errors.ERROR_CODE_MALFORMED_MESSAGE,
                        "the server replied to another request")
                queue.put_nowait(envelope)
        except asyncio.IncompleteReadError:
            self.fail(ConnectionError("the server closed the connection"))
        except (OSError, LarderError) as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Ends the connection. The requests without a reply fail with this error."""
        self.failure = self.failure or error
        self.writer.close()
        for queue in self.waiting.values():
            # The request of a full queue is awake, and finds the failure after these replies.
            if not queue.full():
                queue.put_nowait(larder.Envelope())

    def frame(self, request_id: int, kind: str, body: Any, seconds: float = 0) -> bytes:
        return encoded_frame(
            larder.Envelope(
                id=request_id, timeout_milliseconds=int(seconds * 1_000), **{kind: body}),
            self.request_bytes_max)

    async def send(self, frame: bytes) -> None:
        if self.failure:
            raise self.failure
        self.writer.write(frame)
        # If the connection has ended, the task that reads finds out, after the last replies.
        with contextlib.suppress(OSError):
            await self.writer.drain()

    async def reply(
            self, queue: asyncio.Queue[larder.Envelope], kind: str | None, seconds: float) -> Any:
        if self.failure and queue.empty():
            raise self.failure
        async with asyncio.timeout(seconds + SLACK_SECONDS if seconds else None):
            envelope = await queue.get()
        if envelope.WhichOneof("body") is None and self.failure:
            raise self.failure
        return opened(envelope, kind)


class AsyncClient:
    """A connection to larderd for any number of tasks of one event loop."""

    @classmethod
    async def connect(cls, path: str, name: str = "larder_asyncio.py") -> AsyncClient:
        client = cls(path, name)
        await client._connect()
        return client

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        self._connecting, self._is_closed = asyncio.Lock(), False

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    # The connection

    async def _connect(self) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            link = Connection(*await asyncio.open_unix_connection(self._path))
            hello = larder.Hello(protocol_version=1, client_name=self._name)
            try:
                await link.send(link.frame(1, "hello", hello, CONNECT_SECONDS))
                self.welcome: larder.WelcomeReply = opened(await link.receive(), "hello")
            except asyncio.IncompleteReadError:
                link.fail(ConnectionError("the server closed the connection"))
                raise link.failure from None
            except BaseException:
                link.fail(ConnectionError("the handshake failed"))
                raise
        link.last_id, link.request_bytes_max = 1, self.welcome.frame_bytes_max
        link.reply_bytes_max = REPLY_BYTES_MAX
        # Beyond this number the server would not read `credit` and `cancel` either.
        self._in_flight = asyncio.Semaphore(max(1, self.welcome.requests_in_flight_max - 1))
        if self._is_closed:
            link.fail(ConnectionError("the connection was closed"))
            raise link.failure
        self._connection = link
        self._reading = asyncio.create_task(link.read())

    async def close(self) -> None:
        self._is_closed = True
        self._connection.fail(ConnectionError("the connection was closed"))
        self._reading.cancel()
        await asyncio.wait([self._reading])

    async def reconnect(self, seconds: float = 30.0) -> None:
        """Connects again, repeatedly until there is a server, unless another task has done so."""
        deadline, pause = time.monotonic() + seconds, PAUSE_SECONDS[0]
        async with self._connecting:
            while self._connection.failure:
                if self._is_closed:
                    raise self._connection.failure
                try:
                    return await self._connect()
                except (OSError, LarderError) as error:
                    if not is_temporary(error) or time.monotonic() + pause > deadline:
                        raise
                await asyncio.sleep(pause)
                pause = min(2 * pause, PAUSE_SECONDS[1])

    async def replies(
            self, kind: str, body: Any, seconds: float = 10.0, credit: int = 0
    ) -> AsyncIterator[Any]:
        """The replies to a request, which is cancelled if the loop ends early. Without credit there
        is one reply."""
        link = self._connection
        follows = getattr(body, "follow", False)
        async with contextlib.nullcontext() if follows else self._in_flight:
            link.last_id += 1
            request_id, more = link.last_id, True
            frame = link.frame(request_id, kind, body, seconds)
            link.waiting[request_id] = queue = asyncio.Queue(credit + 2)
            try:
                await link.send(frame)
                while more:
                    try:
                        reply = await link.reply(queue, kind, seconds)
                    except (OSError, LarderError):
                        more = False
                        raise
                    more = getattr(reply, "more", False)
                    yield reply
                    if more:
                        await link.send(link.frame(request_id, "credit", larder.CreditRequest(
                            request_id=request_id, batches=1)))
            finally:
                if more and not link.failure:
                    await self._cancel(link, request_id, queue)
                del link.waiting[request_id]

    async def _cancel(self, link: Connection, request_id: int, queue: asyncio.Queue) -> None:
        """Cancels a stream, and reads the replies that are on their way."""
        with contextlib.suppress(OSError, LarderError):
            await link.send(link.frame(
                request_id, "cancel", larder.CancelRequest(request_id=request_id)))
            while getattr(await link.reply(queue, None, CONNECT_SECONDS), "more", False):
                pass

    async def call(self, kind: str, body: Any, seconds: float = 10.0) -> Any:
        """The only reply to a request."""
        async with contextlib.aclosing(self.replies(kind, body, seconds)) as replies:
            async for reply in replies:
                return reply

    # Reading

    async def batches(
            self, shape: queries.Query, arguments: Iterable[Any] = (), limit: int | None = None,
            variables: dict[str, Any] | None = None) -> AsyncIterator[batches.Batch]:
        request = query_request(shape, arguments, limit=limit, variables=variables)
        found = self.replies("query", request, credit=request.credit)
        async with contextlib.aclosing(found) as replies:
            async for reply in replies:
                for batch in reply.batches:
                    yield batch

    async def fetch(
            self, entity: str, format: str | None = None, arguments: Iterable[Any] = (),
            sort: Sequence[str] = (), columns: dict[str, str] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """The objects that match, or columns of them, while they arrive."""
        shape = fetch(entity, format, sort, columns)
        async with contextlib.aclosing(self.batches(shape, arguments)) as found:
            async for batch in found:
                for row in rows(batch, self.welcome.store):
                    yield row

    async def get(self, *identifiers: values.Identifier) -> list[dict[str, Any]]:
        """The objects that exist."""
        reply = await self.call("get", larder.GetRequest(identifiers=identifiers))
        return [row for batch in reply.batches for row in rows(batch, self.welcome.store)]

    # Writing

    async def save(self, *listed: changes.Change, **options: Any) -> larder.SaveReply:
        """Saves changes as one transaction. If the connection breaks before the reply, they may or
        may not have been applied."""
        return await self.call("save", change_set(*listed, **options))

    async def insert(self, entity: str, **properties: Any) -> values.Identifier:
        saved = await self.save(change("INSERT", new(entity, "t:new"), properties))
        return saved.inserted[0]

    async def save_repeatedly(
            self, prepared: changes.ChangeSet, seconds: float = 30.0) -> larder.SaveReply:
        """Saves a set with an idempotency key, and sends it again if its reply was lost. It is
        applied at most once. If this raises an error of 200 to 499, it was not applied."""
        if not prepared.idempotency_key:
            raise ValueError("a set without an idempotency key cannot be sent again")
        deadline = time.monotonic() + seconds
        while True:
            try:
                return await self.call("save", prepared)
            except (OSError, LarderError) as error:
                if not is_temporary(error) or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(PAUSE_SECONDS[0])
            await self.reconnect(max(0, deadline - time.monotonic()))

    # The history

    async def history(
            self, **options: Any
    ) -> AsyncIterator[tuple[list[histories.HistoryTransaction], histories.HistoryToken]]:
        """For each reply its complete transactions, and the position; follow=True does not end."""
        request, part = larder.HistoryRequest(credit=CREDIT, **options), None
        found = self.replies("history", request, 0 if request.follow else 10.0, credit=CREDIT)
        async with contextlib.aclosing(found) as replies:
            async for reply in replies:
                transactions, part = complete(part, reply)
                yield transactions, reply.position

    async def follow(
            self, after: histories.HistoryToken, seconds: float = 30.0
    ) -> AsyncIterator[tuple[list[histories.HistoryTransaction], histories.HistoryToken]]:
        """Each transaction after a position, and then each new one, also over the end of a server:
        each is returned once and in order. It ends only by an error, or after that many seconds
        without a server."""
        while True:
            try:
                found = self.history(after=after, follow=True)
                async with contextlib.aclosing(found) as pages:
                    async for transactions, after in pages:
                        yield transactions, after
            except (OSError, LarderError) as error:
                if not is_temporary(error):
                    raise
            await self.reconnect(seconds)
