"""Work that outlives its client, and migrations that keep others out."""

import random
import time

import wire
from attack import ERROR_PAUSE_SECONDS, SLOW_PREDICATE, Outcome, Target, in_threads, persist
from wire import Closed, Connection, LarderError, larder

ABANDONING_CONNECTIONS = 20
OBSERVERS_PER_CONNECTION = 500
MIGRATING_CONNECTIONS = 4
REFUSAL = "may not migrate"


def slow_observers() -> bytes:
    """Requests to observe counts that compute for long, each another one."""
    first = random.randrange(1 << 30)
    return b"".join(
        wire.frame("observe", larder.ObserveRequest(query=wire.query(
            wire.queries.Query(count=wire.queries.CountQuery(
                entity="Item",
                predicate=wire.where(f"number != {first + each} AND {SLOW_PREDICATE}"))))),
            0, 1 + each)
        for each in range(OBSERVERS_PER_CONNECTION))


def abandoned_observers(target: Target) -> Outcome:
    """Observes slow queries and closes the connection before their first result, again and again."""
    def abandon(target: Target) -> Outcome:
        outcome, frames = Outcome(), slow_observers()
        ping = wire.frame("ping", larder.PingRequest(), 0, 1 + OBSERVERS_PER_CONNECTION)
        while target.is_open:
            try:
                connection = target.connect()
            except (OSError, Closed, LarderError) as error:
                outcome.refuse(error)
                time.sleep(ERROR_PAUSE_SECONDS)
                continue
            try:
                # The server has received all requests when it replies to the last one.
                connection.send(frames + ping)
                connection.reply()
            except (OSError, Closed, LarderError) as error:
                outcome.refuse(error)
            connection.close()
            outcome.replies += 1
        return outcome
    return in_threads(target, ABANDONING_CONNECTIONS, abandon)


def migrations(target: Target) -> Outcome:
    """Begins migration sessions in a loop, and keeps the connections open."""
    begin = wire.frame("migrate", larder.MigrateRequest(action=larder.MIGRATION_ACTION_BEGIN))

    def round(connection: Connection, outcome: Outcome) -> None:
        envelope = connection.call(begin)
        outcome.wrong.append(f"a session began for any user: {envelope}"[:100])
    outcome = in_threads(target, MIGRATING_CONNECTIONS, lambda target: persist(target, round))
    if not any(REFUSAL in text for text in outcome.refusals):
        outcome.wrong.append("no session was refused")
    return outcome
