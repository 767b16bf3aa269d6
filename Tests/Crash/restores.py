"""Random transactions are archived, and the store is restored to random ones of them.

One client makes them, so each is a commit of its own, and a model has the objects after each. In
the middle the store is migrated, which begins another generation of the archive, and larderd is
killed now and then. A restored store must equal the model and pass every check.
"""

import datetime
import json
import sqlite3
import time

from archive import ArchivedDaemon, first_base, larder, start
from daemon import Failed, check_store
from raw_client import EPOCH, Client, values
from writer import Wrong

CHANGES_MAX = 5
OBJECTS_MAX = {"Book": 200, "Shelf": 20, "Tag": 15}
TITLE_BYTES_MAX = 300
KILL_SHARE = 0.01
BASE_SECONDS = 60
# One of this number of transactions is restored by its number, and by a time.
NUMBERS_SHARE, TIMES_SHARE = 20, 100
# A time that is written in microseconds may be before or after a commit at this distance.
TIME_SECONDS = 2e-6


def schema(version, entity, attributes, **more):
    return {"version": version, "entities": [
        {"name": entity, **more, "attributes": [{"name": "title", "type": "string"}, *attributes],
         "relationships": [
            {"name": "shelf", "destination": "Shelf", "inverse": "books"},
            {"name": "tags", "destination": "Tag", "toMany": True, "inverse": "books"}]},
        {"name": "Shelf", "attributes": [{"name": "title", "type": "string"}],
         "relationships": [{"name": "books", "destination": entity, "toMany": True,
                            "inverse": "shelf", "deleteRule": "cascade"}]},
        {"name": "Tag", "attributes": [{"name": "title", "type": "string"}],
         "relationships": [{"name": "books", "destination": entity, "toMany": True,
                            "inverse": "tags"}]}]}


# The migration renames an entity and a join table, converts values and adds an attribute.
SCHEMAS = [
    schema("1.0.0", "Book", [{"name": "copies", "type": "int64"}]),
    schema("2.0.0", "Volume", [
        {"name": "copies", "type": "string"}, {"name": "price", "type": "int64", "default": 7}],
        originalName="Book")]
ENTITIES = ("Book", "Volume")
# The join table, with the columns of the book and of the tag.
JOINS = (("_join.Book.tags", "source", "target"), ("_join.Tag.books", "target", "source"))


