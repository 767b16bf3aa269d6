"""Frames that take long to decode, convert or refuse, and a disk that stalls."""

import functools
import pathlib
import time
from collections.abc import Callable

import wire
from attack import Outcome, Target, cycle, persist
from wire import field, framed, varint

MIB = 1 << 20
# Leaves room for the fields around a repeated one.
FRAME_BYTES = 16 * MIB - 1_024
LIST_VALUES = 65_536
REQUEST_MILLISECONDS = 30_000
# Long in NFC and long to fold: letters with combining marks.
DECOMPOSED = "A\u0308e\u0301o\u0302u\u0323\u0302"
# Numbers of the fields in Envelope.
GET, QUERY, EXPLAIN, SAVE, STATISTICS, PING, CANCEL, INSERT_ROWS, ROWS = (
    11, 12, 13, 14, 16, 17, 19, 21, 22)
UNKNOWN_BODY, RESERVED_FIELD = 29, 900


def text_of(bytes_count: int, unit: str = DECOMPOSED) -> str:
    return unit * (bytes_count // len(unit.encode()))


@functools.cache
def folded_query(uses: int, bytes_count: int = MIB) -> bytes:
    """One variable of up to 1 MB that each of the comparisons folds."""
    format = " OR ".join(["text ==[cd] $v"] * uses)
    return wire.frame("query", wire.fetch(
        format, variables={"v": text_of(bytes_count)}), timeout=1.0)


@functools.cache
def folded_frames() -> list[tuple[str, bytes]]:
    return [(f"{uses} uses", folded_query(uses)) for uses in (1, 10, 40)]


def folded(target: Target) -> Outcome:
    return cycle(target, built(folded_frames()))


def built(frames: list[tuple[str, bytes]]) -> list[tuple[str, Callable]]:
    """Frames that exist already, in the form that `cycle` takes."""
    return [(kind, lambda _, made=made: made) for kind, made in frames]


def text_query(arguments: list[str], format: str, kind: str = "query") -> bytes:
    return wire.frame(kind, wire.fetch(
        format, tuple(arguments), arguments_are_text=True), timeout=1.0)


@functools.cache
def decimal_frames() -> list[tuple[str, bytes]]:
    """3.9 MB of decimals as text, with as many digits as a frame of that size allows."""
    one = "1" + "0" * 53 + "e-53"
    quoted = "[" + ",".join([f'"{one}"'] * 62_000) + "]"
    plain = "[" + ",".join([one] * 65_000) + "]"
    single = " OR ".join(["number == %@"] * 1_000)
    return [
        ("quoted in a list", text_query([quoted], "price IN %@")),
        ("in a list", text_query([plain], "price IN %@")),
        ("as integers", text_query([plain], "number IN %@")),
        ("explained", text_query([plain], "price IN %@", "explain")),
        ("one by one", text_query(["0" * 3_800 + "1"] * 1_000, single))]


def decimals(target: Target) -> Outcome:
    return cycle(target, built(decimal_frames()))


def json_documents() -> list[tuple[str, bytes]]:
    """Documents of 15 MiB: numbers, names, strings with escapes, and nested arrays."""
    size = 15 * MIB
    names = ",".join(f'"{number:07d}":{number}' for number in range(size // 17))
    return [
        ("numbers", b"[" + b"1," * (size // 2 - 1) + b"1]"),
        ("names", b"{" + names.encode() + b"}"),
        ("escapes", b'["' + b"\\u00e4" * (size // 6) + b'"]'),
        ("nested", b"[" + b",".join([b"[" * 60 + b"]" * 60] * (size // 121)) + b"]")]


def save_of_value(kind: int, content: bytes, name: bytes = b"details") -> bytes:
    """A save that inserts an item with one large value, a field of Value."""
    item = field(2, field(2, b"Item") + field(4, b"t:new"))
    number = field(4, field(1, b"number") + field(2, b"\x18\x02"))
    text = field(4, field(1, b"text") + field(2, field(7, b"x")))
    large = field(4, field(1, name) + field(2, field(kind, content)))
    given = large if name == b"text" else text + large
    return body(SAVE, field(1, b"\x08\x01" + item + number + given))


@functools.cache
def json_frames() -> list[tuple[str, bytes]]:
    return [(kind, save_of_value(12, document)) for kind, document in json_documents()]


def json_save(target: Target) -> Outcome:
    return cycle(target, built(json_frames()))


def body(number: int, content: bytes, request_id: int = 1) -> bytes:
    """The frame of a request whose body is given as bytes."""
    envelope = b"\x08" + varint(request_id) + b"\x10" + varint(REQUEST_MILLISECONDS)
    return framed(envelope + field(number, content))


def filled(unit: bytes, before: bytes = b"") -> bytes:
    """A message that repeats a field until the frame is full."""
    return before + unit * ((FRAME_BYTES - len(before)) // len(unit))


def large_queries() -> dict[str, Callable[[bytes], bytes]]:
    """Queries and explains of 16 MiB."""
    shape = wire.fetch("text IN %@").shape
    word = field(7, b"w" * 200)
    one_list = field(2, field(2, field(1, word) * LIST_VALUES))
    number = field(1, b"\x18\x02")
    text_array = b"[" + b'"a",' * (FRAME_BYTES // 4 - 20) + b'"a"]'
    node = field(1, b"\x08\x03")
    sort = field(3, field(1, field(1, b"number")))
    return {
        "query, a list of strings": lambda _: body(QUERY, field(1, shape) + one_list),
        "query, many small values": lambda _: body(QUERY, filled(
            field(2, field(2, number * LIST_VALUES)), field(1, shape))),
        "query, values as text": lambda _: body(QUERY, field(1, shape) + field(
            2, field(1, field(7, text_array))) + b"\x18\x01"),
        "query, many arguments": lambda _: body(QUERY, filled(
            field(2, field(1, field(7, b"a" * 4_080))), field(1, shape))),
        "query, millions of arguments": lambda _: body(QUERY, filled(
            field(2, number), field(1, shape))),
        "query, variables": lambda _: body(QUERY, filled(
            field(7, field(1, b"v") + field(2, number)), field(1, shape))),
        "query, after": lambda _: body(QUERY, filled(field(8, b"\x18\x02"), field(1, shape))),
        "query, nodes": lambda _: body(QUERY, field(1, field(2, field(1, b"Item") + field(
            2, field(2, filled(node)))))),
        "query, sort keys": lambda _: body(QUERY, field(1, field(1, filled(
            sort, field(1, b"Item"))))),
        "query, a long format": lambda _: body(QUERY, field(1, field(2, field(1, b"Item") + field(
            2, field(1, b"number == 1 OR " * (255 << 10 >> 4) + b"TRUEPREDICATE"))))),
        "query, a format of 16 MiB": lambda _: body(QUERY, field(1, field(2, field(
            1, b"Item") + field(2, field(1, b"(" * (FRAME_BYTES)))))),
        "explain, a list of strings": lambda _: body(EXPLAIN, field(1, shape) + one_list),
        "explain, values as text": lambda _: body(EXPLAIN, field(1, shape) + field(
            2, field(1, field(7, text_array))) + b"\x18\x01"),
    }


def large_saves() -> dict[str, Callable[[bytes], bytes]]:
    """Change sets of 16 MiB, which are refused where that takes as long."""
    temporary = field(2, field(2, b"Note") + field(4, b"t"))
    value = field(4, field(1, b"number") + field(2, b"\x18\x02"))
    absent = field(2, field(2, b"Item") + b"\x18" + varint(1 << 40))
    long_text = (DECOMPOSED * (FRAME_BYTES // len(DECOMPOSED.encode()) - 20)).encode()
    return {
        "save, inserts without values": lambda _: body(SAVE, filled(
            field(1, b"\x08\x01" + temporary))),
        "save, one name twice": lambda _: body(SAVE, filled(
            field(1, b"\x08\x01" + temporary + value))),
        "save, absent objects": lambda store: body(SAVE, filled(field(
            1, b"\x08\x03" + field(2, field(1, store) + field(2, b"Item") + b"\x18" + varint(
                1 << 40))))),
        "save, deletes without store": lambda _: body(SAVE, filled(field(1, b"\x08\x03" + absent))),
        "save, many properties": lambda _: body(SAVE, field(1, filled(
            value, b"\x08\x01" + temporary))),
        "save, a long string": lambda _: save_of_value(7, long_text, b"text"),
        "save, a long decimal": lambda _: save_of_value(6, b"7" * (FRAME_BYTES), b"price"),
        "save, objects of a value": lambda store: body(SAVE, field(
            1, b"\x08\x02" + temporary + field(4, field(1, b"number") + field(2, field(14, filled(
                field(1, field(1, store) + field(2, b"Item") + b"\x18\x01"))))))),
        "save, changes by predicate": lambda _: body(SAVE, filled(field(1, b"\x08\x04" + field(
            7, field(1, b"Item") + field(2, field(1, b"number == -1")))))),
        "save, edits": lambda _: body(SAVE, field(1, filled(
            field(6, field(1, b"x") + b"\x10\x01"), b"\x08\x02" + temporary))),
    }


def large_others() -> dict[str, Callable[[bytes], bytes]]:
    """The other requests, with and without faults."""
    def identifiers(store: bytes, count: int) -> bytes:
        return b"".join(field(1, field(1, store) + field(2, b"Item") + b"\x18" + varint(key))
                        for key in range(1, count + 1))

    def rows(name: bytes, values: int, count: int) -> Callable[[bytes], bytes]:
        column = field(1, name) + b"\x10\x04" + field(4, b"\x01" * 8 * values)
        batch = b"\x08" + varint(count) + field(3, column)
        return lambda _: body(INSERT_ROWS, field(1, b"Item")) + body(
            ROWS, b"\x08\x01" + field(2, batch) + b"\x18\x01", request_id=2)

    integers = 2_000_000
    return {
        "get, 65,536 objects": lambda store: body(GET, identifiers(store, LIST_VALUES)),
        "get, one object often": lambda store: body(GET, filled(
            field(1, field(1, store) + field(2, b"Item") + b"\x18\x01"))),
        "get, many names": lambda store: body(GET, identifiers(store, 1) + field(
            2, filled(field(1, b"text")))),
        "rows, an unknown column": rows(b"nothing", integers, integers),
        "rows, a column is missing": rows(b"number", integers, integers),
        "rows, too few values": rows(b"number", integers, 8 * integers),
        "rows without a stream": lambda _: body(ROWS, b"\x08\x63" + field(
            2, b"\x08\x01" + filled(field(3, field(1, b"a"))))) + body(
                PING, b"", request_id=3),
        "ping, unknown fields": lambda _: body(PING, filled(varint(RESERVED_FIELD << 3) + b"\x01")),
        "statistics, unknown fields": lambda _: body(STATISTICS, filled(
            field(RESERVED_FIELD, b""))),
        "an id often": lambda _: framed(filled(b"\x08\x01") + field(PING, b"")),
        "a body often": lambda _: framed(filled(field(PING, b""), b"\x08\x01")),
        "an unknown body": lambda _: body(UNKNOWN_BODY, filled(b"\x08\x01")),
        "groups": lambda _: framed(filled(b"\x0b")),
        "not a message": lambda _: framed(b"\xff" * FRAME_BYTES),
    }


def large_frames(target: Target) -> Outcome:
    kinds = large_queries() | large_saves() | large_others()
    return cycle(target, [
        (kind, lambda connection, make=make: make(connection.welcome.store))
        for kind, make in kinds.items()])


STALL_SECONDS = 3.0
STALL_PAUSE_SECONDS = 1.0


def stall_switch(store: pathlib.Path) -> pathlib.Path:
    """While this file exists, the disk's syncs wait."""
    return store.with_name("stall")


def stalled_disk(target: Target) -> Outcome:
    """Saves in a loop, as the only busy client of its event loop."""
    note = wire.frame("save", wire.save(wire.insert("Note", number=1)))
    return persist(target, lambda connection, _: connection.call(note) and None)


def stall(target: Target) -> Outcome:
    """Stalls the disk again and again; it runs under the server's user."""
    switch = stall_switch(pathlib.Path(target.path))
    outcome = Outcome()
    while target.is_open:
        time.sleep(STALL_PAUSE_SECONDS)
        switch.touch()
        time.sleep(min(STALL_SECONDS, max(0.1, target.until - time.monotonic())))
        switch.unlink(missing_ok=True)
        outcome.replies += 1
    return outcome
