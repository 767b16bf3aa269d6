"""The honest clients that are measured, and the monitor of the event loops."""

import dataclasses
import errno
import math
import os
import pathlib
import random
import selectors
import socket
import tempfile
import time
from collections.abc import Callable
from typing import Any

import wire
from wire import Closed, Connection, LarderError

# Longer than any wait that the limits allow, so that a lost reply is an error and not a hang.
REQUEST_SECONDS = 10.0
# The server gives connections to its event loops in turn.
CONNECTIONS = 4
# The time between the requests of a client that does not wait for replies; see Measure.add.
INTERVAL_SECONDS = 0.010
ADDED_MAX = 2_000
READ_PAUSE_SECONDS = 0.003
SAVE_PAUSE_SECONDS = 0.005
LONG_READ_PAUSE_SECONDS = 0.05
PROBE_BLOCKS_MAX = 1_024
MONITOR_PAUSE_SECONDS = 0.002
MONITOR_CONNECTIONS = 4
MONITOR_IDLE_SECONDS = 0.1
MONITOR_NOTED_SECONDS = 0.015
TIMEOUT_CODE = 600
LIMIT_SECONDS = 0.1


@dataclasses.dataclass
class Measure:
    """What one client saw in one phase: the times of its requests in seconds, and its errors."""

    times: list[float] = dataclasses.field(default_factory=list)
    errors: list[str] = dataclasses.field(default_factory=list)
    requests: int = 0

    def add(self, seconds: float, interval: float = math.inf) -> None:
        """Adds a request, and those that a client with this interval would have sent meanwhile.

        Otherwise a wait of seconds would count as one request of thousands.
        """
        self.requests += 1
        self.times.append(seconds)
        for _ in range(ADDED_MAX):
            seconds -= interval
            if seconds <= 0:
                break
            self.times.append(seconds)

    def percentile(self, part: float) -> float:
        """The time that this part of the requests does not exceed; 0 without requests."""
        ordered = sorted(self.times)
        return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else 0.0

    @property
    def p99(self) -> float:
        return self.percentile(0.99)

    def summary(self) -> dict[str, Any]:
        return {"requests": self.requests, "p50": self.percentile(0.5), "p99": self.p99,
                "max": max(self.times, default=0.0), "errors": len(self.errors),
                "first_errors": self.errors[:3]}


Request = Callable[[Any], None]


def repeat(
    connect: Callable[[], Any], until: float, pause: float, request: Request,
    interval: float = INTERVAL_SECONDS
) -> Measure:
    """Repeats a request, alternating between connections, which are replaced after a failure."""
    measure, links, number = Measure(), [None] * CONNECTIONS, 0
    while time.monotonic() < until:
        number = (number + 1) % CONNECTIONS
        began = time.monotonic()
        try:
            links[number] = links[number] or connect()
            request(links[number])
        except LarderError as error:
            measure.errors.append(str(error))
        except (OSError, Closed) as error:
            measure.errors.append(str(error))
            if links[number]:
                links[number].close()
                links[number] = None
        measure.add(time.monotonic() - began, interval)
        time.sleep(pause)
    return measure


def repeated(path: str, until: float, pause: float, request: Request) -> Measure:
    return repeat(
        lambda: Connection(path, "honest", REQUEST_SECONDS), until, pause, request)


def reads(path: str, until: float, items: int) -> Measure:
    """Reads one random object at a time."""
    def request(connection: Connection) -> None:
        key = random.randrange(1, items + 1)
        found = connection.call(wire.frame("get", wire.get(connection.welcome.store, [key])))
        if len(found.batches) != 1:
            raise Closed("an object is missing")
    return repeated(path, until, READ_PAUSE_SECONDS, request)


def connects(path: str, until: float, items: int) -> Measure:
    """Reads one object on a new connection each time."""
    measure = Measure()
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            connection = Connection(path, "honest", REQUEST_SECONDS)
            connection.call(wire.frame("get", wire.get(connection.welcome.store, [1])))
            connection.close()
        except (OSError, Closed, LarderError) as error:
            measure.errors.append(str(error))
        measure.add(time.monotonic() - began, INTERVAL_SECONDS)
        time.sleep(2 * READ_PAUSE_SECONDS)
    return measure


def saves(path: str, until: float, items: int) -> Measure:
    """Inserts one object at a time, each durably."""
    framed = wire.frame("save", wire.save(wire.insert("Note", number=1)))
    return repeated(path, until, SAVE_PAUSE_SECONDS, lambda connection: connection.call(framed))


def keyed_saves(path: str, until: float, items: int) -> Measure:
    """Inserts one object at a time with a key, and the first one again and again."""
    seed = random.getrandbits(120)

    def framed(number: int) -> bytes:
        return wire.frame("save", wire.save(
            wire.insert("Note", number=number), idempotency_key=f"{seed + number:x}"))
    transactions: list[int] = []

    def request(connection: Connection) -> None:
        saved = connection.call(framed(len(transactions)))
        transactions.append(saved.transaction)
        if connection.call(framed(0)).transaction != transactions[0]:
            raise Closed("a save with a key was stored twice")
    return repeated(path, until, SAVE_PAUSE_SECONDS, request)


