"""Snapshots that keep the write-ahead log from being checkpointed."""

import time

import wire
from attack import Outcome, Target, persist
from wire import Closed, Connection, LarderError

STREAMS_MAX = 12
OPEN_PAUSE_SECONDS = 0.5
CREDIT_PAUSE_SECONDS = 0.05
REPLACED_BYTES = 4 << 20


def staggered_streams(target: Target) -> Outcome:
    """Opens a stream every half second, reads all slowly, and replaces the oldest."""
    outcome, streams, opened = Outcome(), [], 0.0
    framed = wire.frame("query", wire.fetch(credit=2), 30.0)
    credit = wire.frame("credit", wire.larder.CreditRequest(request_id=1, batches=1), request_id=2)
    while target.is_open:
        if time.monotonic() - opened > OPEN_PAUSE_SECONDS:
            opened = time.monotonic()
            if len(streams) == STREAMS_MAX:
                streams.pop(0).close()
            try:
                streams.append(target.connect(1.0))
                streams[-1].send(framed)
            except (OSError, Closed, LarderError):
                time.sleep(CREDIT_PAUSE_SECONDS)
        for stream in list(streams):
            try:
                stream.call_once(credit)
                outcome.replies += 1
            except (OSError, Closed, LarderError) as error:
                outcome.refuse(error)
                stream.close()
                streams.remove(stream)
        time.sleep(CREDIT_PAUSE_SECONDS)
    return outcome


def replace_texts(target: Target) -> Outcome:
    """Saves that write a few mebibytes each to the same objects."""

    def round(connection: Connection, outcome: Outcome) -> None:
        store = connection.welcome.store
        # SQLite writes only pages that have changed.
        text = "abcdefgh"[outcome.replies % 8] * (REPLACED_BYTES // 4)
        connection.call(wire.frame("save", wire.save(*[
            wire.changes.Change(
                kind=wire.changes.CHANGE_KIND_UPDATE,
                object=wire.values.Identifier(store=store, entity="Item", key=key),
                values=[wire.changes.PropertyValue(
                    name="text", value=wire.values.Value(string_value=text))])
            for key in range(1, 5)])))
    return persist(target, round)