class Model:
    """The objects by key: rows of "Shelf" and "Tag" are (version, title), those of "Book" are
    (version, title, copies, price, shelf, tags), without the price before the migration."""

    def __init__(self, choice):
        self.choice, self.generation = choice, 0
        self.tables = {"Book": {}, "Shelf": {}, "Tag": {}}
        self.words = 0

    def state(self):
        return self.generation, {name: dict(rows) for name, rows in self.tables.items()}

    def migrate(self):
        self.generation = 1
        for key, (version, title, copies, shelf, tags) in self.tables["Book"].items():
            self.tables["Book"][key] = (version, title, str(copies), 7, shelf, tags)

    def entity(self, name):
        return ENTITIES[self.generation] if name == "Book" else name

    def save(self, client):
        """Makes a random transaction; returns its number."""
        # The objects that a change of this transaction changes or refers to. Others are as the
        # model has them, so only these may not be deleted or changed again.
        used, made, inserted = set(), [], []
        for _ in range(self.choice.randint(1, CHANGES_MAX)):
            name = self.choice.choices(list(self.tables), [6, 2, 1])[0]
            count, limit = len(self.tables[name]), OBJECTS_MAX[name]
            kind = self.choice.choices(
                [self.insert, self.update, self.delete],
                [5 if count < limit else 0, 4 if count else 0, 3 if count else 0])[0]
            if change := kind(client, name, used, inserted):
                made.append(change)
        saved = client.save(*made)
        for identifier, (name, row) in zip(saved.inserted, inserted, strict=True):
            self.tables[name][identifier.key] = row
        return saved.transaction

    def insert(self, client, name, used, inserted):
        properties, row = self.properties(client, name, used)
        inserted.append((name, (1, *row)))
        return client.change("INSERT", values.Identifier(
            entity=self.entity(name), temporary_name=f"new{len(inserted)}"), properties)

    def update(self, client, name, used, _):
        key = self.choice.choice(sorted(self.tables[name]))
        if (name, key) in used:
            return None
        properties, row = self.properties(client, name, used)
        used.add((name, key))
        self.tables[name][key] = (self.tables[name][key][0] + 1, *row)
        return client.change("UPDATE", self.identifier(client, name, key), properties)

    def delete(self, client, name, used, _):
        key = self.choice.choice(sorted(self.tables[name]))
        books = self.tables["Book"]
        deleted = {(name, key)}
        if name == "Shelf":
            deleted |= {("Book", book) for book, row in books.items() if row[-2] == key}
        if deleted & used:
            return None
        for each, own in deleted:
            del self.tables[each][own]
        if name == "Tag":
            for book, row in books.items():
                books[book] = (*row[:-1], row[-1] - {key})
        return client.change("DELETE", self.identifier(client, name, key))

    def properties(self, client, name, used):
        """Random values of an object: as they are sent, and as a row without its version."""
        self.words += 1
        title = f"title {self.words} " + "x" * self.choice.randrange(TITLE_BYTES_MAX)
        if name != "Book":
            return {"title": title}, (title,)
        copies = self.choice.randrange(10**6)
        own = {"copies": str(copies), "price": copies % 100} if self.generation else {
            "copies": copies}
        shelf = self.choice.choice([None, *sorted(self.tables["Shelf"])])
        tags = sorted(self.tables["Tag"])
        tags = self.choice.sample(tags, self.choice.randint(0, min(3, len(tags))))
        used |= {("Tag", tag) for tag in tags} | {("Shelf", shelf)}
        links = {
            "shelf": shelf and self.identifier(client, "Shelf", shelf),
            "tags": [self.identifier(client, "Tag", tag) for tag in tags]}
        return {"title": title} | own | links, (title, *own.values(), shelf, frozenset(tags))

    def identifier(self, client, name, key):
        return values.Identifier(store=client.welcome.store, entity=self.entity(name), key=key)


def content(store):
    """The objects in the file of a store, as the model has them, and its last transaction."""
    connection = sqlite3.connect(store)
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        generation = int(ENTITIES[1] in tables)
        tags = {}
        table, book, tag = JOINS[generation]
        for book, tag in connection.execute(f'SELECT {book}, {tag} FROM "{table}"'):
            tags.setdefault(book, set()).add(tag)
        own = ("copies", "copies, price")[generation]
        books = {row[0]: (*row[1:], frozenset(tags.get(row[0], ())))
                 for row in connection.execute(
                    f'SELECT _id, _version, title, {own}, shelf FROM "{ENTITIES[generation]}"')}
        others = {name: {row[0]: row[1:] for row in connection.execute(
            f'SELECT _id, _version, title FROM "{name}"')} for name in ("Shelf", "Tag")}
        [last] = connection.execute("SELECT max(number) FROM _transaction").fetchone()
        return last or 0, (generation, {"Book": books} | others)
    finally:
        connection.close()


