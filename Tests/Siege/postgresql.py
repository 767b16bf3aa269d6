"""The same attacks on PostgreSQL, where they exist, with its honest clients."""

import os
import pathlib
import random
import socket
import subprocess
import threading
import time

import psycopg2

import honest
from attack import ERROR_PAUSE_SECONDS, Outcome, Target, in_threads
from honest import Measure, repeat
from processes import end_with_parent, wait_until
from scenario import Scenario
from share_attacks import is_open
from wire import Closed, LarderError

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
NOBODY, NOGROUP = 65_534, 65_534
MAX_CONNECTIONS = 100
SAMPLE_SECONDS = 0.1
READY_SECONDS = 30.0
UPDATED_ROWS = 1_000
ARGUMENT_BYTES = 15 << 20
ATTACKER, HONEST = "attacker", "honest"
CONVERSIONS = 25
SLOW_TERM = "upper(lower(" * CONVERSIONS + "text" + "))" * CONVERSIONS


def in_short(error: psycopg2.Error) -> str:
    """The first line of an error, without the address of the server."""
    return str(error).strip().split("\n")[0].split(" failed: ")[-1]


class Link:
    """A connection whose errors are those of a Larder connection, so that clients are the same."""

    def __init__(self, folder: str, role: str, seconds: float = 10.0) -> None:
        try:
            self._connection = psycopg2.connect(
                host=folder, user=role, dbname="postgres", connect_timeout=int(seconds),
                options=f"-c statement_timeout={int(seconds * 1_000)}")
        except psycopg2.Error as error:
            raise Closed(in_short(error)) from None
        self._connection.autocommit = True

    def call(self, text: str, arguments: tuple = ()) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(text, arguments)
                if cursor.description:
                    cursor.fetchall()
        except (psycopg2.InterfaceError, psycopg2.OperationalError) as error:
            if self._connection.closed:
                raise Closed(in_short(error)) from None
            raise LarderError(error.pgcode, in_short(error)) from None
        except psycopg2.Error as error:
            raise LarderError(error.pgcode, in_short(error)) from None

    def close(self) -> None:
        self._connection.close()


def repeated(path: str, until: float, pause: float, request: honest.Request) -> Measure:
    return repeat(lambda: Link(path, HONEST), until, pause, request)


def reads(path: str, until: float, items: int) -> Measure:
    return repeated(path, until, honest.READ_PAUSE_SECONDS, lambda link: link.call(
        "SELECT * FROM item WHERE id = %s", (random.randrange(1, items + 1),)))


def connects(path: str, until: float, items: int) -> Measure:
    """Reads one row on a new connection each time."""
    measure = Measure()
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            link = Link(path, HONEST)
            link.call("SELECT * FROM item WHERE id = 1")
            link.close()
        except (Closed, LarderError) as error:
            measure.errors.append(str(error))
        measure.add(time.monotonic() - began, honest.INTERVAL_SECONDS)
        time.sleep(2 * honest.READ_PAUSE_SECONDS)
    return measure


def saves(path: str, until: float, items: int) -> Measure:
    return repeated(path, until, honest.SAVE_PAUSE_SECONDS, lambda link: link.call(
        "INSERT INTO note (number) VALUES (1)"))


def updates(path: str, until: float, items: int) -> Measure:
    """Updates rows that an attacker updates too."""
    return repeated(path, until, honest.SAVE_PAUSE_SECONDS, lambda link: link.call(
        "UPDATE item SET number = number WHERE id = %s", (random.randrange(1, UPDATED_ROWS),)))


def limited_updates(path: str, until: float, items: int) -> Measure:
    """The same with a time limit of 100 ms, whose error is as good as an answer."""
    def request(link: Link) -> None:
        try:
            link.call(f"SET statement_timeout = {int(honest.LIMIT_SECONDS * 1_000)}")
            link.call("UPDATE item SET number = number WHERE id = %s",
                      (random.randrange(1, UPDATED_ROWS),))
        except LarderError as error:
            if error.code != "57014":
                raise
    return repeated(path, until, honest.SAVE_PAUSE_SECONDS, request)


