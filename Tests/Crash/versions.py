"""Processes of two versions of a program are started at once on one store.

Those of version 2 ask for the migration of the store; all of them save objects, and retry as the
rules for clients say. The store must be migrated once, and have each acknowledged object once.
After a migration that only adds to the schema, those of version 1 go on; after another one they are
refused by an error that names both versions.
"""

import json
import os
import re
import sqlite3
import subprocess
import time
import uuid

import raw_client
from daemon import Daemon, Failed, check_store
from raw_client import Client, changes, values, value
from team import Team
from writer import Wrong

PROCESSES = 8
SAVES = 40
RETRY_SECONDS = 60
PAUSE_SECONDS = 0.005
MISMATCH, UNAVAILABLE = 311, 601

TITLE = {"name": "title", "type": "string"}
COPIES = {"name": "copies", "type": "int64", "optional": True}


def schema(version, entity, attributes, **more):
    return {"version": version, "entities": [{"name": entity, "attributes": attributes, **more}]}


FORMER = schema("1.0.0", "Book", [TITLE, COPIES])
# What version 2 of the program does to the schema, and the attribute that it got.
ADDITION = schema("2.0.0", "Book", [TITLE, COPIES, {
    "name": "price", "type": "int64", "default": 7}])
RENAMING = schema("2.0.0", "Volume", [TITLE, COPIES, {
    "name": "price", "type": "int64", "default": 7}], originalName="Book")


def insert(entity, **properties):
    """A change set that inserts one object, which is saved once however often it is sent."""
    made = [changes.PropertyValue(name=name, value=value(each))
            for name, each in properties.items()]
    return changes.ChangeSet(
        idempotency_key=properties["title"], changes=[changes.Change(
            kind=changes.CHANGE_KIND_INSERT, values=made,
            object=values.Identifier(entity=entity, temporary_name="new"))])


class Process:
    """One process of the program."""

    def __init__(self, version, number, entity, path):
        self.version, self.entity, self.path = version, entity, path
        self.name = f"version {version[0]}, process {number}"
        self.sent, self.acknowledged, self.refusal = set(), set(), None
        self.retries = 0

    def run(self):
        """Saves all objects. Returns what the store must and may have, and the refusal."""
        deadline = time.monotonic() + RETRY_SECONDS
        while len(self.acknowledged) < SAVES and self.refusal is None:
            if time.monotonic() > deadline:
                raise Wrong(f"{self.name} has saved {len(self.acknowledged)} objects in time")
            try:
                self.work()
            except (OSError, ConnectionError):
                self.retries += 1
            except raw_client.LarderError as error:
                if error.code != UNAVAILABLE:
                    raise Wrong(f"{self.name} got {error}") from None
                self.retries += 1
                time.sleep(PAUSE_SECONDS)
        return self.acknowledged, self.sent, self.refusal, self.retries

    def work(self):
        client = self.connected()
        if client is None:
            return
        try:
            while len(self.acknowledged) < SAVES:
                # After a lost connection the same save again.
                title = f"{self.name}, object {len(self.acknowledged)}"
                self.sent.add(title)
                client.call("save", insert(self.entity, title=title, **self.properties()))
                self.acknowledged.add(title)
            self.read(client)
        finally:
            client.close()

    def accepted(self):
        """A client with this process's version, or None and why the server refuses it."""
        try:
            return Client(self.path, name=self.name, schema_version=self.version), None
        except raw_client.LarderError as error:
            if error.code != MISMATCH:
                raise
            return None, self.mismatch(error)

    def mismatch(self, error):
        """Checks that a refusal names both versions."""
        if not all(version in error.message for version in ("1.0.0", "2.0.0")):
            raise Wrong(f"{self.name} was refused without both versions: {error}")
        return str(error)

    def rows(self, client, names):
        for row in client.fetch(self.entity, "title BEGINSWITH %@", [f"{self.name},"]):
            if row.keys() - {"@id", "@version"} != names:
                raise Wrong(f"{self.name} reads {sorted(row)}")
            yield row


class Former(Process):
    def connected(self):
        client, self.refusal = self.accepted()
        return client

    def properties(self):
        return {"copies": len(self.acknowledged)}

    def read(self, client):
        found = {row["title"] for row in self.rows(client, {"title", "copies"})}
        if found != self.acknowledged:
            raise Wrong(f"{self.name} reads {len(found)} objects of {len(self.acknowledged)}")


