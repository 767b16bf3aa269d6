"""A migration in stages is interrupted while other processes save and follow the history.

The server, the client that migrates, or the program of a stage is killed at a random time, or the
disk fails or loses power while the result is stored. Then the store must have the former schema, or
the final one, in each case with every acknowledged save of the others, and nothing of the stages
may be there in the first case, and everything in the second. No file is left over. A second
migration succeeds. Each follower gets each transaction once, through both.
"""

import dataclasses
import errno
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import time

from archive import larder
from daemon import Daemon, Failed, check_integrity, check_store
from feed import END, Reader
from raw_client import Client, LarderError, values
from team import Team
from writer import STORAGE_ERRORS, Wrong

PROGRAM = pathlib.Path(__file__).resolve().parent / "stage_program"
WRITERS, FOLLOWERS = 3, 2
FILLING_OBJECTS = 400
TEAMS = 8
CODES = 40
PAUSE_SECONDS = 0.005
MIGRATION_SECONDS = 60
REMOVAL_SECONDS = 10
# Later than the longest pause between two steps of a migration here.
STEP_SECONDS_MAX = 0.05
PROGRAM_SECONDS_MAX = 0.1
# More than the operations of each kind that store the result, so that some failures hit the saves
# after it. See disk.c for the kinds.
OPERATIONS_MAX = {"w": 150, "s": 5, "t": 3, "wst": 150}
POWER_OPERATIONS_MAX = 200
UNAVAILABLE = 601

FORMER, FINAL = "1.0.0", "4.0.0"
ENTITY = {FORMER: "Person", FINAL: "Member"}

STORAGE_ERROR = re.compile(r"error\[STORAGE_(FULL|FAILED)\]")

FAILURES = ("server", "client", "program", "power", "disk")
# What the server logs as the steps of a migration begin.
STEPS = ("the store is being migrated", "copies the store", "schema version 2.0.0",
         "schema version 3.0.0", "schema version 4.0.0", "stores the result")


def schema(version, entity, attributes, **more):
    return {"version": version, "entities": [
        {"name": entity, **more, "attributes": [
            {"name": "writer", "type": "int64", "indexed": True},
            {"name": "serial", "type": "int64"},
            {"name": "revision", "type": "int64"}, *attributes],
         "relationships": [
            {"name": "team", "destination": "Team", "inverse": "members", "optional": False}]},
        {"name": "Team",
         "attributes": [{"name": "number", "type": "int64"}],
         "relationships": [
            {"name": "members", "destination": entity, "toMany": True, "inverse": "team"}]}]}


NAME, CODE = {"name": "name", "type": "string"}, {"name": "code", "type": "string"}
UNIQUE = CODE | {"unique": True}
FIRST, LAST = ({"name": name, "type": "string"} for name in ("first", "last"))
OPTIONAL = {"optional": True}
RANK = {"name": "rank", "type": "int64", "default": 7}
SCHEMAS = [
    schema("1.0.0", "Person", [NAME, CODE]),
    schema("2.0.0", "Person", [NAME, CODE, FIRST | OPTIONAL, LAST | OPTIONAL]),
    schema("3.0.0", "Person", [NAME, UNIQUE, FIRST | OPTIONAL, LAST | OPTIONAL]),
    schema("4.0.0", "Member", [UNIQUE, FIRST, LAST, RANK], originalName="Person"),
]


@dataclasses.dataclass
class Person:
    """An object as its writer knows it."""

    serial: int
    code: str
    team: int
    key: int | None = None
    revision: int = 1
    # How often the stages have updated it.
    extra: int = 0

    def names(self, writer):
        return f"first{self.serial}", f"last{writer} of revision {self.revision}"

    def properties(self, writer, version):
        first, last = self.names(writer)
        own = {"name": f"{first} {last}"} if version == FORMER else {"first": first, "last": last}
        return own | {"revision": self.revision}