def long_reads(path: str, until: float, items: int) -> Measure:
    return repeated(path, until, honest.LONG_READ_PAUSE_SECONDS, lambda link: link.call(
        "SELECT count(*) FROM item WHERE number * 3 > %s OR text = %s",
        (random.getrandbits(40), str(random.getrandbits(40)))))


def attacking(target: Target, *texts: str, arguments: tuple = (), seconds: float = 60.0) -> Outcome:
    """Repeats statements on one connection; errors do not discourage it."""
    outcome, link = Outcome(), None
    while target.is_open:
        try:
            link = link or Link(target.path, ATTACKER, seconds)
            for text in texts:
                link.call(text, arguments if "%s" in text else ())
            outcome.replies += 1
        except LarderError:
            link.close()
            link = None
        except Closed:
            link = None
            time.sleep(ERROR_PAUSE_SECONDS)
    return outcome


def long_update(target: Target) -> Outcome:
    return attacking(target, f"UPDATE item SET number = number WHERE {SLOW_TERM} <> 'x'")


def lock_table(target: Target) -> Outcome:
    return attacking(target, "BEGIN", "LOCK TABLE note, item", "SELECT pg_sleep(60)")


def long_scans(target: Target) -> Outcome:
    return in_threads(target, 16, lambda target: attacking(
        target, f"SELECT count(*) FROM item WHERE {SLOW_TERM} = 'x'"))


def all_connections(target: Target) -> Outcome:
    """Opens connections until the server refuses them."""
    links = []
    while target.is_open:
        try:
            links.append(Link(target.path, ATTACKER))
        except Closed:
            time.sleep(ERROR_PAUSE_SECONDS)
    return Outcome(replies=len(links))


def silent_handshakes(target: Target) -> Outcome:
    """Connects without a startup message."""
    silent: list[socket.socket] = []
    while target.is_open:
        try:
            while len(silent) < 240:
                link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                link.setblocking(False)
                link.connect(f"{target.path}/.s.PGSQL.5432")
                silent.append(link)
        except OSError:
            link.close()
        silent = [link for link in silent if is_open(link)]
        time.sleep(ERROR_PAUSE_SECONDS)
    return Outcome(replies=len(silent))


def huge_arguments(target: Target) -> Outcome:
    """Statements of 15 MiB on 60 connections, which compute for long."""
    text = "Ä" * (ARGUMENT_BYTES // 2)
    return in_threads(target, 60, lambda target: attacking(
        target, "SELECT count(*) FROM item WHERE upper(%s) = text OR lower(%s) = text",
        arguments=(text, text)))


def idle_transaction(target: Target) -> Outcome:
    """A snapshot that is never released, while rows are replaced."""
    holder = threading.Thread(daemon=True, target=lambda: attacking(
        target, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM item",
        "SELECT pg_sleep(600)", seconds=600))
    holder.start()
    text = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=1 << 20))
    return attacking(
        target, "UPDATE item SET text = %s WHERE id <= 4", arguments=(text,))


def temporary_tables(target: Target) -> Outcome:
    """Temporary tables until the disk is full."""
    return attacking(
        target, "CREATE TEMPORARY TABLE spooled AS SELECT repeat(md5(n::text), 32) AS text "
        "FROM generate_series(1, 10000000) AS n", "DROP TABLE spooled")


