"""A client that writes baskets and knows which of them the store has acknowledged.

It remembers outside the store what it sent and what was answered, outlives the daemon, and tells
after each crash whether the store holds what it must: the acknowledged change sets, and of the
rest, in the order sent, the first few or none.
"""

import contextlib
import random

import larder_client
import workload
from larder_client import Client, LarderError, values

STORAGE_ERRORS = (800, 801)
BATCH = 1_000


class Wrong(Exception):
    """The store does not hold what it must."""


class Lost(Wrong):
    """The store holds an earlier state than an acknowledged one, whole in itself."""


class Refused(Exception):
    """A read was refused by the storage."""


class Writer:
    def __init__(self, number, seed):
        self.number, self.choice = number, random.Random(f"{seed}/{number}")
        self.forget()

    def forget(self):
        """Begins anew, for a new store."""
        self.store = None
        self.state, self.last_number = {}, 0
        self.keys = {}  # of each basket: its own, and its items'
        self.tags = {}  # keys by tag
        self.claimed = {}  # what owns each (entity, key) that was given since the last look
        self.unanswered = []
        # Failed commits show to no reader, but may lie in the log when the process dies.
        self.refused = []
        self.past = {workload.digest({})}

    # Writing.

    def write(self, path, depth, count=None):
        """Writes until the connection breaks, the storage refuses a save, or for so many saves,
        with so many unanswered at a time.

        Returns how many were acknowledged, and the refusal's text if there was one. A refusal
        leaves what was sent after it without the state that it was meant for, so where the
        storage may fail the depth is 1."""
        acknowledged, waiting = 0, []
        try:
            with connection(path, self.number) as client:
                while count is None or acknowledged + len(waiting) < count:
                    operation = self.next_operation()
                    self.unanswered.append(operation)
                    waiting.append((operation, client.send("save", self.change_set(operation))))
                    # Baskets need the tags' keys.
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

    def write_until_death(self, path, depth):
        """Writes until the connection breaks, undeterred by refusals."""
        acknowledged, refusal = 0, True
        while refusal:
            count, refusal = self.write(path, depth)
            acknowledged += count
        return acknowledged

    def next_operation(self):
        if not self.tags:
            return workload.Operation("setup")
        state = workload.states_after(self.state, self.unanswered)[-1]
        # A basket can be named once its keys are known, so until its insert was answered.
        known = {number: each for number, each in state.items() if number in self.keys}
        operation = workload.next_operation(self.choice, known, self.last_number)
        if operation.kind == "insert":
            self.last_number = operation.number
        return operation

    def receive(self, client, operation, request):
        try:
            saved = client.receive(request)
        except LarderError:
            self.unanswered.remove(operation)
            self.refused.append(operation)
            raise
        self.acknowledge(operation, [each.key for each in saved.inserted], client.welcome.store)
        if operation.kind == "update":
            found, wanted = set(saved.updated_versions), {operation.basket.revision}
            if found != wanted:
                raise Wrong(f"an update answered the versions {found}, not {wanted}")

    def acknowledge(self, operation, inserted, store):
        self.store = store
        self.unanswered.remove(operation)
        # A commit that succeeds takes the place of one that failed.
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
        """Sends what was not answered again, in the order sent and under the same keys.

        What the store held already it answers; the rest it does. Returns how many there were."""
        unanswered = list(self.unanswered)
        with connection(path, self.number) as client:
            for operation in unanswered:
                self.receive(client, operation, client.send("save", self.change_set(operation)))
        return len(unanswered)

    def change_set(self, operation):
        make = {"setup": self.setup, "insert": self.insert, "update": self.update,
                "delete": self.delete}[operation.kind]
        revision = operation.basket.revision if operation.basket else 0
        return larder_client.changes.ChangeSet(
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
        for place in range(1, basket.items + 1):
            yield self.change(
                "INSERT", new("Item", f"i{place}"), place=place, revision=1, basket=owner,
                text=self.text(operation, place))

    def update(self, operation):
        basket, (key, items) = operation.basket, self.keys[operation.number]
        yield self.change(
            "UPDATE", self.named("Basket", key), revision=basket.revision,
            text=self.text(operation, 0), tags=self.tag_identifiers(basket))
        for place, item in enumerate(items, 1):
            yield self.change(
                "UPDATE", self.named("Item", item), revision=basket.revision,
                text=self.text(operation, place))

    def delete(self, operation):
        yield self.change("DELETE", self.named("Basket", self.keys[operation.number][0]))

    def text(self, operation, place):
        return workload.text(self.number, operation.number, operation.basket.revision, place)

    def tag_identifiers(self, basket):
        return [self.named("Tag", self.tags[tag]) for tag in sorted(basket.tags)]

    def named(self, entity, key):
        return values.Identifier(store=self.store, entity=entity, key=key)

    @staticmethod
    def change(kind, target, **properties):
        return Client.change(None, kind, target, properties)

    # Looking.

    def check(self, path, after_crash=True):
        """Compares the store with what it must hold, and goes on from what it does hold. Without
        a crash in between nothing that was refused may be there.

        Returns what owns each (entity, key) that was given or found since the last look."""
        try:
            with connection(path, self.number) as client:
                store = client.welcome.store
                tags = client.fetch("Tag", "writer == %@", [self.number])
                state, keys = self.read(client, tags)
        except LarderError as error:
            kind = Refused if error.code in STORAGE_ERRORS else Wrong
            raise kind(f"writer {self.number} was refused a read: {error}") from None
        self.judge(state, len(tags), store, after_crash)
        self.check_keys(keys)
        self.store, self.state, self.keys = store, state, keys
        self.tags = {each["name"].split("/")[1]: each["@id"].key for each in tags}
        self.unanswered = []
        if after_crash:
            self.refused = []
        self.past.add(workload.digest(state))
        for number in keys:
            self.claim(number)
        claimed, self.claimed = self.claimed, {}
        return claimed

    def judge(self, state, tag_count, store, after_crash):
        if self.store not in (None, store) and self.tags:
            raise Lost(f"writer {self.number}: the store is another one")
        allowed = [self.state]
        if after_crash:
            allowed += workload.states_after(self.state, self.unanswered)
            allowed += [each.applied_to(self.state) for each in self.refused]
        if tag_count == 0 and self.tags:
            raise Lost(f"writer {self.number}: its tags are gone")
        if tag_count not in (0, len(workload.TAGS)):
            raise Wrong(f"writer {self.number} has {tag_count} tags of {len(workload.TAGS)}")
        if state in allowed:
            return
        kind = Lost if workload.digest(state) in self.past else Wrong
        raise kind(
            f"writer {self.number}, {len(self.unanswered)} unanswered, {len(self.refused)} "
            f"refused: {workload.difference(state, self.state)}")

    def read(self, client, tags):
        """The writer's state in the store, after a look at all that one basket must agree in."""
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
            for place, key in enumerate(listed, 1):
                item = items.get(key)
                if not item or item["basket"] != row["@id"] or item["place"] != place:
                    raise Wrong(f"basket {number} of writer {self.number} is torn: item {place}")
                self.expect_row(item, number, basket.revision, place)
        if len(state) != len(found) or counted != len(items):
            raise Wrong(f"writer {self.number}: items without a basket, or baskets twice")
        self.check_tags(client, tags, state, keys)
        return state, keys

    def expect_row(self, row, number, revision, place):
        what = f"basket {number} of writer {self.number}, place {place}"
        if (row["revision"], row["@version"]) != (revision, revision):
            raise Wrong(
                f"{what} is torn: revision {row['revision']}, version {row['@version']}, "
                f"in a basket of revision {revision}")
        if row["text"] != workload.text(self.number, number, revision, place):
            raise Wrong(f"{what} has another text")

    def check_tags(self, client, tags, state, keys):
        """The other side of the relationship agrees."""
        for row in get_all(client, [each["@id"] for each in tags]):
            name = row["name"].split("/")[1]
            wanted = {keys[number][0] for number in state if name in state[number].tags}
            if {each.key for each in row["baskets"]} != wanted:
                raise Wrong(f"tag {row['name']} and its baskets disagree")

    def check_keys(self, keys):
        for number, known in self.keys.items():
            if number in keys and keys[number] != known:
                raise Wrong(f"basket {number} of writer {self.number} has changed its keys")

    def claim(self, number):
        key, items = self.keys[number]
        self.claimed["Basket", key] = (self.number, number)
        for place, item in enumerate(items):
            self.claimed["Item", item] = (self.number, number, place)


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