class Writer:
    """Inserts and updates objects of its own, and compares them after each connection."""

    def __init__(self, number, seed):
        self.number, self.choice = number, random.Random(f"{seed}/writer {number}")
        self.people, self.teams, self.serial = {}, [], 0
        self.version, self.sent, self.acknowledged = None, 0, 0
        # The transaction of each acknowledged author.
        self.authors = {}
        # The object after the save that has no reply yet.
        self.pending = None

    def write(self, path, stop):
        """Saves until a file exists."""
        while not os.path.exists(stop):
            try:
                client = Client(path, name=f"writer {self.number}")
                try:
                    self.check(client)
                    while not os.path.exists(stop):
                        self.save(client, self.choice.random() < 0.5)
                finally:
                    client.close()
            except (OSError, ConnectionError):
                pass
            except LarderError as error:
                if error.code not in (UNAVAILABLE, *STORAGE_ERRORS):
                    raise Wrong(f"writer {self.number} got {error}") from None
            time.sleep(PAUSE_SECONDS)
        return self

    def fill(self, client, count):
        """Inserts the teams and this number of objects."""
        teams = [values.Identifier(entity="Team", temporary_name=f"t{number}")
                 for number in range(TEAMS)]
        client.save(*(client.change("INSERT", target, {"number": number})
                      for number, target in enumerate(teams)))
        self.check(client)
        for _ in range(count):
            self.save(client, True)

    def save(self, client, inserts):
        change = (self.insert if inserts or not self.people else self.update)(client)
        self.sent += 1
        author = f"{self.number}-{self.sent}"
        try:
            saved = client.save(change, author=author)
        except LarderError as error:
            if error.code == UNAVAILABLE:
                # The save was not executed.
                self.pending = None
            raise
        self.authors[author] = saved.transaction
        self.acknowledged += 1
        self.apply(saved.inserted[0].key if saved.inserted else self.pending.key)

    def apply(self, key):
        self.pending.key = key
        self.people[self.pending.serial] = self.pending
        self.pending = None

    def insert(self, client):
        self.serial += 1
        # Several objects have a code, until the stages distinguish them.
        code = f"c{self.choice.randrange(CODES)}" if self.version == FORMER else (
            f"{self.number}/{self.serial}")
        self.pending = Person(self.serial, code, self.choice.choice(self.teams))
        team = values.Identifier(
            store=client.welcome.store, entity="Team", key=self.pending.team)
        return client.change(
            "INSERT", values.Identifier(entity=ENTITY[self.version], temporary_name="new"),
            self.pending.properties(self.number, self.version) | {
                "writer": self.number, "serial": self.serial, "code": code, "team": team})

    def update(self, client):
        person = self.choice.choice(list(self.people.values()))
        self.pending = dataclasses.replace(person, revision=person.revision + 1)
        # An identifier with the former name of the entity leads to the same object.
        target = values.Identifier(
            store=client.welcome.store, key=person.key,
            entity=self.choice.choice(["Person", ENTITY[self.version]]))
        return client.change(
            "UPDATE", target, self.pending.properties(self.number, self.version))

    # Comparing.

    def check(self, client):
        """Compares the store with the acknowledged saves, and the one that has no reply."""
        version = client.welcome.schema_version
        if version not in ENTITY:
            raise Wrong(f"writer {self.number} sees the schema of a stage, version {version}")
        if self.version == FINAL and version == FORMER:
            raise Wrong(f"writer {self.number} sees the former schema after the final one")
        is_migrated = (self.version, version) == (FORMER, FINAL)
        rows = {row["serial"]: row for row in client.fetch(
            ENTITY[version], "writer == %@", [self.number])}
        row = self.pending and rows.get(self.pending.serial)
        if row and row["revision"] == self.pending.revision:
            self.apply(row["@id"].key)
        self.pending = None
        if rows.keys() != self.people.keys():
            differing = sorted(rows.keys() ^ self.people.keys())
            raise Wrong(
                f"writer {self.number} at {version}: {len(differing)} objects are missing or "
                f"unexpected, {differing[:5]}")
        for serial, row in rows.items():
            self.compare(self.people[serial], row, version, is_migrated)
        self.version = version
        if not self.teams:
            self.teams = [row["@id"].key for row in client.fetch("Team")]
        if self.people:
            self.get(client, version)

    def compare(self, person, row, version, is_migrated):
        code = f"{person.code}-{person.key}"
        if is_migrated:
            # The programs of both stages update an object once each.
            person.extra = 1 + (row["code"] == code)
            person.code = code if person.extra == 2 else person.code
        expected = person.properties(self.number, version) | {
            "code": person.code, "@version": person.revision + person.extra}
        found = {name: row.get(name) for name in expected}
        if found != expected:
            raise Wrong(f"writer {self.number} at {version} reads {found}, not {expected}")
        if row["@id"].key != person.key or row["team"].key != person.team:
            raise Wrong(f"{row} is not object {person.key} of team {person.team}")
        if version == FINAL and row["rank"] != 7:
            raise Wrong(f"{row} has another rank than the default")

    def get(self, client, version):
        """A URI that was stored long ago leads to the same object."""
        person = self.choice.choice(list(self.people.values()))
        [row] = client.get(values.Identifier(
            store=client.welcome.store, entity="Person", key=person.key))
        if (row["writer"], row["serial"]) != (self.number, person.serial):
            raise Wrong(f"the identifier of {person.serial} leads to {row}")
        if row["@id"].entity != ENTITY[version]:
            raise Wrong(f"an object has the entity {row['@id'].entity} at {version}")