def atomic_saves(path: str, until: float, items: int) -> Measure:
    """Inserts one object at a time with an atomic insert stream."""
    from raw_client import column
    opened = wire.frame("insert_rows", wire.larder.InsertRequest(entity="Note", atomic=True))
    sent = wire.frame("rows", wire.larder.RowsRequest(
        request_id=1, last=True, batch=wire.messages["batch"].Batch(
            row_count=1, columns=[column("number", "INT64", [1])])), request_id=2)
    return repeated(path, until, SAVE_PAUSE_SECONDS, lambda link: link.call(opened + sent))


def limited_saves(path: str, until: float, items: int) -> Measure:
    """Pings and saves in turn with a time limit; TIMEOUT is an answer as good as the others."""
    framed = [
        wire.frame("ping", wire.larder.PingRequest(), LIMIT_SECONDS),
        wire.frame("save", wire.save(wire.insert("Note", number=1)), LIMIT_SECONDS)]

    def request(connection: Connection) -> None:
        framed.reverse()
        try:
            connection.call(framed[0])
        except LarderError as error:
            if error.code != TIMEOUT_CODE:
                raise
    return repeated(path, until, SAVE_PAUSE_SECONDS, request)


def long_reads(path: str, until: float, items: int) -> Measure:
    """Counts over all items, with another argument each time so that no result is reused."""
    shape = wire.queries.Query(count=wire.queries.CountQuery(
        entity="Item", predicate=wire.where("number * 3 > %@ OR text == %@")))

    def request(connection: Connection) -> None:
        argument = random.getrandbits(40), f"{random.getrandbits(40)}"
        connection.call(wire.frame("query", wire.query(shape, argument)))
    return repeated(path, until, LONG_READ_PAUSE_SECONDS, request)


def disk(folder: pathlib.Path, until: float) -> Measure:
    """How long the disk itself takes to store 4 KiB at the end of a file, as in a log."""
    measure = Measure()
    with tempfile.TemporaryFile(dir=folder) as file:
        descriptor = file.fileno()
        while time.monotonic() < until:
            block = measure.requests % PROBE_BLOCKS_MAX
            began = time.monotonic()
            try:
                if block == 0:
                    os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, bytes(4_096), 4_096 * block)
                os.fdatasync(descriptor)
            except OSError as error:
                # A scenario fills the disk.
                if error.errno != errno.ENOSPC:
                    raise
            measure.add(time.monotonic() - began, INTERVAL_SECONDS)
            time.sleep(SAVE_PAUSE_SECONDS)
    return measure


def echo(until: float) -> Measure:
    """How long two processes take to exchange a message, without a server."""
    measure = Measure()
    own, other = socket.socketpair()
    if os.fork() == 0:
        own.close()
        while message := other.recv(64):
            other.sendall(message)
        os._exit(0)
    other.close()
    with own:
        while time.monotonic() < until:
            began = time.monotonic()
            own.sendall(b"echo")
            own.recv(64)
            measure.add(time.monotonic() - began, INTERVAL_SECONDS)
            time.sleep(READ_PAUSE_SECONDS)
    os.wait()
    return measure


def monitor(path: str, until: float) -> list[tuple[float, float]]:
    """How long a cached `get` waited on any of several connections, with the times of replies.

    Only long waits are returned, and the longest.
    """
    selector, links = selectors.DefaultSelector(), []
    waits: list[tuple[float, float]] = []
    for _ in range(MONITOR_CONNECTIONS):
        began = time.monotonic()
        try:
            links.append(Connection(path, "monitor", REQUEST_SECONDS))
            selector.register(links[-1].socket, selectors.EVENT_READ, links[-1])
        except (OSError, Closed, LarderError):
            # An event loop that is held does not complete a handshake either.
            return [*waits, (time.monotonic(), time.monotonic() - began)]
        waits.append((time.monotonic(), time.monotonic() - began))
    framed = wire.frame("get", wire.get(links[0].welcome.store, [1]))
    due = {link: time.monotonic() for link in links}
    sent: dict[Connection, float] = {}
    while (now := time.monotonic()) < until or (sent and now < until + REQUEST_SECONDS):
        for link in [link for link, moment in due.items() if moment <= now]:
            del due[link]
            sent[link] = time.monotonic()
            try:
                link.send(framed)
            except OSError:
                del sent[link]
        wait = min(due.values(), default=now + MONITOR_IDLE_SECONDS) - now
        for key, _ in selector.select(max(0.0, min(wait, MONITOR_IDLE_SECONDS))):
            link = key.data
            try:
                link.receive()
                due[link] = time.monotonic() + MONITOR_PAUSE_SECONDS
            except Closed:
                selector.unregister(link.socket)
            waits.append((time.monotonic(), time.monotonic() - sent.pop(link)))
        if now >= until:
            due.clear()
    waits += [(now, now - moment) for moment in sent.values()]
    longest = max((wait for _, wait in waits), default=0.0)
    return [each for each in waits if each[1] >= min(longest, MONITOR_NOTED_SECONDS)]
