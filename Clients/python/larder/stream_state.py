"""The state of a stream of results, without I/O: its items, its credit, and its failures."""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar

from .attempts import Attempts, Lost, NoReply
from .calls import Source
from .errors import CODES, LarderError, failure
from .server import Options, ServerDescription

Item = TypeVar("Item")
#: How much longer than the server a client waits for a reply.
SLACK_SECONDS = 5.0


class Closable(Protocol):
    """The request of a stream."""

    def close(self) -> None:
        """Ends the request."""

    def drop(self) -> None:
        """Ends the request in a finalizer, without locks and without I/O."""


SomeRequest = TypeVar("SomeRequest", bound=Closable)


class StreamState(Generic[Item, SomeRequest]):
    """The state of a stream of either client. Closing it is safe at any time."""

    def __init__(self, source: Source[Item], options: Options, timeout: float | None) -> None:
        self.source = source
        self.seconds = options.timeout if timeout is None else timeout
        self.items: deque[Item] = deque()
        self.request: SomeRequest | None = None
        self.has_ended = self.owes_credit = False
        self.part_count = 0
        self._connection_wait = options.reconnect_wait
        self._reconnect_wait = options.reconnect_wait if source.is_endless else 0.0
        self._attempts: Attempts | None = None

    def close(self) -> None:
        """Ends the stream, and drops its items."""
        self._finish()
        self.items.clear()

    def drop(self) -> None:
        """Ends the stream in a finalizer."""
        request, self.request = self.request, None
        if request is not None:
            request.drop()

    def _finish(self) -> None:
        self.has_ended = True
        request, self.request = self.request, None
        if request is not None:
            request.close()

    def began(self, request: SomeRequest) -> None:
        """Notes the request, unless the stream has been closed meanwhile."""
        self.request, self.owes_credit = request, False
        if self.has_ended:
            self._finish()

    def received(self, reply: object, server: ServerDescription) -> None:
        """Adds the items of a reply."""
        self._attempts = None
        self.part_count += 1
        self.items.extend(self.source.items(reply, server))
        self.owes_credit = bool(getattr(reply, "more", False))
        if not self.owes_credit:
            self._finish()

    def connection_deadline(self, now: float) -> float:
        """How long to wait for a connection."""
        if self._attempts is not None:
            return self._attempts.connection_deadline(now)
        return now + min(self.seconds, self._connection_wait)

    def reply_seconds(self, deadline: float | None, now: float) -> float | None:
        """How long to wait for a reply; None without a limit."""
        if deadline is not None:
            return max(0.0, deadline - now)
        return None if self.source.is_endless else self.seconds + SLACK_SECONDS

    def failed(self, error: Exception, deadline: float | None, now: float) -> None:
        """Raises the error, or returns if the stream has been closed or begins again."""
        if self.has_ended:
            return
        if isinstance(error, NoReply) and deadline is not None:
            raise failure("TIMEOUT", "there was no result in time") from None
        is_lost = isinstance(error, Lost) or isinstance(
            error, LarderError) and error.code == CODES["UNAVAILABLE"]
        self._finish()
        if self._attempts is None:
            self._attempts = Attempts(
                False, False, now + max(self._reconnect_wait, self.seconds), self._reconnect_wait)
        self._attempts.failed(error, now)
        if not (is_lost and self.source.is_endless):
            raise error
        self.has_ended = False
