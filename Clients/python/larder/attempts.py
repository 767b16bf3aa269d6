"""The attempts of one call: what the failure of each means, and whether the call is repeated. The
module reads no clock."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import CODES, LarderError, failure

UNAVAILABLE = CODES["UNAVAILABLE"]
CONNECTION_FAILED = CODES["CONNECTION_FAILED"]
#: How often a read is repeated whose snapshot the server could not keep.
EXPIRIES_MAX = 3
PAUSES = (0.01, 1.0)


class Lost(Exception):
    """The connection ended before the reply. `was_sent` tells whether the server has the whole
    request."""

    def __init__(self, error: LarderError, *, was_sent: bool) -> None:
        super().__init__(str(error))
        self.error, self.was_sent = error, was_sent


class NoReply(Exception):
    """The time of a request has passed, and the server did not reply."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass
class Attempts:
    """A read is repeated over a new connection, as is a write with an idempotency key. A write
    without one is repeated only if the server certainly has not executed it."""

    is_write: bool
    has_key: bool
    #: The end of the call, by a monotonic clock, in seconds.
    deadline: float
    #: How long to wait for another connection after the first loss; 0 for never.
    reconnect_seconds: float
    may_have_run: bool = False
    expiries: int = 0
    #: Set by the first loss.
    reconnect_deadline: float | None = None

    def connection_deadline(self, now: float) -> float:
        """The end of the wait for a connection, which the first loss begins."""
        if self.reconnect_deadline is not None:
            return self.reconnect_deadline
        return min(self.deadline, now + self.reconnect_seconds)

    def failed(self, error: Exception, now: float) -> None:
        """Raises the error with which the call ends, or returns if it is to be repeated."""
        match error:
            case Lost():
                if self.is_write and error.was_sent and error.error.code != UNAVAILABLE:
                    self.may_have_run = True
                is_lost = error.error.code in (CONNECTION_FAILED, UNAVAILABLE)
                if not (is_lost or not error.was_sent) or self.may_have_run and not self.has_key:
                    raise self.final(error.error) from None
                self._wait_for_connection(error.error, now)
            case NoReply():
                self.may_have_run = self.may_have_run or self.is_write
                raise self.final(failure(
                    "TIMEOUT", f"the server did not reply within {error.seconds:g} s",
                    hint="request less at once, or set a longer timeout")) from None
            case LarderError() if 200 <= error.code < 500:
                # The server looks up the key first, so no earlier attempt was executed.
                raise error
            case LarderError(name="SNAPSHOT_EXPIRED") if (
                    not self.is_write and self.expiries < EXPIRIES_MAX):
                self.expiries += 1
            case LarderError() if error.code == UNAVAILABLE:
                self._wait_for_connection(error, now)
            case LarderError():
                raise self.final(error)
            case _:
                raise error

    def final(self, error: LarderError) -> LarderError:
        """The error for the caller: INDETERMINATE if the write may have been executed."""
        if not self.may_have_run:
            return error
        return failure(
            "INDETERMINATE", f"{error.message}; the write may or may not have been executed",
            hint="send the same changes with the same idempotency key again" if self.has_key
            else "read the objects again before repeating the write")

    def _wait_for_connection(self, error: LarderError, now: float) -> None:
        if self.reconnect_deadline is None:
            self.reconnect_deadline = self.connection_deadline(now)
        if now >= self.reconnect_deadline:
            raise self.final(error)
