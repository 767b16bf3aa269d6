"""A larderd that runs in a scratch folder, optionally on a disk that fails."""

import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time

from raw_client import Client

FOLDER = pathlib.Path(__file__).resolve().parent
READY_SECONDS = 30
EXIT_SECONDS = 60
# Its exit status if the storage prevents the start.
STORAGE_STATUS = 74

# The disk's log line about a power loss.
POWER_LOST = re.compile(r"power lost, (\d+) of \d+ sectors, (\d+) at risk in the store")


class Failed(Exception):
    """The daemon or its file violated a guarantee."""


def environment(store, disk):
    """The environment for a disk with these settings (see disk.c); None is the real disk."""
    if disk is None:
        return os.environ
    settings = {f"LARDER_DISK_{name.upper()}": str(each) for name, each in disk.items()}
    return os.environ | settings | {
        "LD_PRELOAD": os.environ["LARDER_DISK"], "LARDER_DISK_STORE": str(store)}


class Daemon:
    """A store, and the processes that serve it one after the other."""

    def __init__(self, folder, synchronous="full", schema=FOLDER / "crash.schema.json"):
        self.folder, self.synchronous = pathlib.Path(folder).resolve(), synchronous
        self.schema = schema
        self.store, self.socket = self.folder / "test.store", str(self.folder / "s")
        self.log = self.folder / "log"
        self.options = []
        self.process = None
        # Power losses that lost data, and power losses during a checkpoint.
        self.losses_with_data = self.checkpoint_losses = 0

    def start(self, disk=None):
        """Starts the daemon; False if it ends before it is ready, as a failing disk may cause."""
        program = os.path.join(os.environ["LARDER_BIN_DIR"], "larderd")
        command = [program, "--store", self.store, "--socket", self.socket,
                   "--synchronous", self.synchronous, *self.options]
        # Without a schema the store keeps its own.
        if self.schema:
            command += ["--schema", self.schema]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env=environment(self.store, disk), stderr=log,
                stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + READY_SECONDS
        while self.process.poll() is None:
            if self.answers():
                return True
            if time.monotonic() > deadline:
                self.kill()
                raise Failed(f"larderd was not ready within {READY_SECONDS} seconds")
            time.sleep(0.002)
        return False

    def answers(self):
        try:
            Client(self.socket, name="crash-test").close()
        except (OSError, ConnectionError):
            return False
        return True

    def wait(self):
        """Waits for the daemon to end; returns its status, or the negative signal number."""
        try:
            status = self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"larderd did not end within {EXIT_SECONDS} seconds") from None
        if lost := POWER_LOST.search(self.last_log_lines()):
            self.losses_with_data += lost[1] != "0"
            self.checkpoint_losses += lost[2] != "0"
        return status

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self):
        """Stops the daemon with SIGTERM."""
        self.process.terminate()
        status = self.wait()
        if status != 0:
            raise Failed(f"larderd ended with status {status}: {self.last_log_lines()}")

    def has_disk_error(self):
        """Whether an operation of the disk has failed since the last start."""
        return "disk: error" in self.log.read_text(errors="replace")

    def last_log_lines(self):
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return " | ".join(lines[-3:])

    def remove_store(self):
        for file in self.folder.iterdir():
            if file.name.startswith(("test.store", "removed-", "log")):
                file.unlink()

    def check_file(self, check=None):
        """Verifies a copy of an ended process's file, with SQLite alone and then with Larder.
        `check` is for a store with another schema than crash.schema.json."""
        if not self.store.exists() or self.store.stat().st_size == 0:
            return
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file in self.folder.glob("test.store*"):
            shutil.copy(file, copy)
        connection = sqlite3.connect(copy / "test.store")
        try:
            is_store = (check or check_database)(connection)
            connection.close()
            if is_store:
                check_store(copy / "test.store")
        except sqlite3.DatabaseError as error:
            raise Failed(f"SQLite cannot read the file: {error}") from None
        finally:
            connection.close()
            shutil.rmtree(copy)


def check_store(store):
    """Runs `larder check` on a file that no process serves."""
    program = os.path.join(os.environ["LARDER_BIN_DIR"], "larder")
    check = subprocess.run(
        [program, "check", "--store", store], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL)
    if check.returncode != 0:
        raise Failed(f"larder check: {check.stdout}{check.stderr}")


# Every column with a key of another table; docs/storage.md describes the tables.
LINKS = [
    ("Item", "basket", "Basket"),
    ("_join.Basket.tags", "source", "Basket"),
    ("_join.Basket.tags", "target", "Tag"),
]


def check_integrity(connection):
    answer = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if answer != ["ok"]:
        raise Failed(f"integrity_check: {answer[:5]}")
    return True


def check_database(connection):
    """Verifies the database; False if it has no tables yet."""
    check_integrity(connection)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        return False
    for table, column, target in LINKS:
        # The qualified name makes a missing column an error; SQLite would read it as a string.
        [dangling] = connection.execute(
            f'SELECT count(*) FROM "{table}" AS links WHERE links."{column}" IS NOT NULL AND '
            f'links."{column}" NOT IN (SELECT _id FROM "{target}")').fetchone()
        if dangling:
            raise Failed(f"{dangling} keys in {table}.{column} refer to no {target}")
    for table, sequence in connection.execute("SELECT name, seq FROM sqlite_sequence"):
        [greatest] = connection.execute(f'SELECT max("{table}"._id) FROM "{table}"').fetchone()
        if greatest is not None and greatest > sequence:
            raise Failed(f"{table} has the key {greatest}, above its sequence {sequence}")
    check_history(connection)
    return True


def check_history(connection):
    """The tables must contain what the history has as inserted and not deleted."""
    numbered = {row[0] for row in connection.execute("SELECT number FROM _transaction")}
    changed = {row[0] for row in connection.execute("SELECT transaction_number FROM _change")}
    if changed - numbered:
        raise Failed(f"changes without transactions: {changed - numbered}")
    outcomes = {row[0] for row in connection.execute("SELECT transaction_number FROM _outcome")}
    if outcomes - numbered:
        raise Failed(f"outcomes without transactions: {outcomes - numbered}")
    expected = {}
    for kind, entity, first, last in connection.execute(
            "SELECT kind, entity, first_key, last_key FROM (SELECT number, 0 AS place, kind, "
            "entity, first_key, last_key FROM _transaction UNION ALL SELECT transaction_number, "
            "place, kind, entity, first_key, last_key FROM _change) ORDER BY number, place"):
        keys = expected.setdefault(entity, set())
        if kind == 1:
            keys.update(range(first, last + 1))
        elif not keys.issuperset(range(first, last + 1)):
            raise Failed(f"the history changes {entity} {first} to {last}, which do not exist")
        elif kind == 3:
            keys.difference_update(range(first, last + 1))
    for entity in ("Basket", "Item", "Tag"):
        keys = {row[0] for row in connection.execute(f'SELECT _id FROM "{entity}"')}
        if keys != expected.get(entity, set()):
            raise Failed(f"the keys of {entity} differ from the history")
