"""Requests that wait in the server's memory, and queries that leave something there."""

import functools
import random

import wire
from answer_attacks import dots
from attack import Outcome, Target, in_threads, persist
from loop_attacks import QUERY, SAVE, body
from wire import Connection, field

QUERY_CONNECTIONS = 60
SAVE_CONNECTIONS = 27
LIST_VALUES = 65_536
VALUE_BYTES = 72
# As many as the memory of one user allows.
CHANGES_PER_SAVE = 220_000
DOTS_PER_SAVE = 240_000
PLAN_CONNECTIONS = 16
# In a long query and in a short one.
SEARCHES = 1_000
COMPARISONS = 800


@functools.cache
def large_query() -> bytes:
    """A query of 15 MiB: three lists of strings."""
    shape = wire.fetch("text IN %@ OR text IN %@ OR text IN %@").shape
    strings = b"".join(
        field(1, field(7, b"%0*d" % (VALUE_BYTES, number))) for number in range(LIST_VALUES))
    return body(QUERY, field(1, shape) + field(2, field(2, strings)) * 3)


@functools.cache
def large_save() -> bytes:
    """A change set of 7 MiB: almost as many inserts with a value as one may have."""
    digits = b"000000"
    change = field(1, b"\x08\x01" + field(2, field(2, b"Note") + field(4, digits)) + field(
        4, field(1, b"number") + field(2, b"\x18\x02")))
    before, after = change.split(digits)
    return body(SAVE, b"".join(
        before + b"%06d" % number + after for number in range(CHANGES_PER_SAVE)))


def waiting_queries(target: Target) -> Outcome:
    """Large queries, which wait because slow ones of the same user use all readers."""
    framed = large_query()
    return in_threads(target, QUERY_CONNECTIONS, lambda target: persist(
        target, lambda connection, _: connection.call(framed) and None))


def waiting_dots() -> bytes:
    return dots(DOTS_PER_SAVE)


def waiting_saves(target: Target) -> Outcome:
    """130 MiB of saves, which wait because a slow change of the same user uses the writer."""
    framed = waiting_dots()
    return in_threads(target, SAVE_CONNECTIONS, lambda target: persist(
        target, lambda connection, _: connection.call(framed) and None))


def plans(target: Target) -> Outcome:
    """Different queries of 1,000 SEARCH and of 800 comparisons, whose plans are large."""
    def round(connection: Connection, outcome: Outcome) -> None:
        first = random.randrange(1 << 20)
        for text in (" OR ".join(f"SEARCH(text, 'w{first + each}')" for each in range(SEARCHES)),
                     " OR ".join(f"number=={first + each}" for each in range(COMPARISONS))):
            connection.send(wire.frame("query", wire.fetch(text, limit=1)))
            outcome.check(connection.envelope())
    return in_threads(target, PLAN_CONNECTIONS, lambda target: persist(target, round))
