"""What is there for operators, used by others: metrics, activity, statistics, the end of requests.

And a user with as many connections as it may have, who does all that it may.
"""

import pathlib
import random
import socket
import time
from collections.abc import Callable

import wire
from attack import (
    ERROR_PAUSE_SECONDS, Outcome, Target, hold_readers, in_threads, persist, slow_count)
from processes import ATTACKER_USER, HONEST_USER
from wire import Closed, Connection, LarderError, larder

METRICS_CONNECTIONS = 24
ACTIVITY_CONNECTIONS = 8
ENDING_CONNECTIONS = 4
CONNECTION_NUMBERS = 200
# The shares are those of a user: 200 connections in four processes.
PROCESSES, CONNECTIONS_PER_PROCESS = 4, 50
REQUESTS_AT_ONCE = 16
OPERATOR_PAUSE_SECONDS = 0.2
HTTP_SECONDS = 5.0

activity = wire.messages["activity"]


def metrics_path(target: Target) -> str:
    """The socket of the metrics, next to that of the server."""
    return str(pathlib.Path(target.path).with_name("m"))


def scrape(path: str, head: bytes) -> bytes:
    """Sends bytes to the socket of the metrics, and returns the whole response."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(HTTP_SECONDS)
        link.connect(path)
        link.sendall(head)
        response = b""
        while part := link.recv(1 << 16):
            response += part
        return response


def scrapes(target: Target) -> Outcome:
    """Requests for the metrics, whole, cut, too long and malformed, on many connections at once."""
    heads = [
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /metrics HTTP/1.0\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"a: " + b"b" * (1 << 14),
        b"\x00" * 4_096, b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /metr"]

    def work(target: Target) -> Outcome:
        outcome = Outcome()
        while target.is_open:
            try:
                scrape(metrics_path(target), random.choice(heads))
                outcome.replies += 1
            except OSError as error:
                # The server closes connections above its maximum.
                outcome.refuse(error)
                time.sleep(ERROR_PAUSE_SECONDS)
        return outcome
    return in_threads(target, METRICS_CONNECTIONS, work)


def reports(target: Target) -> Outcome:
    """Reads the metrics, the statistics and the activity, several requests at once."""
    frames = b"".join(
        wire.frame(kind, body, 0, 1 + index) for index, (kind, body) in enumerate([
            ("metrics", activity.MetricsRequest()), ("activity", activity.ActivityRequest()),
            ("query_statistics", activity.QueryStatisticsRequest()),
            ("query_statistics", activity.QueryStatisticsRequest(reset=True)),
            ("statistics", larder.StatisticsRequest())]))

    def round(connection: Connection, outcome: Outcome) -> None:
        connection.send(frames)
        for _ in range(5):
            envelope = connection.envelope()
            outcome.check(envelope)
            if envelope.id == 4 and not envelope.HasField("failed"):
                outcome.wrong.append("another user reset the statistics")
    return in_threads(target, ACTIVITY_CONNECTIONS, lambda target: persist(target, round))


def ends(target: Target) -> Outcome:
    """Ends the requests of all connections, those of other users included."""
    def round(connection: Connection, outcome: Outcome) -> None:
        for number in range(1, CONNECTION_NUMBERS):
            if not target.is_open:
                return
            connection.send(wire.frame(
                "end_requests", activity.EndRequestsRequest(connection=number)))
            outcome.check(connection.envelope())
    return in_threads(target, ENDING_CONNECTIONS, lambda target: persist(target, round))


def ended_queries(target: Target) -> Outcome:
    """Slow queries, which root ends."""
    return hold_readers(target, connections=2)


def operator(target: Target) -> Outcome:
    """Root reads the metrics and ends what the attackers run; both must work at any time."""
    outcome, ended = Outcome(), 0

    def round(connection: Connection, outcome: Outcome) -> None:
        nonlocal ended
        time.sleep(OPERATOR_PAUSE_SECONDS)
        report = connection.call(wire.frame("activity", activity.ActivityRequest()))
        for request in report.running:
            if request.source.user == ATTACKER_USER and request.kind == "query":
                connection.send(wire.frame("end_requests", activity.EndRequestsRequest(
                    connection=request.connection, request=request.request)))
                reply = connection.envelope()
                outcome.check(reply)
                ended += reply.ended_requests.count
    outcome.add(persist(target, round))
    if not ended:
        outcome.wrong.append("root ended no request of the attackers")
    if outcome.refusals:
        outcome.wrong.append(f"root was refused: {next(iter(outcome.refusals))}")
    return outcome


# All that a user may do.

def gets(connection: Connection, target: Target) -> bytes:
    return b"".join(
        wire.frame("get", wire.get(
            connection.welcome.store, [random.randrange(1, target.items)]), 0, 1 + each)
        for each in range(REQUESTS_AT_ONCE))


def inserts(_: Connection, __: Target) -> bytes:
    note = wire.save(wire.insert("Note", number=1))
    return b"".join(wire.frame("save", note, 0, 1 + each) for each in range(REQUESTS_AT_ONCE))


def counts(_: Connection, __: Target) -> bytes:
    return b"".join(slow_count(10.0, 1 + each) for each in range(2))


def fetches(_: Connection, __: Target) -> bytes:
    return b"".join(
        wire.frame("query", wire.fetch("number > %@", (random.randrange(1_000),), limit=1_000),
                   10.0, 1 + each) for each in range(4))


def everything(target: Target) -> Outcome:
    """Reads, durable inserts, long reads and results of 1,000 objects on 50 connections."""
    kinds: list[Callable[[Connection, Target], bytes]] = [gets, inserts, counts, fetches, inserts]

    def work(target: Target) -> Outcome:
        make = random.choice(kinds)

        def round(connection: Connection, outcome: Outcome) -> None:
            frames = make(connection, target)
            connection.send(frames)
            left = {gets: REQUESTS_AT_ONCE, inserts: REQUESTS_AT_ONCE, counts: 2, fetches: 4}[make]
            while left:
                envelope = connection.envelope()
                outcome.check(envelope)
                left -= 0 if envelope.batches.more else 1
        return persist(target, round)
    return in_threads(target, CONNECTIONS_PER_PROCESS, work)


def witness(target: Target) -> Outcome:
    """Root sees in the activity and in the metrics who it is."""
    outcome = Outcome()
    time.sleep(max(0.0, (target.until - time.monotonic()) / 2))
    try:
        connection = target.connect()
        connection.send(wire.frame("activity", activity.ActivityRequest()))
        report = connection.envelope().activity_report
        connection.send(wire.frame("metrics", activity.MetricsRequest()))
        text = connection.envelope().metrics_text.text
    except (OSError, Closed, LarderError) as error:
        # The short form runs next to other work.
        if not target.quick:
            outcome.wrong.append(f"root saw nothing: {error}")
        return outcome
    users = [each.source.user for each in report.connections]
    requests = {user: sum(each.requests_in_flight for each in report.connections
                          if each.source.user == user) for user in set(users)}
    busiest = max(requests, key=lambda user: requests[user], default=None)
    if busiest != ATTACKER_USER:
        outcome.wrong.append(f"the activity does not show who it was: {requests}")
    memory = {}
    for line in text.splitlines():
        if line.startswith('larder_user_memory_bytes{uid="'):
            name, value = line.split(" ")
            memory[int(name.split('"')[1])] = float(value)
    if memory.get(ATTACKER_USER, 0.0) <= memory.get(HONEST_USER, 0.0):
        outcome.wrong.append(f"the metrics do not show who it was: {memory}")
    return outcome
