"""Backups under load: sixteen processes write, and backups are made one after the other.

Each copy must pass every check and be a prefix of the history: it has all commits that were
acknowledged before its backup began, up to one transaction, and nothing of later ones. Between
them, clients are killed in the middle of a backup, and the server too.
"""

import hashlib
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import time

from daemon import Daemon, Failed, check_database, check_store
from raw_client import Client, LarderError, values
from writer import Wrong

WRITERS = 16
FILLING_ROWS = 20_000
UNIQUENESS_VIOLATED = 305
# A writer pauses after a save, so that a hundred backups do not become too large to check.
PAUSE_SECONDS_MAX = 0.1
# Every so many saves of a writer fail after they have changed pages.
FAILING_SHARE = 8
# Every so many backups, the client or the server is killed in the middle of one.
KILL_EVERY = 4
KILL_SECONDS_MAX = 0.3
BACKUP_SECONDS = 300


def write(path, number, acknowledged, stops, seed):
    """Saves until `stops` is set, over a new connection whenever one is lost."""
    choice = random.Random(f"{seed}/{number}")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sent = 0
    while not stops.is_set():
        try:
            client = Client(path, name=f"writer {number}")
            while not stops.is_set():
                sent += 1
                basket = values.Identifier(entity="Basket", temporary_name="b")
                tag = values.Identifier(entity="Tag", temporary_name="t")
                fails = choice.randrange(FAILING_SHARE) == 0
                name = "filling 0" if fails else f"{number}-{os.getpid()}-{sent}"
                try:
                    saved = client.save(
                        client.change("INSERT", basket, {
                            "writer": number, "number": sent, "revision": 0,
                            "text": "x" * choice.randrange(400)}),
                        client.change("INSERT", tag, {"writer": number, "name": name}))
                except LarderError as error:
                    if not fails or error.code != UNIQUENESS_VIOLATED:
                        raise
                else:
                    acknowledged[number] = max(acknowledged[number], saved.transaction)
                time.sleep(choice.uniform(0, PAUSE_SECONDS_MAX))
        except (OSError, ConnectionError, LarderError, AssertionError):
            time.sleep(0.01)


class Site:
    """A served store with writers."""

    def __init__(self, folder, seed):
        folder.mkdir(parents=True)
        self.daemon, self.folder = Daemon(folder), folder
        context = multiprocessing.get_context("fork")
        self.stops = context.Event()
        self.acknowledged = context.Array("q", WRITERS)
        self.writers = [
            context.Process(
                target=write,
                args=(self.daemon.socket, number, self.acknowledged, self.stops, seed),
                daemon=True)
            for number in range(WRITERS)]

    def __enter__(self):
        self.start()
        client = Client(self.daemon.socket, name="filler")
        client.insert_rows("Tag", {
            "writer": ("INT64", [-1] * FILLING_ROWS),
            "name": ("STRING", [f"filling {number}" for number in range(FILLING_ROWS)])})
        client.close()
        for writer in self.writers:
            writer.start()
        while min(self.acknowledged[:]) == 0:
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.stops.set()
        for writer in self.writers:
            writer.terminate()
            writer.join()
        self.daemon.kill()

    def start(self):
        if not self.daemon.start():
            raise Failed(f"larderd did not start: {self.daemon.last_log_lines()}")

    def larder(self, *arguments):
        program = os.path.join(os.environ["LARDER_BIN_DIR"], "larder")
        return subprocess.Popen(
            [program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        process = self.larder(*arguments)
        output, errors = process.communicate(timeout=BACKUP_SECONDS)
        if process.returncode != 0:
            raise Failed(f"larder {arguments[0]}: {errors}")
        return output.split("\t")

    @property
    def names(self):
        """The files in the folder besides those of the served store."""
        return {file.name for file in self.folder.iterdir()} - {
            "s", "s.lock", "log", "test.store", "test.store-wal", "test.store-shm",
            "test.store.owner"}


def transactions(path, upto=None):
    """The number of transactions, the last one, and a digest of their rows."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        if upto is None:
            check_database(connection)
        digest, count, last = hashlib.sha256(), 0, 0
        for row in connection.execute(
                "SELECT * FROM _transaction WHERE number <= ? ORDER BY number", [upto or 1 << 62]):
            digest.update(repr(row).encode())
            count, last = count + 1, row[0]
        for row in connection.execute(
                "SELECT * FROM _change WHERE transaction_number <= ? ORDER BY 1, 2",
                [upto or 1 << 62]):
            digest.update(repr(row).encode())
        return count, last, digest.hexdigest()
    finally:
        connection.close()


def back_up(site):
    """Makes a backup and verifies it alone; returns what it has of the history."""
    before = max(site.acknowledged[:])
    copy, restored = site.folder / "copy", site.folder / "restored"
    [_, _, last, _] = site.run("backup", "--socket", site.daemon.socket, str(copy))
    found = transactions(copy)
    if found[1] != int(last):
        raise Failed(f"the backup reports {last} and has transactions up to {found[1]}")
    if found[1] < before:
        raise Wrong(f"{before} was acknowledged before a backup with transactions to {found[1]}")
    site.run("restore", str(copy), "--to", str(restored))
    check_store(restored)
    for file in site.folder.glob("restored*"):
        file.unlink()
    copy.unlink()
    return found


def kill_client(site, choice):
    process = site.larder("backup", "--socket", site.daemon.socket, str(site.folder / "killed"))
    time.sleep(choice.uniform(0, KILL_SECONDS_MAX))
    process.kill()
    process.communicate()
    expect_whole(site, process.returncode)


def kill_server(site, choice):
    process = site.larder(
        "backup", "--timeout", "2s", "--socket", site.daemon.socket, str(site.folder / "killed"))
    time.sleep(choice.uniform(0, KILL_SECONDS_MAX))
    site.daemon.kill()
    # The client may send its request again to the next server.
    site.start()
    process.communicate(timeout=BACKUP_SECONDS)
    expect_whole(site, process.returncode)


def expect_whole(site, status):
    """After a kill the file is complete or is not there, and nothing else is."""
    killed = site.folder / "killed"
    if killed.exists():
        transactions(killed)
        killed.unlink()
    elif status == 0:
        raise Failed("the backup succeeded, and there is no file")
    if site.names:
        raise Failed(f"after a kill there is {site.names}")


def backups(folder, points, seed, choice):
    found, kills = [], 0
    with Site(folder, seed) as site:
        for point in range(points):
            found.append(back_up(site))
            if point % KILL_EVERY == 1:
                kill_client(site, choice)
            elif point % KILL_EVERY == 3:
                kill_server(site, choice)
            kills += point % 2
        site.stops.set()
        for writer in site.writers:
            writer.join()
        site.daemon.stop()
        for count, last, digest in found:
            if transactions(site.daemon.store, upto=last) != (count, last, digest):
                raise Wrong(f"a backup is not the history up to {last}")
        total, _, _ = transactions(site.daemon.store)
        if site.names:
            raise Failed(f"there is {site.names}")
    lengths = [count for count, _, _ in found]
    return (
        f"{points} backups with {lengths[0]} to {lengths[-1]} of {total} transactions, each a "
        f"prefix; {kills} kills in the middle of one left nothing")