class PostgreSQL:
    """A server with its own data folder. Use it in a `with` statement."""

    def __init__(self, folder: pathlib.Path, items: int) -> None:
        self.socket = str(folder)
        self.memory_peak = self.anonymous_peak = self.log_peak = 0
        self._folder, self._data, self._items = folder, folder / "data", items
        self._ends = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        os.chown(folder, NOBODY, NOGROUP)
        self._tool("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                   "--locale=C")
        self.process = subprocess.Popen(
            [PROGRAMS / "postgres", "-D", self._data, "-c", "listen_addresses=",
             "-c", f"unix_socket_directories={folder}", "-c", f"max_connections={MAX_CONNECTIONS}"],
            stderr=open(folder / "log", "wb"), stdin=subprocess.DEVNULL, cwd=folder,
            user=NOBODY, group=NOGROUP, extra_groups=[], preexec_fn=end_with_parent)

    def __enter__(self) -> "PostgreSQL":
        try:
            wait_until(self._is_ready, READY_SECONDS, "the start of PostgreSQL")
            self._create()
        except BaseException:
            self.__exit__()
            raise
        self._start_bytes = self._data_bytes()
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        # SIGQUIT is an immediate shutdown, which ends all processes of the server.
        self.process.send_signal(3)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._sampler.is_alive():
            self._sampler.join()

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def longest_pause(self, began: float, ended: float) -> float:
        return 0.0

    def last_log_lines(self) -> str:
        return " | ".join((self._folder / "log").read_text(errors="replace").splitlines()[-2:])

    def _tool(self, program: str, *arguments: object) -> None:
        subprocess.run(
            [PROGRAMS / program, *arguments], check=True, cwd=self._folder, user=NOBODY,
            group=NOGROUP, extra_groups=[], stdout=subprocess.DEVNULL)

    def _is_ready(self) -> bool:
        if not self.is_alive:
            raise RuntimeError(f"PostgreSQL ended: {self.last_log_lines()}")
        try:
            Link(self.socket, "postgres").close()
        except Closed:
            return False
        return True

    def _create(self) -> None:
        link = Link(self.socket, "postgres", 60.0)
        for statement in (
                "CREATE TABLE item (id bigint PRIMARY KEY, number bigint, text text)",
                "CREATE TABLE note (id bigserial PRIMARY KEY, number bigint)",
                "INSERT INTO item SELECT n, n, 'Item ' || n || ' of the siege, Ärger, naïve ' ||"
                f" n * 7919 FROM generate_series(1, {self._items}) AS n",
                f"CREATE ROLE {ATTACKER} LOGIN", f"CREATE ROLE {HONEST} LOGIN",
                f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {ATTACKER}, {HONEST}",
                f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {ATTACKER}, {HONEST}",
                "VACUUM ANALYZE"):
            link.call(statement)
        link.close()

    def _data_bytes(self) -> int:
        total = 0
        for root, _, names in os.walk(self._data):
            for name in names:
                try:
                    total += os.stat(os.path.join(root, name)).st_blocks * 512
                except OSError:
                    pass
        return total

    def _sample(self) -> None:
        while not self._ends.wait(SAMPLE_SECONDS):
            self.memory_peak = max(self.memory_peak, proportional_bytes(self.process.pid))
            self.log_peak = max(self.log_peak, self._data_bytes() - self._start_bytes)


def proportional_bytes(parent: int) -> int:
    """The memory of a process and its children, shared pages divided among their users."""
    try:
        listed = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return 0
    total = 0
    for process in [str(parent), *listed]:
        try:
            rollup = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in rollup.splitlines()
                     if line.startswith("Pss:"))
    return total


def scenario(name: str, item: int, summary: str, *attacks: object, **options: object) -> Scenario:
    """A scenario with PostgreSQL's honest clients."""
    clients = {"reads": reads, "saves": saves, "long_reads": long_reads}
    return Scenario(name, item, summary, attacks,
                    has_monitor=False, **clients | options)


SCENARIOS = [
    scenario("waiting-queries", 4, "60 statements with arguments of 15 MiB", huge_arguments),
    scenario("staggered-streams", 5, "an idle transaction while rows are replaced; the log is the "
             "growth of the data folder", idle_transaction, seconds=15.0),
    scenario("silent-handshakes", 6, "240 connections without a startup message",
             silent_handshakes, reads=connects),
    scenario("connections", 6, "all connections by one user", all_connections, reads=connects),
    scenario("slow-queriers", 6, "16 queries that compute for long", long_scans),
    scenario("long-writes", 6, "updates of all rows, some of which others update", long_update,
             saves=updates),
    scenario("table-lock", 6, "a lock on the tables that is not released", lock_table),
    scenario("spool", 6, "temporary tables until the disk is full", temporary_tables,
             is_on_small_disk=True),
    scenario("time-limits", 7, "updates with 100 ms during a long update", long_update,
             saves=limited_updates, not_compared={"saves": "each has its own limit"}),
]
