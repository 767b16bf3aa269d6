"""larderd --archive is killed while four processes write; then states are restored.

Each transaction inserts one object. So the store after a transaction must contain exactly the
objects of the transactions up to the end of its commit, as the history of the final store has them,
and every acknowledged one must be among them.
"""

import os
import sqlite3
import subprocess
import time

from daemon import Daemon, Failed
from feed import Writer
from team import Team
from writer import Wrong

WRITERS = 4
KILL_SECONDS = (0.05, 1.0)
RESTORES = 25
INTERVAL_SECONDS = "1"
BASE_SECONDS = 60


class ArchivedDaemon(Daemon):
    """A daemon whose commits are archived."""

    def __init__(self, folder):
        super().__init__(folder)
        self.archive = self.folder / "archive"
        self.archive.mkdir()
        self.options = ["--archive", self.archive, "--archive-interval", INTERVAL_SECONDS]


def larder(*words):
    program = os.path.join(os.environ["LARDER_BIN_DIR"], "larder")
    return subprocess.run(
        [program, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def first_base(daemon):
    """Waits for the first base; the states before it cannot be restored."""
    deadline = time.monotonic() + BASE_SECONDS
    while not list(daemon.archive.glob("*.base")):
        if time.monotonic() > deadline:
            raise Failed("the archive has no base")
        time.sleep(0.01)


def transactions(store):
    """The objects by the transaction that inserted them."""
    connection = sqlite3.connect(store)
    try:
        return {
            number: key for number, key in connection.execute(
                "SELECT number, first_key FROM _transaction WHERE kind = 1 ORDER BY number")}
    finally:
        connection.close()


def content(store):
    connection = sqlite3.connect(store)
    try:
        if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise Failed("a restored store is damaged")
        [last] = connection.execute("SELECT max(number) FROM _transaction").fetchone()
        return last, {row[0] for row in connection.execute('SELECT _id FROM "Register"')}
    finally:
        connection.close()


def restores(daemon, choice, count):
    """Restores random transactions; each state must be the one of the history."""
    inserted = transactions(daemon.store)
    listed = larder("archive", "list", daemon.archive, "--output", "plain")
    lines = [line.split("\t") for line in listed.stdout.splitlines()]
    if len(lines) != 1:
        raise Failed(f"the archive has {len(lines)} generations: {daemon.last_log_lines()}")
    first, last = int(lines[0][1]), int(lines[0][2])
    if last != max(inserted):
        raise Failed(f"the archive ends with {last}, and the store with {max(inserted)}")
    for _ in range(count):
        at = choice.randint(first, last)
        path = daemon.folder / "restored"
        made = larder("restore", "--archive", daemon.archive, "--to", path, "--at", str(at))
        if made.returncode != 0:
            raise Failed(f"transaction {at} cannot be restored: {made.stderr}")
        end, keys = content(path)
        if end < at or keys != {key for number, key in inserted.items() if number <= end}:
            raise Failed(f"the state after {at} ends with {end} and has {len(keys)} objects")
        path.unlink()
    return last - first + 1


def archive(folder, commits, seed, choice):
    """Kills and starts larderd while four processes write this number of commits."""
    folder.mkdir()
    daemon = ArchivedDaemon(folder)
    kills = 0
    try:
        with Team([Writer(number) for number in range(WRITERS)]) as writers:
            start(daemon)
            first_base(daemon)
            writers.begin("write", daemon.socket, commits // WRITERS)
            while not all(pipe.poll() for _, pipe in writers.members):
                time.sleep(choice.uniform(*KILL_SECONDS))
                if choice.random() < 0.8:
                    daemon.kill()
                else:
                    daemon.stop()
                kills += 1
                start(daemon)
            acknowledged = {}
            for each in writers.results():
                acknowledged |= each
        daemon.stop()
        stored = transactions(daemon.store)
        if missing := set(acknowledged.values()) - set(stored):
            raise Wrong(f"acknowledged transactions are missing: {sorted(missing)[:5]}")
        checked = larder("archive", "check", daemon.archive)
        if checked.returncode != 0:
            raise Failed(f"larder archive check: {checked.stdout}")
        count = restores(daemon, choice, RESTORES)
    finally:
        daemon.kill()
    return (
        f"{len(acknowledged)} acknowledged commits and {kills} ends of larderd in one generation; "
        f"{RESTORES} of {count} states restored")


def start(daemon):
    if not daemon.start():
        raise Failed(f"larderd ended: {daemon.last_log_lines()}")