class Site:
    """A store, the processes that use it, and a migration of it."""

    def __init__(self, folder, seed, choice):
        folder.mkdir(parents=True)
        self.folder, self.choice = folder, choice
        for each in SCHEMAS:
            (folder / f"{each['version']}.json").write_text(json.dumps(each))
        program = [str(PROGRAM)]
        (folder / "plan.json").write_text(json.dumps({"stages": [
            {"from": "1.0.0.json", "to": "2.0.0.json",
             "didMigrate": {"run": [*program, "split", str(folder)]}},
            {"from": "2.0.0.json", "to": "3.0.0.json",
             "willMigrate": {"run": [*program, "distinguish", str(folder)]}},
            {"from": "3.0.0.json", "to": "4.0.0.json"}]}))
        self.daemon = Daemon(folder, schema=folder / "1.0.0.json")
        self.stop = folder / "stop"
        self.filler = Writer(0, seed)
        self.team = Team(
            [Writer(number + 1, seed) for number in range(WRITERS)]
            + [Reader(number, seed) for number in range(FOLLOWERS)])
        self.migration = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.migration and self.migration.poll() is None:
            self.migration.kill()
            self.migration.communicate()
        self.team.__exit__()
        self.daemon.kill()

    def begin(self, disk):
        """Starts the server on a disk, fills the store, and begins to save and follow."""
        if not self.daemon.start(disk):
            raise Failed(f"larderd did not start: {self.daemon.last_log_lines()}")
        # Its next start takes the schema that the store has.
        self.daemon.schema = None
        client = Client(self.daemon.socket, name="filler")
        self.filler.fill(client, FILLING_OBJECTS)
        client.close()
        for number in range(WRITERS):
            self.team.send(number, "write", self.daemon.socket, self.stop)
        for number in range(WRITERS, WRITERS + FOLLOWERS):
            self.team.send(number, "read", self.daemon.socket)
        time.sleep(self.choice.uniform(0, STEP_SECONDS_MAX))

    def migrate(self):
        program = os.path.join(os.environ["LARDER_BIN_DIR"], "larder")
        self.migration = subprocess.Popen(
            [program, "migrate", "--socket", self.daemon.socket,
             "--plan", self.folder / "plan.json", "--output", "plain"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_migration(self):
        """Waits for the end of the client; returns whether it succeeded, and its errors."""
        try:
            _, errors = self.migration.communicate(timeout=MIGRATION_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed("the migration does not end") from None
        return self.migration.returncode == 0, errors

    # Failures.

    def fail(self, failure, migration_seconds):
        if failure == "program":
            return self.kill_program()
        if failure in ("power", "disk"):
            return None
        if self.choice.random() < 0.5:
            time.sleep(self.choice.uniform(0, migration_seconds))
        else:
            step = self.choice.choice(STEPS)
            self.wait(lambda: step in self.daemon.log.read_text(errors="replace"))
            time.sleep(self.choice.uniform(0, STEP_SECONDS_MAX))
        if failure == "server":
            self.daemon.kill()
        else:
            self.migration.kill()
        return None

    def kill_program(self):
        started = self.folder / f"{self.choice.choice(['split', 'distinguish'])}.started"
        self.wait(started.exists)
        try:
            # A descriptor stays that of the program when its number is used again.
            process = os.pidfd_open(int(started.read_text()))
        except (OSError, ValueError):
            return
        try:
            time.sleep(self.choice.uniform(0, PROGRAM_SECONDS_MAX))
            signal.pidfd_send_signal(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        finally:
            os.close(process)

    def wait(self, condition):
        """Waits for a condition, or the end of the migration."""
        deadline = time.monotonic() + MIGRATION_SECONDS
        while not condition() and self.migration.poll() is None:
            if time.monotonic() > deadline:
                raise Failed("the migration does not proceed")
            time.sleep(0.001)

    def disk(self, failure):
        """The settings of a disk that fails while the result is stored, or a little later."""
        settings = {
            "seed": self.choice.getrandbits(32), "after": self.folder / "distinguish.ended"}
        if failure == "power":
            return settings | {"power_at": self.choice.randint(1, POWER_OPERATIONS_MAX)}
        if failure == "disk":
            kinds = self.choice.choice(list(OPERATIONS_MAX))
            return settings | {
                "kinds": kinds, "error_at": self.choice.randint(1, OPERATIONS_MAX[kinds]),
                "errno": self.choice.choice([errno.EIO, errno.ENOSPC])}
        return None

    # After the failure.

    def recover(self, failure):
        """Starts a server that was killed, on the file as it is."""
        if failure == "power":
            if self.daemon.wait() != -signal.SIGKILL:
                raise Failed(f"larderd ended: {self.daemon.last_log_lines()}")
        elif failure != "server":
            if self.daemon.process.poll() is not None:
                raise Failed(f"larderd ended: {self.daemon.last_log_lines()}")
            return
        self.daemon.check_file(check_integrity)
        if not self.daemon.start():
            raise Failed(f"larderd does not start: {self.daemon.last_log_lines()}")
        if self.abandoned:
            raise Failed(f"after a start there is {self.abandoned}")

    @property
    def abandoned(self):
        return [file.name for file in self.folder.glob(".larder-*")]

    def version(self):
        """The schema that clients get, as soon as the store is served to them."""
        deadline = time.monotonic() + MIGRATION_SECONDS
        while True:
            try:
                client = Client(self.daemon.socket, name="test")
                try:
                    self.filler.check(client)
                finally:
                    client.close()
                break
            except (OSError, ConnectionError, LarderError) as error:
                # The migration may not have ended yet.
                is_unavailable = getattr(error, "code", UNAVAILABLE) == UNAVAILABLE
                if not is_unavailable or time.monotonic() > deadline:
                    raise Failed(f"the store is not served again: {error}") from None
                time.sleep(0.01)
        self.wait_for_removal()
        checked = larder("check", "--socket", self.daemon.socket)
        if checked.returncode != 0:
            raise Failed(f"larder check: {checked.stdout}{checked.stderr}")
        return self.filler.version

    def wait_for_removal(self):
        """The working copy is removed with its last connection."""
        deadline = time.monotonic() + REMOVAL_SECONDS
        while self.abandoned:
            if time.monotonic() > deadline:
                raise Failed(f"after the migration there is {self.abandoned}")
            time.sleep(0.01)

    def end(self):
        """Ends all processes; compares the file with the acknowledged saves and the followers.

        Returns the number of acknowledged saves and of transactions."""
        self.stop.touch()
        writers = [self.team.result(number) for number in range(WRITERS)]
        client = Client(self.daemon.socket, name="end")
        for writer in [*writers, self.filler]:
            writer.check(client)
        client.save(
            client.change("INSERT", values.Identifier(entity="Team", temporary_name="t"),
                          {"number": TEAMS}), author=END)
        client.close()
        logs = [self.team.result(number)[0] for number in range(WRITERS, WRITERS + FOLLOWERS)]
        self.daemon.stop()
        check_store(self.daemon.store)
        stored = transactions(self.daemon.store)
        for writer in [*writers, self.filler]:
            for author, number in writer.authors.items():
                if (number, author) not in stored:
                    raise Wrong(f"{author} was acknowledged as {number}, and is not in the history")
        for log in logs:
            if log != sorted(stored):
                differing = sorted(set(log) ^ stored)
                raise Wrong(f"a follower and the history differ in {differing[:5]}")
        people = sum(len(each.people) for each in [*writers, self.filler])
        if count(self.daemon.store) != people:
            raise Wrong(f"the store has {count(self.daemon.store)} members, not {people}")
        return sum(each.acknowledged for each in [*writers, self.filler]), len(stored)


def transactions(store):
    connection = sqlite3.connect(store)
    try:
        check_integrity(connection)
        stored = connection.execute("SELECT number, author FROM _transaction").fetchall()
    finally:
        connection.close()
    # Each save of this test has an author of its own, but the teams have none.
    if len({author for _, author in stored}) != len(stored):
        raise Wrong("a save was applied twice")
    return {(number, author or "") for number, author in stored}


def count(store):
    connection = sqlite3.connect(store)
    try:
        return connection.execute('SELECT count(*) FROM "Member"').fetchone()[0]
    finally:
        connection.close()


def point(folder, failure, seed, choice, migration_seconds):
    """Interrupts a migration, and repeats it. Returns the schema after the failure, the saves and
    transactions, and the time of a migration."""
    with Site(folder, seed, choice) as site:
        site.begin(site.disk(failure))
        site.migrate()
        site.fail(failure, migration_seconds)
        site.recover(failure)
        has_succeeded, errors = site.end_migration()
        if failure == "disk" and not has_succeeded and not STORAGE_ERROR.search(errors):
            raise Wrong(f"on a disk that fails the migration ends with {errors}")
        if failure == "disk" and choice.random() < 0.5:
            # The log may have pages of what failed.
            site.daemon.kill()
            site.recover("server")
        version = site.version()
        if has_succeeded and version != FINAL:
            raise Wrong("the migration succeeded, and the store has the former schema")
        began = time.monotonic()
        site.migrate()
        has_succeeded, errors = site.end_migration()
        if not has_succeeded:
            raise Failed(f"the second migration fails: {errors}")
        seconds = time.monotonic() - began
        if site.version() != FINAL:
            raise Wrong("the second migration succeeded, and the store has the former schema")
        saves, stored = site.end()
    return version, saves, stored, seconds


def stages(folder, points, seed, choice):
    former, saves, stored, seconds = dict.fromkeys(FAILURES, 0), 0, 0, 2.0
    for number in range(points):
        failure = FAILURES[number % len(FAILURES)]
        try:
            version, own_saves, own_stored, again = point(
                # The path of a socket is short.
                folder / str(number), failure, f"{seed}/{number}", choice, seconds)
        except (Failed, Wrong) as error:
            raise type(error)(f"point {number}, {failure}: {error}") from None
        former[failure] += version == FORMER
        saves, stored = saves + own_saves, stored + own_stored
        # Only a migration that had to be made tells how long one takes.
        seconds = again if version == FORMER else seconds
    count = sum(former.values())
    if points >= 50 and not 0 < count < points:
        raise Failed(f"after {count} of {points} failures the store has the former schema")
    kinds = ", ".join(f"{number} of {name}" for name, number in former.items())
    return (
        f"{points} points, after {count} the former schema ({kinds}), otherwise the final one, and "
        f"all migrated then; {saves} saves acknowledged, all present, and {stored} transactions, "
        f"each once at {FOLLOWERS} followers")
