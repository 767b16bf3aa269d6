"""One user takes what others need: handshakes, readers, entries of queues, streams, disk space."""

import functools
import random
import socket
import time

import wire
from attack import ERROR_PAUSE_SECONDS, Outcome, Target, in_threads, persist
from loop_attacks import SAVE, body
from memory_attacks import large_save
from wire import Closed, Connection, LarderError, field, larder

SILENT_CONNECTIONS = 240
STREAMS_PER_CONNECTION = 4
STREAM_CONNECTIONS = 8
QUEUE_CONNECTIONS = 128
REQUESTS_PER_CONNECTION = 31
ATOMIC_CONNECTIONS = 6
ATOMIC_PER_CONNECTION = 30
SPOOLED_TEXT_BYTES = 8 << 20
PARTS_CONNECTIONS = 3
PARTS_CHANGES = 300_000
PART_BYTES = 1 << 20
SHORT_READ_CONNECTIONS = 64
# The work of a scan over so many is about that of the longest read on an event loop.
SCANNED_ITEMS = 4_000
FRAME_CONNECTIONS = 48
LOOP_FRAME_BYTES = 128 << 10
FEED_CONNECTIONS = 32
FEEDS_PER_CONNECTION = 60
OBSERVERS_PER_CONNECTION = 30
HINT_CONNECTIONS = 16
KEYED_CONNECTIONS = 64


def silent_handshakes(target: Target) -> Outcome:
    """Connects without a `hello`, again whenever the server closes a connection."""
    silent: list[socket.socket] = []
    while target.is_open:
        try:
            while len(silent) < SILENT_CONNECTIONS:
                link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                link.setblocking(False)
                link.connect(target.path)
                silent.append(link)
        except OSError:
            link.close()
        silent = [link for link in silent if is_open(link)]
        time.sleep(ERROR_PAUSE_SECONDS)
    return Outcome(replies=len(silent))


def is_open(link: socket.socket) -> bool:
    """Whether the server has not closed a connection; closes it otherwise."""
    try:
        while link.recv(4_096):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    link.close()
    return False


def held_streams(target: Target) -> Outcome:
    """Streams without credit, on as many connections as may hold all readers."""
    def round(connection: Connection, outcome: Outcome) -> None:
        connection.send(b"".join(
            wire.frame("query", wire.fetch(credit=1), 30.0, 1 + each)
            for each in range(STREAMS_PER_CONNECTION)))
        # One reply per stream, and then nothing until the server ends one.
        for _ in range(STREAMS_PER_CONNECTION + 1):
            outcome.check(connection.envelope())
    return in_threads(target, STREAM_CONNECTIONS, lambda target: persist(target, round))


def stopped_followers(target: Target) -> Outcome:
    """Streams that follow the history and are not read, without a limit by credit."""
    request = wire.larder.HistoryRequest(
        start=wire.messages["history"].HISTORY_START_NOW, follow=True)

    def round(connection: Connection, _: Outcome) -> None:
        connection.send(b"".join(
            wire.frame("history", request, 0, 1 + each) for each in range(FEEDS_PER_CONNECTION)))
        time.sleep(max(0.0, target.until - time.monotonic()))
    return in_threads(target, FEED_CONNECTIONS, lambda target: persist(target, round))


def observers(target: Target) -> Outcome:
    """Hundreds of different live queries, which every save of a note concerns."""
    def round(connection: Connection, outcome: Outcome) -> None:
        first = random.randrange(1 << 30)
        connection.send(b"".join(
            wire.frame("observe", wire.larder.ObserveRequest(query=wire.fetch(
                f"number != {first + each}", entity="Note", limit=20)), 0, 1 + each)
            for each in range(OBSERVERS_PER_CONNECTION)))
        while target.is_open:
            outcome.check(connection.envelope())
    return in_threads(target, FEED_CONNECTIONS, lambda target: persist(target, round))


def object_followers(target: Target) -> Outcome:
    """Streams that follow the history with different predicates; every save concerns each."""
    def round(connection: Connection, outcome: Outcome) -> None:
        first = random.randrange(1 << 30)
        connection.send(b"".join(
            wire.frame("history", wire.larder.HistoryRequest(
                start=wire.messages["history"].HISTORY_START_NOW, follow=True,
                objects=[wire.fetch(f"number != {first + each}", entity="Note")]), 0, 1 + each)
            for each in range(OBSERVERS_PER_CONNECTION)))
        while target.is_open:
            outcome.check(connection.envelope())
    return in_threads(target, FEED_CONNECTIONS, lambda target: persist(target, round))


def full_write_queue(target: Target) -> Outcome:
    """Thousands of small saves that wait for the writer."""
    def round(connection: Connection, outcome: Outcome) -> None:
        note = wire.save(wire.insert("Note", number=1))
        connection.send(b"".join(
            wire.frame("save", note, 0, 1 + each) for each in range(REQUESTS_PER_CONNECTION)))
        for _ in range(REQUESTS_PER_CONNECTION):
            outcome.check(connection.envelope())
    return in_threads(target, QUEUE_CONNECTIONS, lambda target: persist(target, round))


def large_saves(target: Target) -> Outcome:
    """Saves of 220,000 inserts, one after the other."""
    framed = large_save()
    return persist(target, lambda connection, _: connection.call(framed) and None)


def atomic_streams(target: Target) -> Outcome:
    """Atomic streams that are opened and never ended."""
    opened = wire.larder.InsertRequest(entity="Note", atomic=True)

    def round(connection: Connection, outcome: Outcome) -> None:
        connection.send(b"".join(
            wire.frame("insert_rows", opened, 0, 1 + each)
            for each in range(ATOMIC_PER_CONNECTION)))
        while True:
            outcome.check(connection.envelope())
            time.sleep(ERROR_PAUSE_SECONDS)
    return in_threads(target, ATOMIC_CONNECTIONS, lambda target: persist(target, round))


