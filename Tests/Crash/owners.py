"""Sixteen processes use one store file without a daemon, and its owner is killed every second.

Each has four contexts. Every acknowledged save must be found once and whole in the end, all
contexts must have the same values, and no call may wait for long.
"""

import collections
import contextlib
import os
import pathlib
import select
import sqlite3
import subprocess
import time

from daemon import Failed
from writer import Wrong

PROCESSES = 16
THREADS = 4
KILL_SECONDS = 1.0
WAIT_SECONDS_MAX = 2.0
END_SECONDS = 60
# What the commits of others may take to arrive in a context.
FEED_SECONDS_MAX = 2.0
SHARED = 16


class Process:
    """An ObjectStoreProcess, whose output is read as it arrives."""

    def __init__(self, path):
        program = os.path.join(os.environ["LARDER_BIN_DIR"], "ObjectStoreProcess")
        self.child = subprocess.Popen(
            [program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.set_blocking(self.child.stdout.fileno(), False)
        self.rest, self.lines = b"", []

    @property
    def pid(self):
        return self.child.pid

    def command(self, text):
        self.child.stdin.write(text.encode() + b"\n")
        self.child.stdin.flush()

    def read(self):
        """Takes what has arrived; false at the end of the output."""
        while True:
            try:
                data = os.read(self.child.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            lines = (self.rest + data).split(b"\n")
            self.rest = lines.pop()
            self.lines += [line.decode() for line in lines]

    def reply(self, prefix=""):
        """The next line that begins so, which is taken with all lines before it."""
        deadline = time.monotonic() + END_SECONDS
        while True:
            for index, line in enumerate(self.lines):
                if line.startswith(prefix):
                    del self.lines[:index + 1]
                    return line
            select.select([self.child.stdout], [], [], 1)
            if not self.read() or time.monotonic() > deadline:
                raise Failed(f"process {self.pid} did not reply: {self.lines[-3:]}")

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.read()

    def end(self):
        self.child.stdin.close()
        self.child.wait(END_SECONDS)
        self.child.stdout.close()


class Team:
    def __init__(self, path, seconds):
        self.path, self.end = path, time.monotonic() + seconds
        self.acknowledged, self.errors = set(), []
        self.count, self.longest, self.killed = 0, 0, 0
        self.processes = []

    def start(self):
        """A process that works until the end."""
        process = Process(self.path)
        process.command("watch")
        process.command(f"work {max(0.1, self.end - time.monotonic()):.2f} {THREADS}")
        self.processes.append(process)

    def take(self, process):
        """Notes what a process has acknowledged."""
        process.read()
        kept = []
        for line in process.lines:
            if line.startswith("A "):
                self.acknowledged.add(line[2:])
                self.count += 1
            elif line.startswith("E "):
                self.errors.append(line)
            else:
                kept.append(line)
        process.lines = kept

    def owner(self):
        """The process that serves the file, as the file next to the store says."""
        try:
            lines = pathlib.Path(f"{self.path}.owner").read_text().split("\n")
        except FileNotFoundError:
            return None
        if len(lines) < 2 or not lines[1].startswith("process "):
            return None
        pid = int(lines[1].split()[1])
        return next((process for process in self.processes if process.pid == pid), None)

    def kill_owner(self):
        if not (process := self.owner()):
            return False
        process.kill()
        self.take(process)
        process.child.stdin.close()
        process.child.stdout.close()
        self.processes.remove(process)
        self.killed += 1
        self.start()
        return True

    def insert_shared(self):
        """The entries that all contexts change."""
        process = Process(self.path)
        for number in range(SHARED):
            process.command(f"insert shared-{number:02}")
            process.reply("saved")
        process.end()

    def work(self):
        self.insert_shared()
        for _ in range(PROCESSES):
            self.start()
        next_kill = time.monotonic() + KILL_SECONDS
        while time.monotonic() < self.end:
            outputs = [process.child.stdout for process in self.processes]
            select.select(outputs, [], [], 0.05)
            for process in self.processes:
                self.take(process)
            # Not in the last moments, in which new processes would have no time to work.
            if next_kill <= time.monotonic() < self.end - KILL_SECONDS / 2:
                if self.kill_owner():
                    next_kill = time.monotonic() + KILL_SECONDS

    def check(self):
        for process in self.processes:
            while not any(line.startswith("worked ") for line in process.lines):
                select.select([process.child.stdout], [], [], 1)
                if process.child.poll() is not None:
                    raise Failed(f"a process ended: {process.lines[-3:]}")
                self.take(process)
            self.longest = max(self.longest, int(process.reply("worked ").split()[1]))
        if self.errors:
            raise Wrong(f"{len(self.errors)} saves failed: {self.errors[:3]}")
        results = set()
        for process in self.processes:
            process.command("names")
            results.add(process.reply())
        if len(results) != 1:
            raise Wrong(f"the processes see different objects: {results}")
        count, distinct, _ = results.pop().split()
        if count != distinct:
            raise Wrong(f"saves were done twice: {count} objects with {distinct} names")
        self.check_watched()
        self.check_contexts()
        return int(count)

    def check_contexts(self):
        """All contexts have the same values, which none of them has read again."""
        deadline = time.monotonic() + FEED_SECONDS_MAX
        while True:
            for process in self.processes:
                process.command("texts")
            replies = [process.reply().split() for process in self.processes]
            contexts = [texts for reply in replies for texts in reply]
            if len(contexts) != PROCESSES * THREADS:
                raise Wrong(f"{len(contexts)} contexts replied")
            self.texts = contexts[0].split(",")
            if len(set(contexts)) == 1:
                return
            if time.monotonic() > deadline:
                raise Wrong(f"contexts have different values: {sorted(set(contexts))[:2]}")

    def check_watched(self):
        for process in self.processes:
            process.command("watched")
            seen, first, last, errors = map(int, process.reply().split())
            if errors or seen and last - first + 1 != seen:
                raise Wrong(f"an observer missed commits: {seen} of {first} to {last}")

    def stored(self):
        """The names in the file, read after the last process has ended."""
        for process in self.processes:
            process.end()
        expected = {self.path.name, f"{self.path.name}-wal"}
        if left := {path.name for path in self.path.parent.iterdir()} - expected:
            raise Wrong(f"files were left: {sorted(left)}")
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            rows = database.execute("SELECT name, count, text FROM Entry ORDER BY name").fetchall()
        texts = [text or "-" for name, _, text in rows if name.startswith("shared-")]
        if texts != self.texts:
            raise Wrong(f"the contexts have {self.texts}, the file has {texts}")
        saves = collections.Counter(name.rpartition("-")[0] for name, _, _ in rows)
        for name, count, _ in rows:
            if count and count != saves[name]:
                raise Wrong(f"{name} has counted {count} saves, but made {saves[name]}")
        return {name for name, _, _ in rows}

    def stop(self):
        for process in self.processes:
            process.child.kill()
            process.child.wait()


def owners(folder, seconds, seed, choice):
    folder.mkdir()
    team = Team(folder / "shared.store", seconds)
    try:
        team.work()
        count = team.check()
        stored = team.stored()
    finally:
        team.stop()
    if lost := team.acknowledged - stored:
        raise Wrong(f"{len(lost)} acknowledged saves are lost, such as {sorted(lost)[:3]}")
    if team.longest > WAIT_SECONDS_MAX * 1_000:
        raise Wrong(f"a call waited {team.longest} ms")
    return (f"{team.killed} owners killed, {len(team.acknowledged)} saves acknowledged, "
            f"{count} objects, the longest call took {team.longest} ms")
