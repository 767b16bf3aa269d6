"""A client that writes baskets and records which of them the store has acknowledged.

It survives the daemon and records what it sent and which replies it received. After each crash it
verifies that the store contains the acknowledged change sets and, of those without a reply, the
first few in the order sent, or none.
"""

import contextlib
import random

import raw_client
import workload
from raw_client import Client, LarderError, values

STORAGE_ERRORS = (800, 801)
BATCH = 1_000


class Wrong(Exception):
    """The store differs from every allowed state."""


class Lost(Wrong):
    """The store has a consistent state that is older than an acknowledged one."""


class Refused(Exception):
    """A read failed with a storage error."""


class Writer:
    def __init__(self, number, seed):
        self.number, self.choice = number, random.Random(f"{seed}/{number}")
        self.forget()

    def forget(self):
        """Starts again, for a new store."""
        self.store = None
        self.state, self.last_number = {}, 0
        self.keys = {}  # by basket number: the basket's key and its items' keys
        self.tags = {}  # keys by tag name
        self.claimed = {}  # the owner of each (entity, key) assigned since the last check
        self.pending = []
        # A failed commit is visible to no reader, but may be in the WAL after a crash.
        self.refused = []
        self.past = {workload.digest({})}

    # Writing.

    def write(self, path, depth, count=None):
        """Writes until the connection breaks, a save fails with a storage error, or `count` saves
        are made, with `depth` of them in flight.

        Returns the number of acknowledged saves, and the error's text if there was one. A save
        after a refused one would not find the state that it is meant for, so the depth is 1 if
        the storage may fail."""
        acknowledged, waiting = 0, []
        try:
            with connection(path, self.number) as client:
                while count is None or acknowledged + len(waiting) < count:
                    operation = self.next_operation()
                    self.pending.append(operation)
                    waiting.append((operation, client.send("save", self.change_set(operation))))
                    # Baskets need the keys of the tags.
                    if len(waiting) >= (depth if self.tags else 1):
                        self.receive(client, *waiting.pop(0))
                        acknowledged += 1
                for sent in waiting:
                    self.receive(client, *sent)
                    acknowledged += 1
        except LarderError as error:
            if error.code not in STORAGE_ERRORS:
                raise Wrong(f"a save was refused with {error}") from None
            return acknowledged, str(error)
        except (OSError, ConnectionError):
            pass
        return acknowledged, None

    def write_until_disconnected(self, path, depth):
        """Writes until the connection breaks, also after storage errors."""
        acknowledged, refusal = 0, True
        while refusal:
            count, refusal = self.write(path, depth)
            acknowledged += count
        return acknowledged

    def next_operation(self):
        if not self.tags:
            return workload.Operation("setup")
        state = workload.states_after(self.state, self.pending)[-1]
        # An operation can refer to a basket only after the reply to its insert has the keys.
        known = {number: each for number, each in state.items() if number in self.keys}
        operation = workload.next_operation(self.choice, known, self.last_number)
        if operation.kind == "insert":
            self.last_number = operation.number
        return operation

    def receive(self, client, operation, request):
        try:
            saved = client.receive(request)
        except LarderError:
            self.pending.remove(operation)
            self.refused.append(operation)
            raise
        self.acknowledge(operation, [each.key for each in saved.inserted], client.welcome.store)
        if operation.kind == "update":
            found, wanted = set(saved.updated_versions), {operation.basket.revision}
            if found != wanted:
                raise Wrong(f"an update returned the versions {found} instead of {wanted}")

    def acknowledge(self, operation, inserted, store):
        self.store = store
        self.pending.remove(operation)
        # A successful commit overwrites a failed one in the WAL.
        self.refused = []
        self.state = operation.applied_to(self.state)
        self.past.add(workload.digest(self.state))
        if operation.kind == "setup":
            self.tags = dict(zip(workload.TAGS, inserted))
        elif operation.kind == "insert":
            self.keys[operation.number] = (inserted[0], inserted[1:])
            self.claim(operation.number)
        elif operation.kind == "delete":
            del self.keys[operation.number]

    def repeat(self, path):
        """Sends the change sets without a reply again, in the same order and under the same keys.

        The store must apply each exactly once. Returns their number."""
        pending = list(self.pending)
        with connection(path, self.number) as client:
            for operation in pending:
                self.receive(client, operation, client.send("save", self.change_set(operation)))
        return len(pending)

    def change_set(self, operation):
        make = {"setup": self.setup, "insert": self.insert, "update": self.update,
                "delete": self.delete}[operation.kind]
        revision = operation.basket.revision if operation.basket else 0
        return raw_client.changes.ChangeSet(
            changes=make(operation),
            idempotency_key=f"{self.number}/{operation.kind}/{operation.number}/{revision}")

    def setup(self, _):
        return [
            self.change("INSERT", new("Tag", name), writer=self.number,
                        name=f"{self.number}/{name}")
            for name in workload.TAGS]

    def insert(self, operation):
        basket = operation.basket
        owner = new("Basket", "b")
        yield self.change(
            "INSERT", owner, writer=self.number, number=operation.number, revision=1,
            text=self.text(operation, 0), tags=self.tag_identifiers(basket))
        for index in range(1, basket.items + 1):
            yield self.change(
                "INSERT", new("Item", f"i{index}"), index=index, revision=1, basket=owner,
                text=self.text(operation, index))

    def update(self, operation):
        basket, (key, items) = operation.basket, self.keys[operation.number]
        yield self.change(
            "UPDATE", self.named("Basket", key), revision=basket.revision,
            text=self.text(operation, 0), tags=self.tag_identifiers(basket))
        for index, item in enumerate(items, 1):
            yield self.change(
                "UPDATE", self.named("Item", item), revision=basket.revision,
                text=self.text(operation, index))

    def delete(self, operation):
        yield self.change("DELETE", self.named("Basket", self.keys[operation.number][0]))

    def text(self, operation, index):
        return workload.text(self.number, operation.number, operation.basket.revision, index)

    def tag_identifiers(self, basket):
        return [self.named("Tag", self.tags[tag]) for tag in sorted(basket.tags)]

    def named(self, entity, key):
        return values.Identifier(store=self.store, entity=entity, key=key)

    @staticmethod
    def change(kind, target, **properties):
        return Client.change(kind, target, properties)

    # Verifying.

    def check(self, path, after_crash=True):
        """Compares the store with the allowed states, and continues from its actual state. Without
        a crash in between, no refused change set may be visible.

        Returns the owner of each (entity, key) that was assigned or read since the last check."""
        try:
            with connection(path, self.number) as client:
                store = client.welcome.store
                tags = client.fetch("Tag", "writer == %@", [self.number])
                state, keys = self.read(client, tags)
        except LarderError as error:
            kind = Refused if error.code in STORAGE_ERRORS else Wrong
            raise kind(f"writer {self.number}: a read failed: {error}") from None
        self.judge(state, len(tags), store, after_crash)
        self.check_keys(keys)
        self.store, self.state, self.keys = store, state, keys
        self.tags = {each["name"].split("/")[1]: each["@id"].key for each in tags}
        self.pending = []
        if after_crash:
            self.refused = []
        self.past.add(workload.digest(state))
        for number in keys:
            self.claim(number)
        claimed, self.claimed = self.claimed, {}
        return claimed

    def judge(self, state, tag_count, store, after_crash):
        if self.store not in (None, store) and self.tags:
            raise Lost(f"writer {self.number}: this is another store")
        allowed = [self.state]
        if after_crash:
            allowed += workload.states_after(self.state, self.pending)
            allowed += [each.applied_to(self.state) for each in self.refused]
        if tag_count == 0 and self.tags:
            raise Lost(f"writer {self.number}: its tags are missing")
        if tag_count not in (0, len(workload.TAGS)):
            raise Wrong(f"writer {self.number} has {tag_count} tags of {len(workload.TAGS)}")
        if state in allowed:
            return
        kind = Lost if workload.digest(state) in self.past else Wrong
        raise kind(
            f"writer {self.number}, {len(self.pending)} without a reply, {len(self.refused)} "
            f"refused: {workload.difference(state, self.state)}")

    def read(self, client, tags):
        """The writer's state in the store; verifies that the rows of each basket are consistent."""
        names = {each["@id"].key: each["name"].split("/")[1] for each in tags}
        found = client.fetch("Basket", "writer == %@", [self.number])
        items = client.fetch("Item", "basket.writer == %@", [self.number])
        items = {each["@id"].key: each for each in items}
        state, keys, counted = {}, {}, 0
        for row in get_all(client, [each["@id"] for each in found]):
            number, listed = row["number"], [each.key for each in row["items"]]
            own_tags = frozenset(names.get(each.key) for each in row["tags"])
            state[number] = basket = workload.Basket(row["revision"], len(listed), own_tags)
            keys[number] = (row["@id"].key, listed)
            counted += len(listed)
            self.expect_row(row, number, basket.revision, 0)
            for index, key in enumerate(listed, 1):
                item = items.get(key)
                if not item or item["basket"] != row["@id"] or item["index"] != index:
                    raise Wrong(
                        f"basket {number} of writer {self.number} is incomplete: item {index}")
                self.expect_row(item, number, basket.revision, index)
        if len(state) != len(found) or counted != len(items):
            raise Wrong(f"writer {self.number}: an item without a basket, or a duplicate basket")
        self.check_tags(client, tags, state, keys)
        return state, keys

    def expect_row(self, row, number, revision, index):
        what = f"basket {number} of writer {self.number}, index {index}"
        if (row["revision"], row["@version"]) != (revision, revision):
            raise Wrong(
                f"{what} is inconsistent: revision {row['revision']}, version {row['@version']}, "
                f"in a basket of revision {revision}")
        if row["text"] != workload.text(self.number, number, revision, index):
            raise Wrong(f"{what} has another text")

    def check_tags(self, client, tags, state, keys):
        """Verifies the other side of the relationship."""
        for row in get_all(client, [each["@id"] for each in tags]):
            name = row["name"].split("/")[1]
            wanted = {keys[number][0] for number in state if name in state[number].tags}
            if {each.key for each in row["baskets"]} != wanted:
                raise Wrong(f"tag {row['name']} and its baskets disagree")

    def check_keys(self, keys):
        for number, known in self.keys.items():
            if number in keys and keys[number] != known:
                raise Wrong(f"the keys of basket {number} of writer {self.number} have changed")

    def claim(self, number):
        key, items = self.keys[number]
        self.claimed["Basket", key] = (self.number, number)
        for index, item in enumerate(items):
            self.claimed["Item", item] = (self.number, number, index)


@contextlib.contextmanager
def connection(path, number):
    client = Client(path, name=f"writer {number}")
    try:
        yield client
    finally:
        client.close()


def get_all(client, identifiers):
    return [
        row for start in range(0, len(identifiers), BATCH)
        for row in client.get(*identifiers[start:start + BATCH])]


def new(entity, name):
    return values.Identifier(entity=entity, temporary_name=f"t:{name}")
