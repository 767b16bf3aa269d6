"""Results that arrive while they are read, for asyncio."""

from __future__ import annotations

import time
from typing import Generic, TypeVar

from ..attempts import Lost, NoReply
from ..calls import Source
from ..errors import LarderError
from ..queries import CREDIT
from ..stream_state import StreamState
from .connection import Request
from .session import Session

Item = TypeVar("Item")


class Stream(Generic[Item]):
    """An asynchronous iterator over results that arrive. One task at a time reads it; another may
    close it, which ends the iteration. Leaving its context closes it.

    A stream without an end, such as that of `observe`, connects again after a lost connection.
    """

    def __init__(self, session: Session, source: Source[Item], timeout: float | None) -> None:
        self._session = session
        self._state: StreamState[Item, Request] = StreamState(source, session.options, timeout)

    async def __aenter__(self) -> Stream[Item]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            self._state.drop()

    def __aiter__(self) -> Stream[Item]:
        return self

    async def __anext__(self) -> Item:
        item = await self.next()
        if item is None:
            raise StopAsyncIteration
        return item

    @property
    def part_count(self) -> int:
        """The number of replies so far, each with a part of the items."""
        return self._state.part_count

    def close(self) -> None:
        """Ends the stream; the server stops the work for it."""
        self._state.close()

    async def aclose(self) -> None:
        """Closes the stream, as `contextlib.aclosing` expects it."""
        self.close()

    async def next(self, timeout: float | None = None) -> Item | None:
        """The next item; None at the end. If there is none within the timeout, in seconds, it
        raises TemporaryError with the name TIMEOUT, and the stream can be read further. Without a
        timeout an endless stream waits without a limit."""
        state = self._state
        deadline = None if timeout is None else time.monotonic() + timeout
        while not state.items:
            if state.has_ended:
                return None
            try:
                await self._receive(deadline)
            except (Lost, NoReply, LarderError) as error:
                state.failed(error, deadline, time.monotonic())
                await self._session.pause()
        return state.items.popleft()

    async def _receive(self, deadline: float | None) -> None:
        state = self._state
        if state.request is None:
            await self._open()
        request = state.request
        if request is None:
            return
        if state.owes_credit:
            # A cancelled task must not give it twice.
            state.owes_credit = False
            await request.add_credit()
        seconds = state.reply_seconds(deadline, time.monotonic())
        reply = await request.reply(seconds, ends_connection=deadline is None)
        state.received(reply, self._session.server)

    async def _open(self) -> None:
        state = self._state
        connection = await self._session.connection(state.connection_deadline(time.monotonic()))
        state.began(await connection.request(
            state.source.kind, state.source.body(), state.seconds, unread_max=CREDIT + 1,
            is_endless=state.source.is_endless))