class Archived:
    """A store that is archived, and its states by generation and transaction."""

    def __init__(self, folder, choice):
        folder.mkdir()
        self.daemon, self.choice, self.model = ArchivedDaemon(folder), choice, Model(choice)
        for each in SCHEMAS:
            (folder / f"{each['version']}.json").write_text(json.dumps(each))
        self.daemon.schema = folder / "1.0.0.json"
        self.states, self.times, self.kills = {}, {}, 0

    def write(self, count):
        """Makes this number of transactions; kills larderd between some of them."""
        client = Client(self.daemon.socket, name="restores")
        for _ in range(count):
            if self.choice.random() < KILL_SHARE:
                client.close()
                self.daemon.kill()
                start(self.daemon)
                client = Client(self.daemon.socket, name="restores")
                self.kills += 1
            self.record(self.model.save(client))
        client.close()

    def record(self, number):
        generation, tables = self.model.state()
        self.states[generation, number] = tables

    def migrate(self):
        self.daemon.schema = self.daemon.folder / "2.0.0.json"
        made = larder("migrate", "--socket", self.daemon.socket, "--schema", self.daemon.schema)
        if made.returncode != 0:
            raise Failed(f"the migration failed: {made.stderr}")
        self.model.migrate()
        self.record(max(number for _, number in self.states))
        # States between a migration and the end of the first base cannot be restored.
        deadline = time.monotonic() + BASE_SECONDS
        while len(self.generations()) < 2:
            if time.monotonic() > deadline:
                raise Failed("the new generation has no base")
            time.sleep(0.05)

    def generations(self):
        """The first and the last transaction of each generation that can be restored."""
        listed = larder("archive", "list", self.daemon.archive, "--output", "plain")
        lines = [line.split("\t") for line in listed.stdout.splitlines()]
        return [(int(line[1]), int(line[2])) for line in lines if line[1]]

    def check(self):
        """The archive has every state from its first base on."""
        checked = larder("archive", "check", self.daemon.archive)
        if checked.returncode != 0:
            raise Failed(f"larder archive check: {checked.stdout}{checked.stderr}")
        found = self.generations()
        ranges = [sorted(number for each, number in self.states if each == generation)
                  for generation in (0, 1)]
        # The transactions of the first generation begin with the base of an empty store.
        if [last for _, last in found] != [each[-1] for each in ranges] or (
                found[0][0] > ranges[0][0] or found[1][0] != ranges[1][0]):
            raise Failed(f"the archive has {found}, not {[(e[0], e[-1]) for e in ranges]}")

    def restore(self, at, expected, *options):
        """Restores a state, which must be one of those that are expected."""
        path = self.daemon.folder / "restored"
        made = larder(
            "restore", "--archive", self.daemon.archive, "--to", path, "--at", at, *options)
        if made.returncode != 0:
            raise Failed(f"{at} cannot be restored: {made.stderr}")
        check_store(path)
        last, (generation, tables) = content(path)
        if (generation, last) not in expected:
            raise Wrong(f"{at} is restored to {last} of generation {generation}, not {expected}")
        if tables != self.states[generation, last]:
            differing = [
                (name, key) for name, rows in tables.items()
                for key in rows.keys() | self.states[generation, last][name].keys()
                if rows.get(key) != self.states[generation, last][name].get(key)]
            raise Wrong(f"restored to {at}, {len(differing)} objects differ: {differing[:5]}")
        path.unlink()

    def restore_numbers(self, count):
        for generation, number in self.choice.sample(sorted(self.states), count):
            self.restore(
                str(number), [(generation, number)], "--generation", str(generation + 1))

    def restore_times(self, count):
        connection = sqlite3.connect(self.daemon.store)
        times = connection.execute("SELECT time, number FROM _transaction ORDER BY 1").fetchall()
        connection.close()
        for _ in range(count):
            at = self.choice.uniform(times[0][0] + TIME_SECONDS, times[-1][0])
            near = {number for each, number in times if abs(each - at) < TIME_SECONDS}
            last = max(number for each, number in times if each < at)
            text = (EPOCH + datetime.timedelta(seconds=at)).isoformat(timespec="microseconds")
            # The migration has no time, so a time after its last transaction may be either schema.
            self.restore(text.replace("+00:00", "Z"), [
                (generation, number) for generation, number in self.states
                if number == last or number in near])


def restores(folder, transactions, seed, choice):
    """Makes this number of transactions, and restores a twentieth of their numbers and a hundredth
    as many times."""
    archived = Archived(folder, choice)
    numbers, times = transactions // NUMBERS_SHARE, transactions // TIMES_SHARE
    try:
        start(archived.daemon)
        first_base(archived.daemon)
        archived.write(transactions // 2)
        archived.migrate()
        archived.write(transactions - transactions // 2)
        archived.daemon.stop()
        archived.check()
        archived.restore_numbers(numbers)
        archived.restore_times(times)
    finally:
        archived.daemon.kill()
    return (
        f"{transactions} transactions in 2 generations, with {archived.kills} kills and a "
        f"migration; {numbers} transactions and {times} times restored, each as the model")
