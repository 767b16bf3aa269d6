"""What all attacks share: their target, what they report, and long work for the server."""

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

import wire
from wire import Closed, Connection, LarderError

# Nested case conversions, as deep as SQLite allows, of which several are compared.
CONVERSIONS, COMPARISONS = 10, 20
SLOW_TERM = ("uppercase(lowercase(" * CONVERSIONS) + "text" + "))" * CONVERSIONS
SLOW_PREDICATE = "(" + " OR ".join(
    f'{SLOW_TERM} == "{number}"' for number in range(COMPARISONS)) + ")"
ERROR_PAUSE_SECONDS = 0.02
REPLY_SECONDS = 60.0
REFUSAL_CHARACTERS = 100


@dataclasses.dataclass(frozen=True)
class Target:
    """The server under attack, the end of the attack, and whether the run is a quick one."""

    path: str
    until: float
    items: int
    quick: bool

    @property
    def is_open(self) -> bool:
        return time.monotonic() < self.until

    def connect(self, timeout: float = REPLY_SECONDS) -> Connection:
        """A connection that waits until the attack ends, and not much longer."""
        return Connection(self.path, "attacker", timeout, self.until)


@dataclasses.dataclass
class Outcome:
    """The attacker's own view: replies, refusals among them, wrong answers, times of requests."""

    replies: int = 0
    refusals: dict[str, int] = dataclasses.field(default_factory=dict)
    wrong: list[str] = dataclasses.field(default_factory=list)
    # Each request's kind, and when it began and ended.
    requests: list[tuple[str, float, float]] = dataclasses.field(default_factory=list)


    def refuse(self, error: Exception) -> None:
        text = str(error)[:REFUSAL_CHARACTERS]
        self.refusals[text] = self.refusals.get(text, 0) + 1

    def check(self, envelope: Any) -> None:
        """Counts a reply of a round with several."""
        if envelope.HasField("failed"):
            self.refuse(LarderError(envelope.failed.code, envelope.failed.message))

    def add(self, other: "Outcome") -> None:
        self.replies += other.replies
        self.wrong += other.wrong
        self.requests += other.requests
        for text, count in other.refusals.items():
            self.refusals[text] = self.refusals.get(text, 0) + count


Attack = Callable[[Target], Outcome]


def persist(target: Target, round: Callable[[Connection, Outcome], None]) -> Outcome:
    """Repeats a round of requests until the attack ends; refusals do not discourage it."""
    outcome, connection = Outcome(), None
    while target.is_open:
        try:
            connection = connection or target.connect()
            round(connection, outcome)
            outcome.replies += 1
        except LarderError as error:
            outcome.replies += 1
            outcome.refuse(error)
        except (OSError, Closed):
            if connection:
                connection.close()
            connection = None
            time.sleep(ERROR_PAUSE_SECONDS)
    return outcome


def cycle(target: Target, frames: list[tuple[str, Callable[[Connection], bytes]]]) -> Outcome:
    """Sends frames of several kinds in turn, each built just before, and waits for each reply."""
    position = 0

    def round(connection: Connection, outcome: Outcome) -> None:
        nonlocal position
        kind, make = frames[position % len(frames)]
        position += 1
        framed = make(connection)
        began = time.monotonic()
        try:
            connection.call(framed)
        finally:
            outcome.requests.append((kind, began, time.monotonic()))
    return persist(target, round)


def in_threads(target: Target, count: int, work: Attack) -> Outcome:
    """The same work on many connections."""
    outcomes: list[Outcome] = []
    threads = [threading.Thread(target=lambda: outcomes.append(work(target)), daemon=True)
               for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, target.until - time.monotonic()) + 0.5)
    total = Outcome()
    for outcome in list(outcomes):
        total.add(outcome)
    return total


def slow_count(timeout: float = 30.0, request_id: int = 1) -> bytes:
    """A query that computes for long and finds nothing."""
    shape = wire.queries.Query(count=wire.queries.CountQuery(
        entity="Item", predicate=wire.where(SLOW_PREDICATE)))
    return wire.frame("query", wire.query(shape), timeout, request_id)


def slow_update(timeout: float = 30.0, below: int = 1 << 40) -> bytes:
    """A change by predicate that computes for long; it changes nothing, or few objects."""
    return wire.frame("save", wire.save(wire.change_all(
        "Item", {"number": "number"}, f"number < {below} AND {SLOW_PREDICATE}")), timeout)


def hold_writer(target: Target) -> Outcome:
    """One slow change by predicate after another."""
    framed = slow_update()
    return persist(target, lambda connection, _: connection.call(framed) and None)


def hold_readers(target: Target, connections: int = 4, queries: int = 4) -> Outcome:
    """Slow queries, as many at a time as the readers of the server."""
    def round(connection: Connection, outcome: Outcome) -> None:
        connection.send(b"".join(slow_count(request_id=1 + each) for each in range(queries)))
        for _ in range(queries):
            outcome.check(connection.envelope())
    return in_threads(target, connections, lambda target: persist(target, round))
