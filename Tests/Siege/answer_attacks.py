"""Change sets whose answer is as large as a frame, and long work at once for the watchdog."""

import functools
import socket
import time

import wire
from attack import Outcome, Target, hold_writer, in_threads, persist
from loop_attacks import SAVE, body, folded_query
from wire import Closed, Connection, LarderError, field

# About 29 bytes of the answer per insert: the first does not fit a frame of 16 MiB. A set may have
# 250,000 changes, so that the first three are refused; once they were stored.
COUNTS_AND_DELAYS = [(600_000, 0.0), (550_000, 3.0), (300_000, 5.0), (249_000, 0.0), (249_000, 5.0)]
QUICK_COUNTS_AND_DELAYS = [(249_000, 1.0)]
ANSWER_SECONDS = 90.0
ROWS_PER_FRAME = 200_000


@functools.cache
def dots(count: int) -> bytes:
    """A set of small inserts."""
    start = b"\x08\x01"
    changes = [field(1, start + field(2, field(2, b"Dot") + field(4, b"%06d" % number)))
               for number in range(count)]
    return body(SAVE, b"".join(changes))


def count_of_dots(target: Target) -> int:
    shape = wire.queries.Query(count=wire.queries.CountQuery(entity="Dot"))
    connection = Connection(target.path, "attacker", ANSWER_SECONDS)
    try:
        reply = connection.call(wire.frame("query", wire.query(shape), ANSWER_SECONDS))
    finally:
        connection.close()
    return reply.batches[0].columns[0].integers[0]


def large_answers(target: Target) -> Outcome:
    """Sends each set once; its answer must be true, whole, and not `failed` after a commit."""
    outcome = Outcome()
    for count, delay in QUICK_COUNTS_AND_DELAYS if target.quick else COUNTS_AND_DELAYS:
        framed = dots(count)
        before = count_of_dots(target)
        connection = Connection(target.path, "attacker", ANSWER_SECONDS)
        try:
            connection.send(framed)
            # The answer has begun to arrive.
            connection.socket.recv(1, socket.MSG_PEEK)
            time.sleep(delay)
            reply = connection.reply()
            answer = f"{len(reply.inserted)} identifiers"
            is_right = len(reply.inserted) == count
            committed = count
        except LarderError as error:
            answer, is_right, committed = str(error)[:80], True, 0
        except (OSError, Closed) as error:
            answer, is_right, committed = str(error), False, None
        finally:
            connection.close()
        stored = count_of_dots(target) - before
        outcome.replies += 1
        if not is_right or stored != committed:
            outcome.wrong.append(f"{count} inserts: {stored} stored, answer: {answer}")
    return outcome


def long_atomic_stream(target: Target) -> Outcome:
    """One atomic stream after another, each of a million rows."""
    column = wire.messages["batch"].Column(
        name="number", type=wire.messages["batch"].COLUMN_TYPE_INT64,
        integers=range(ROWS_PER_FRAME))
    batch = wire.messages["batch"].Batch(row_count=ROWS_PER_FRAME, columns=[column])
    opened = wire.frame("insert_rows", wire.larder.InsertRequest(entity="Dot", atomic=True))
    rows = [wire.frame("rows", wire.larder.RowsRequest(
        request_id=1, last=number == 4, batch=batch), request_id=2 + number)
        for number in range(5)]

    def round(connection: Connection, _: Outcome) -> None:
        connection.send(opened)
        for framed in rows:
            connection.send(framed)
            connection.reply()
        connection.replies()
    return persist(target, round)


def long_work(target: Target) -> Outcome:
    """A slow change by predicate beside an atomic stream and a query that folds for long."""
    works = [hold_writer, long_atomic_stream, fold]
    return in_threads(target, len(works), lambda target: works.pop()(target))


def fold(target: Target) -> Outcome:
    framed = folded_query(40)
    return persist(target, lambda connection, _: connection.call(framed) and None)
