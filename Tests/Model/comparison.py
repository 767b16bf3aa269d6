"""Applies change sets to the store and to the model, and compares the two."""

import collections
import itertools

import model
import stored_history
import wire
from generator import Generator
from raw_client import larder, queries
from random_queries import RandomQueries
from world import World

# The shares of steps with concurrent sets, and with queries.
CONCURRENT_SHARE, QUERY_SHARE = 0.12, 0.15
CONCURRENT_MAX = 3
# The number of past worlds that a client may have read.
PAST_WORLDS = 30
WHOLE_EVERY = 100
CHECK_EVERY = 1_000
# Greater than the number of inserts in one set.
NUMBERS_PER_SET = 1_000
OTHER_OBJECTS = 4
# The greatest number of errors in one reply.
ERRORS_MAX = 100
SHOWN_MAX = 1_000


class Disagreement(Exception):
    """The store differs from the model."""


class Comparison:
    """`team` has the clients; `run` is the class that applies change sets to the model."""

    def __init__(self, schema, team, choice, run=model.Run):
        self.schema, self.team, self.choice, self.run = schema, team, choice, run
        self.generator = Generator(schema, choice)
        self.queries = RandomQueries(schema, choice)
        self.names = wire.Names(schema)
        self.world = World(schema)
        self.worlds = collections.deque([self.world], PAST_WORLDS)
        self.next_number = 1
        self.transaction = 0
        self.history = []
        self.counts = collections.Counter()

    def connect(self, path):
        self.names.store = self.team.all("connect", path)[0]

    # MARK: Steps

    def step(self, number):
        kind = self.choice.random()
        if kind < QUERY_SHARE:
            self.query()
        elif kind < QUERY_SHARE + CONCURRENT_SHARE:
            self.save(self.choice.randint(2, CONCURRENT_MAX))
        else:
            self.save(1)
        if number % WHOLE_EVERY == 0:
            self.compare_whole()
        if number % CHECK_EVERY == 0:
            self.check_store()

    def save(self, count):
        """Sends this number of sets at the same time, each from another client."""
        sets = [self.new_set() for _ in range(count)]
        first_numbers = [self.take_numbers() for _ in sets]
        clients = self.choice.sample(range(len(self.team.members)), count)
        for client, each in zip(clients, sets):
            content = self.names.change_set(each).SerializeToString()
            self.team.send(client, "exchange", [("save", content)])
        replies = [self.reply(self.team.result(client)[0]) for client in clients]
        try:
            self.match(sets, first_numbers, replies)
        except Disagreement as error:
            shown = "\n".join(
                f"{self.names.lines(each)}\nreply: {described(reply)}"
                for each, reply in zip(sets, replies))
            raise Disagreement(f"{error}\n{shown}") from None

    def new_set(self):
        past_world = self.choice.choice(self.worlds)
        return self.generator.change_set(self.world, past_world, self.try_out)

    def try_out(self, change_set):
        try:
            return self.outcome(self.world, change_set, self.next_number).world is not None
        except model.Undecided:
            return None

    def outcome(self, world, change_set, first_number):
        return self.run(world, change_set, first_number, self.names.entities).outcome()

    def take_numbers(self):
        self.next_number += NUMBERS_PER_SET
        return self.next_number - NUMBERS_PER_SET

    @staticmethod
    def reply(content):
        envelope = larder.Envelope.FromString(content)
        return getattr(envelope, envelope.WhichOneof("body"))

    # MARK: Replies

    def match(self, sets, first_numbers, replies):
        """Finds the orders in which the sets, applied one after the other, have these replies, and
        continues with the one that results in the contents of the store."""
        problems, matches = [], {}
        for order in itertools.permutations(range(len(sets))):
            try:
                world, given, outcomes = self.apply(order, sets, first_numbers, replies)
            except Disagreement as error:
                problems.append(str(error))
            except model.Undecided:
                self.counts["undecided"] += 1
                raise Disagreement(
                    "the effect of a set is not defined in one of the orders") from None
            else:
                matches[order] = world, given, outcomes
        if not matches:
            raise Disagreement("\n".join(dict.fromkeys(problems)))
        last = None
        for order, (world, given, outcomes) in matches.items():
            try:
                return self.accept(order, sets, replies, world, given, outcomes)
            except Disagreement as error:
                last = error
        raise last

    def apply(self, order, sets, first_numbers, replies):
        world, given, outcomes = self.world, {}, {}
        last_keys, transaction = dict(self.names.last_keys), self.transaction
        for index in order:
            outcome = self.outcome(world, sets[index], first_numbers[index])
            self.compare_reply(outcome, replies[index], given, last_keys)
            outcomes[index] = outcome
            if outcome.world is None:
                continue
            world = outcome.world
            number = replies[index].transaction
            if number:
                if number <= transaction:
                    raise Disagreement(f"transaction {number} follows transaction {transaction}")
                transaction = number
        return world, given, outcomes

    def compare_reply(self, outcome, reply, given, last_keys):
        """Compares the reply to one set; adds the (entity, key) of new numbers to `given`."""
        if isinstance(reply, larder.ErrorReply):
            self.compare_errors(outcome, reply)
            return
        if outcome.world is None:
            raise Disagreement(f"it succeeded instead of failing with {outcome.errors}")
        found = (
            list(reply.updated_versions), reply.deleted_count, list(reply.merged),
            list(reply.upserted))
        wanted = (outcome.updated, outcome.deleted_count, outcome.merged, outcome.upserted)
        if found != wanted:
            raise Disagreement(
                f"updated versions, deleted count, merged, upserted: {found} instead of {wanted}")
        if len(reply.inserted) != len(outcome.inserted):
            raise Disagreement(f"{len(reply.inserted)} objects were inserted")
        for identifier, number in zip(reply.inserted, outcome.inserted):
            returned = identifier.entity, identifier.key
            known = given.get(number)
            if known is None and number in self.names.keys:
                known = self.names.entities[number], self.names.keys[number]
            if known is None:
                if identifier.key <= last_keys.get(identifier.entity, 0):
                    raise Disagreement(f"the key of {returned} is not new")
                last_keys[identifier.entity] = identifier.key
                given[number] = returned
            elif known != returned:
                raise Disagreement(f"an insert returned {returned} instead of {known}")
        net = outcome.history
        if bool(reply.transaction) != bool(net.inserted or net.deleted or net.updated):
            raise Disagreement(
                f"the transaction is {reply.transaction}, the expected changes are {net}")

    @staticmethod
    def compare_errors(outcome, reply):
        found = {
            (each.code, each.entity, *each.properties) if each.properties else (each.code,)
            for each in reply.details} or {(reply.code,)}
        if outcome.world is not None:
            raise Disagreement(f"it failed with {found} instead of succeeding")
        is_cut = len(reply.details) == ERRORS_MAX
        if outcome.is_lenient:
            is_right = not outcome.errors.isdisjoint(found) if is_cut else outcome.errors <= found
        else:
            is_right = found <= outcome.errors if is_cut else outcome.errors == found
        if not is_right or reply.code not in {code for code, *_ in found}:
            raise Disagreement(
                f"it failed with {reply.code} and {found} instead of {outcome.errors}")

    def accept(self, order, sets, replies, world, given, outcomes):
        """Continues with these outcomes, if the objects that may have changed match."""
        for number, (entity, key) in given.items():
            self.names.add(number, entity, key)
        self.compare(world, self.affected(sets, outcomes))
        for index in order:
            outcome, reply = outcomes[index], replies[index]
            self.counts["applied" if outcome.world else "refused"] += 1
            self.counts.update(f"code {code}" for code, *_ in outcome.errors)
            self.counts["changes"] += len(sets[index].changes)
            self.counts["conflicts solved"] += len(outcome.merged)
            self.counts["objects deleted"] += outcome.deleted_count
            self.counts["inserts that updated"] += sum(
                each in self.world.objects for each in outcome.inserted)
            if outcome.world and reply.transaction:
                self.transaction = reply.transaction
                self.history.append((
                    reply.transaction, sets[index].author, outcome.history,
                    self.names.lines(sets[index])))
        self.counts["concurrent steps"] += len(sets) > 1
        self.world = world
        self.worlds.append(world)

    def affected(self, sets, outcomes):
        numbers = set()
        for each in outcomes.values():
            if each.world:
                net = each.history
                numbers.update(net.inserted, net.deleted, net.updated, net.touched)
        for each in sets:
            numbers.update(
                change.object for change in each.changes if isinstance(change.object, int))
        if self.world.objects:
            numbers.update(self.choice.choices(list(self.world.objects), k=OTHER_OBJECTS))
        return [each for each in numbers if each in self.names.keys]

    # MARK: Contents of the store

    def call(self, kind, body):
        client = self.choice.randrange(len(self.team.members))
        self.team.send(client, "exchange", [(kind, body.SerializeToString())])
        return self.reply(self.team.result(client)[0])

    def compare(self, world, numbers):
        """Compares objects, also deleted ones, with what a client reads."""
        if not numbers:
            return
        reply = self.call("get", larder.GetRequest(
            identifiers=[self.names.identifier(each) for each in numbers]))
        found = {
            (batch.identity.entity, key): row
            for batch in reply.batches for key, row in wire.rows(batch).items()}
        for number in numbers:
            entity, key = self.names.entities[number], self.names.keys[number]
            row = found.get((entity, key))
            if (row is not None) != world.exists(number):
                raise Disagreement(
                    f"{self.names.text(number)} {'exists' if row else 'does not exist'}")
            if row:
                self.compare_object(world, number, row)

    def compare_object(self, world, number, row):
        version, found = row
        thing = world.objects[number]
        wanted = {name: self.seen(world, number, name) for name in thing.values}
        for name, relationship in self.schema[thing.entity].relationships.items():
            if relationship.to_many and not relationship.ordered:
                found[name] = sorted(found[name])
        if (version, found) == (thing.version, wanted):
            return
        differing = [
            f"{name} is {found.get(name)!r} instead of {wanted.get(name)!r}"
            for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)]
        if version != thing.version:
            differing.append(f"its version is {version} instead of {thing.version}")
        raise Disagreement(f"{self.names.text(number)}: {'; '.join(differing)}")

    def seen(self, world, number, name):
        """The value of a property with objects as keys; an unordered list is sorted."""
        relationship = self.schema[world.objects[number].entity].relationships.get(name)
        value = world.read(number, name)
        if relationship is None or value is None:
            return value
        if not relationship.to_many:
            return self.names.keys[value]
        keys = [self.names.keys[each] for each in value]
        return keys if relationship.ordered else sorted(keys)

    def compare_whole(self):
        self.compare(self.world, list(self.world.objects))
        for entity in self.schema:
            shape = queries.Query(fetch=queries.FetchQuery(
                entity=entity, selection=queries.SELECTION_IDENTIFIERS))
            reply = self.call("query", larder.QueryRequest(shape=shape.SerializeToString()))
            found = [key for batch in reply.batches for key in batch.identity.keys]
            wanted = sorted(self.names.keys[each] for each in self.world.of(entity))
            if found != wanted:
                raise Disagreement(f"the objects of {entity} are {found} instead of {wanted}")
        self.counts["whole comparisons"] += 1

    def check_store(self):
        reply = self.call("check", larder.CheckRequest())
        if reply.findings:
            raise Disagreement(f"check found {list(reply.findings)}")
        self.counts["checks"] += 1

    def query(self):
        query = self.queries.query(self.world)
        reply = self.call("query", query.request(self.names))
        if difference := query.difference(reply, self.world, self.names):
            raise Disagreement(f"{query}: {difference}")
        self.counts["queries"] += 1

    def compare_history(self, file):
        """Compares the history in the file of an ended server."""
        stored_history.compare(file, self.history, self.names, Disagreement)


def described(reply):
    if isinstance(reply, larder.ErrorReply):
        return " | ".join(reply.problems or [reply.message])[:SHOWN_MAX]
    return " ".join(str(reply).split())[:SHOWN_MAX]