@functools.cache
def parts() -> list[bytes]:
    """A set of small inserts, which has too many changes for one frame."""
    start = b"\x08\x01"
    content = b"".join(
        field(1, start + field(2, field(2, b"Dot") + field(4, b"%06d" % number)))
        for number in range(PARTS_CHANGES))
    return [content[offset:offset + PART_BYTES] for offset in range(0, len(content), PART_BYTES)]


def saves_in_parts(target: Target) -> Outcome:
    """Saves of 300,000 inserts in parts, one after the other, with others that never end."""
    def round(connection: Connection, outcome: Outcome) -> None:
        connection.send(wire.frame("save_in_parts", larder.SaveInPartsRequest()))
        # The abandoned one ends with the connection.
        connection.send(wire.frame("save_in_parts", larder.SaveInPartsRequest(), 0, 2))
        pieces = parts()
        try:
            for index, piece in enumerate(pieces):
                is_last = index + 1 == len(pieces)
                part = larder.SavePartRequest(request_id=1, content=piece, last=is_last)
                connection.send(wire.frame("save_part", part, 0, 3 + index))
                if not is_last:
                    connection.reply()
            connection.replies()
        except LarderError as error:
            outcome.refuse(error)
        raise Closed
    return in_threads(target, PARTS_CONNECTIONS, lambda target: persist(target, round))


def spool(target: Target) -> Outcome:
    """Sends rows of atomic streams, never ended, until no more are accepted, again and again."""
    column = wire.messages["batch"].Column(
        name="text", type=wire.messages["batch"].COLUMN_TYPE_STRING,
        heap=b"x" * SPOOLED_TEXT_BYTES, ends=[SPOOLED_TEXT_BYTES])
    number = wire.messages["batch"].Column(
        name="number", type=wire.messages["batch"].COLUMN_TYPE_INT64, integers=[1])
    opened = wire.frame("insert_rows", larder.InsertRequest(entity="Note", atomic=True))
    rows = wire.frame("rows", larder.RowsRequest(
        request_id=1, batch=wire.messages["batch"].Batch(
            row_count=1, columns=[number, column])), request_id=2)
    outcome = Outcome()
    while target.is_open:
        connection = None
        try:
            connection = target.connect(5.0)
            connection.send(opened)
            while target.is_open:
                connection.send(rows)
                connection.reply()
                outcome.replies += 1
        except (OSError, Closed, LarderError) as error:
            # The stream has ended, and its rows are freed; another attacker keeps its own.
            outcome.refuse(error)
            time.sleep(ERROR_PAUSE_SECONDS)
        if connection:
            connection.close()
    return outcome


def short_reads(target: Target) -> Outcome:
    """Queries that are each short enough for an event loop, many at once on many connections."""
    shape = wire.queries.Query(fetch=wire.queries.FetchQuery(
        entity="Item", predicate=wire.where("number * 1 == %@"),
        selection=wire.queries.SELECTION_OBJECTS))

    def round(connection: Connection, outcome: Outcome) -> None:
        connection.send(b"".join(
            wire.frame("query", wire.query(
                shape, (random.randrange(SCANNED_ITEMS),), limit=1), 0, 1 + each)
            for each in range(REQUESTS_PER_CONNECTION)))
        for _ in range(REQUESTS_PER_CONNECTION):
            outcome.check(connection.envelope())
    return in_threads(target, SHORT_READ_CONNECTIONS, lambda target: persist(target, round))


@functools.cache
def short_frames() -> list[bytes]:
    """Saves as long as an event loop decodes itself: many empty changes, and many small ones."""
    change = field(1, b"\x08\x01" + field(2, field(2, b"Note") + field(4, b"x")))
    return [body(SAVE, each * ((LOOP_FRAME_BYTES - 64) // len(each)))
            for each in (field(1, b""), change)]


def frames_for_loop(target: Target) -> Outcome:
    """Frames that take an event loop as long as possible, on many connections."""
    def round(connection: Connection, outcome: Outcome) -> None:
        for framed in short_frames():
            connection.send(framed)
            outcome.check(connection.envelope())
    return in_threads(target, FRAME_CONNECTIONS, lambda target: persist(target, round))


def unknown_names(target: Target) -> Outcome:
    """Queries with names that nothing has, for which the server searches similar ones."""
    def texts(number: int) -> list[str]:
        return [f'hour(created, "Nowhere/X{number}") == 1', f"nowhere{number} == 1",
                f"nowhere{number}(number) == 1", f'startOf(created, "nowhere{number}") == $d']

    def round(connection: Connection, outcome: Outcome) -> None:
        first = random.randrange(1 << 30)
        listed = [text for each in range(5) for text in texts(first + each)]
        connection.send(b"".join(
            wire.frame("query", wire.fetch(text, entity="Dated"), 0, 1 + index)
            for index, text in enumerate(listed)))
        for _ in listed:
            outcome.check(connection.envelope())
    return in_threads(target, HINT_CONNECTIONS, lambda target: persist(target, round))


def keyed_saves(target: Target) -> Outcome:
    """Saves with keys, each another one, from as many connections as a user may have at once."""
    def round(connection: Connection, outcome: Outcome) -> None:
        first = random.randrange(1 << 60)
        connection.send(b"".join(
            wire.frame("save", wire.save(
                wire.insert("Dot", number=each), idempotency_key=f"{first + each:x}"), 0, 1 + each)
            for each in range(REQUESTS_PER_CONNECTION)))
        for _ in range(REQUESTS_PER_CONNECTION):
            outcome.check(connection.envelope())
    return in_threads(target, KEYED_CONNECTIONS, lambda target: persist(target, round))