class Latter(Process):
    def __init__(self, version, number, entity, path, schema_path):
        super().__init__(version, number, entity, path)
        self.schema_path = schema_path

    def connected(self):
        client, _ = self.accepted()
        if client is not None:
            return client
        program = os.path.join(os.environ["LARDER_BIN_DIR"], "larder")
        made = subprocess.run(
            [program, "migrate", "--socket", self.path, "--schema", self.schema_path,
             "--output", "plain"], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL)
        # Another process may have been first.
        if made.returncode and not re.search(
                r"error\[(UNAVAILABLE|CONNECTION_FAILED|INDETERMINATE)\]", made.stderr):
            raise Wrong(f"{self.name} cannot migrate: {made.stderr}")
        return None

    def properties(self):
        return {"copies": len(self.acknowledged), "price": len(self.acknowledged)}

    def read(self, client):
        for row in self.rows(client, {"title", "copies", "price"}):
            if row["price"] != row["copies"]:
                raise Wrong(f"{self.name} reads the price {row['price']}")


def stored(path, entity):
    """The titles and prices of the objects in the file."""
    connection = sqlite3.connect(path)
    try:
        if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise Failed("the store is damaged")
        return connection.execute(f'SELECT title, price FROM "{entity}"').fetchall()
    finally:
        connection.close()


def game(folder, successor):
    """Both versions at once on a new store. Returns the objects, retries and refusals."""
    folder.mkdir(parents=True)
    one, two = folder / "one.json", folder / "two.json"
    one.write_text(json.dumps(FORMER))
    two.write_text(json.dumps(successor))
    entity = successor["entities"][0]["name"]
    daemon = Daemon(folder, schema=one)
    if not daemon.start():
        raise Failed(f"larderd did not start: {daemon.last_log_lines()}")
    try:
        members = []
        for number in range(PROCESSES):
            members.append(Former("1.0.0", number, "Book", daemon.socket))
            members.append(Latter("2.0.0", number, entity, daemon.socket, two))
        with Team(members) as team:
            results = team.all("run")
        migrations = daemon.log.read_text().count("the store is being migrated to schema version")
        if migrations != 1:
            raise Wrong(f"the store was migrated {migrations} times")
        daemon.stop()
        check_store(daemon.store)
        rows = stored(daemon.store, entity)
    finally:
        daemon.kill()
    titles = [title for title, _ in rows]
    acknowledged = set().union(*(each[0] for each in results))
    sent = set().union(*(each[1] for each in results))
    if len(titles) != len(set(titles)):
        raise Wrong("an object was stored twice")
    if missing := acknowledged - set(titles):
        raise Wrong(f"acknowledged objects are missing: {sorted(missing)[:5]}")
    if unknown := set(titles) - sent:
        raise Wrong(f"objects were stored that nobody sent: {sorted(unknown)[:5]}")
    if any(price != 7 for title, price in rows if title.startswith("version 1")):
        raise Wrong("an object of version 1 has another price than the default")
    refusals = [each[2] for each in results if each[2]]
    if successor is ADDITION and refusals:
        raise Wrong(f"version 1 was refused: {refusals[0]}")
    return len(titles), sum(each[3] for each in results), len(refusals)


def versions(folder, rounds, seed, choice):
    """Starts eight processes of each version at once, on this number of stores for each kind of
    migration."""
    reports = []
    for name, successor in (("addition", ADDITION), ("renaming", RENAMING)):
        objects = retries = refusals = 0
        for _ in range(rounds):
            # The path of a socket is short.
            found = game(folder / uuid.UUID(int=choice.getrandbits(128)).hex[:8], successor)
            objects, retries, refusals = (
                sum(pair) for pair in zip((objects, retries, refusals), found))
        if successor is RENAMING and not refusals:
            raise Failed("no process of version 1 was refused, so a wrong refusal would not show")
        reports.append(
            f"{name}: {objects} objects, each once, {retries} retries, {refusals} processes "
            "refused by name")
    return f"{rounds} stores each, one migration of each; {'; '.join(reports)}"
