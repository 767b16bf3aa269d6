"""Results that arrive while they are read, for blocking code."""

from __future__ import annotations

import time
from typing import Generic, TypeVar

from .attempts import Lost, NoReply
from .calls import Source
from .connection import Request
from .errors import LarderError
from .queries import CREDIT
from .session import Session
from .stream_state import StreamState

Item = TypeVar("Item")


class Stream(Generic[Item]):
    """An iterator over results that arrive. One thread at a time reads it; any thread may close it,
    which ends the iteration. Leaving its context closes it.

    A stream without an end, such as that of `observe`, connects again after a lost connection.
    """

    def __init__(self, session: Session, source: Source[Item], timeout: float | None) -> None:
        self._session = session
        self._state: StreamState[Item, Request] = StreamState(source, session.options, timeout)

    def __enter__(self) -> Stream[Item]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            self._state.drop()

    def __iter__(self) -> Stream[Item]:
        return self

    def __next__(self) -> Item:
        item = self.next()
        if item is None:
            raise StopIteration
        return item

    @property
    def part_count(self) -> int:
        """The number of replies so far, each with a part of the items."""
        return self._state.part_count

    def close(self) -> None:
        """Ends the stream; the server stops the work for it."""
        self._state.close()

    def next(self, timeout: float | None = None) -> Item | None:
        """The next item; None at the end. If there is none within the timeout, in seconds, it
        raises TemporaryError with the name TIMEOUT, and the stream can be read further. Without a
        timeout an endless stream waits without a limit."""
        state = self._state
        deadline = None if timeout is None else time.monotonic() + timeout
        while not state.items:
            if state.has_ended:
                return None
            try:
                self._receive(deadline)
            except (Lost, NoReply, LarderError) as error:
                state.failed(error, deadline, time.monotonic())
                self._session.pause()
        return state.items.popleft()

    def _receive(self, deadline: float | None) -> None:
        state = self._state
        if state.request is None:
            self._open()
        request = state.request
        if request is None:
            return
        if state.owes_credit:
            request.add_credit()
            state.owes_credit = False
        seconds = state.reply_seconds(deadline, time.monotonic())
        reply = request.reply(seconds, ends_connection=deadline is None)
        state.received(reply, self._session.server)

    def _open(self) -> None:
        state = self._state
        connection = self._session.connection(state.connection_deadline(time.monotonic()))
        state.began(connection.request(
            state.source.kind, state.source.body(), state.seconds, unread_max=CREDIT + 1,
            is_endless=state.source.is_endless))
