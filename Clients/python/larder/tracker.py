"""The requests of a connection that wait for replies. Each reply is passed to the request with its
id; the module does no I/O and does not lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .errors import LarderError, error_of_reply, failure, violation
from .frames import reply_body
from .v1 import larder_pb2


@dataclass(eq=False)
class Pending:
    """A request that waits for replies."""

    kind: str
    #: The replies that may wait for the program: those of the credit, and the error that ends it.
    unread_max: int
    #: The number of replies that wait.
    unread: Callable[[], int]
    #: Called with the body of each reply, with the error of `failed`, or with None if the
    #: connection has ended.
    deliver: Callable[[Any], None]
    #: Called once, when there will be no more replies.
    ended: Callable[[], None]
    request_id: int = 0
    is_abandoned: bool = False


@dataclass
class RequestTracker:
    """All requests of one connection."""

    last_id: int = 0
    pending: dict[int, Pending] = field(default_factory=dict)
    #: Why the connection has ended.
    error: LarderError | None = None

    def new_id(self) -> int:
        """The next id, also for requests without replies."""
        self.last_id += 1
        return self.last_id

    def add(self, request: Pending) -> int:
        """Gives a request its id."""
        request.request_id = self.new_id()
        self.pending[request.request_id] = request
        return request.request_id

    def received(self, envelope: larder_pb2.Envelope) -> None:
        """Passes a reply to its request; raises an error that ends the connection."""
        if envelope.id == 0 and envelope.HasField("failed"):
            raise error_of_reply(envelope.failed)
        request = self.pending.get(envelope.id)
        if request is None:
            raise violation("the server replied to another request")
        body = reply_body(envelope, request.kind)
        is_error = envelope.HasField("failed")
        if not request.is_abandoned:
            if request.unread() >= request.unread_max:
                raise violation("the server sent more replies than it may")
            request.deliver(error_of_reply(body) if is_error else body)
        if is_error or not getattr(body, "more", False):
            self._end(request)

    def abandon(self, request: Pending) -> bool:
        """Discards further replies to a request. Returns whether it has to be cancelled."""
        request.is_abandoned = True
        return request.request_id in self.pending and self.error is None

    def not_sent(self, request: Pending) -> None:
        """Forgets a request that the server does not have."""
        if request.request_id in self.pending:
            self._end(request)

    def lost(self, error: LarderError) -> None:
        """Ends all requests, because the connection has ended. The first error counts."""
        if self.error is None:
            self.error = error
            for request in list(self.pending.values()):
                if not request.is_abandoned:
                    request.deliver(None)
                self._end(request)

    def _end(self, request: Pending) -> None:
        del self.pending[request.request_id]
        request.ended()


def connection_failed(message: str) -> LarderError:
    """The error of a connection that cannot be made, or has ended."""
    return failure("CONNECTION_FAILED", message)
