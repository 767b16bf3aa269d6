"""Plays change sets against the store and the model at once, and says where they differ."""

import collections
import itertools

import model
import past
import wire
from generator import Generator
from larder_client import larder, queries
from questions import Questions
from world import World

# Of the steps: sets that are sent at the same time, and questions.
TOGETHER_SHARE, ASK_SHARE = 0.12, 0.15
TOGETHER_MAX = 3
# The worlds that a client may remember.
REMEMBERED = 30
WHOLE_EVERY = 100
CHECK_EVERY = 1_000
# Beyond the numbers that the inserts of one set get.
NUMBERS_A_SET = 1_000
OBJECTS_LOOKED_AT = 4
# No error tells of more.
FAULTS_MAX = 100
SHOWN_MAX = 1_000


class Disagreement(Exception):
    """The store is not as the model says it must be."""


class Referee:
    """`team` has the clients, `run` carries out change sets in the model."""

    def __init__(self, schema, team, choice, run=model.Run):
        self.schema, self.team, self.choice, self.run = schema, team, choice, run
        self.generator = Generator(schema, choice)
        self.questions = Questions(schema, choice)
        self.names = wire.Names(schema)
        self.world = World(schema)
        self.worlds = collections.deque([self.world], REMEMBERED)
        self.next_number = 1
        self.transaction = 0
        self.history = []
        self.counts = collections.Counter()

    def connect(self, path):
        self.names.store = self.team.all("connect", path)[0]

    # MARK: Steps

    def step(self, number):
        kind = self.choice.random()
        if kind < ASK_SHARE:
            self.ask()
        elif kind < ASK_SHARE + TOGETHER_SHARE:
            self.save(self.choice.randint(2, TOGETHER_MAX))
        else:
            self.save(1)
        if number % WHOLE_EVERY == 0:
            self.compare_whole()
        if number % CHECK_EVERY == 0:
            self.check_store()

    def save(self, count):
        """Sends so many sets at the same time, from as many clients."""
        sets = [self.new_set() for _ in range(count)]
        first_numbers = [self.take_numbers() for _ in sets]
        clients = self.choice.sample(range(len(self.team.members)), count)
        for client, each in zip(clients, sets):
            content = self.names.change_set(each).SerializeToString()
            self.team.tell(client, "ask", [("save", content)])
        replies = [self.reply(self.team.result(client)[0]) for client in clients]
        try:
            self.settle(sets, first_numbers, replies)
        except Disagreement as error:
            shown = "\n".join(
                f"{self.names.lines(each)}\nanswered: {described(reply)}"
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
        self.next_number += NUMBERS_A_SET
        return self.next_number - NUMBERS_A_SET

    @staticmethod
    def reply(content):
        envelope = larder.Envelope.FromString(content)
        return getattr(envelope, envelope.WhichOneof("body"))

    # MARK: What was answered

    def settle(self, sets, first_numbers, replies):
        """Finds the orders in which the sets, done one after the other, get these answers, and
        goes on from the one that left what the store holds."""
        complaints, settled = [], {}
        for order in itertools.permutations(range(len(sets))):
            try:
                world, given, outcomes = self.play(order, sets, first_numbers, replies)
            except Disagreement as error:
                complaints.append(str(error))
            except model.Undecided:
                # Then nothing but the store itself says what is so.
                self.counts["undecided"] += 1
                raise Disagreement("a set was left open by the order of others") from None
            else:
                settled[order] = world, given, outcomes
        if not settled:
            raise Disagreement("\n".join(dict.fromkeys(complaints)))
        last = None
        for order, (world, given, outcomes) in settled.items():
            try:
                return self.accept(order, sets, replies, world, given, outcomes)
            except Disagreement as error:
                last = error
        raise last

    def play(self, order, sets, first_numbers, replies):
        world, given, outcomes = self.world, {}, {}
        last_keys, transaction = dict(self.names.last_keys), self.transaction
        for place in order:
            outcome = self.outcome(world, sets[place], first_numbers[place])
            self.judge(outcome, replies[place], given, last_keys)
            outcomes[place] = outcome
            if outcome.world is None:
                continue
            world = outcome.world
            number = replies[place].transaction
            if number:
                if number <= transaction:
                    raise Disagreement(f"transaction {number} came after {transaction}")
                transaction = number
        return world, given, outcomes

    def judge(self, outcome, reply, given, last_keys):
        """Compares one set's answer; `given` gets the (entity, key) of new numbers."""
        if isinstance(reply, larder.ErrorReply):
            self.judge_faults(outcome, reply)
            return
        if outcome.world is None:
            raise Disagreement(f"it was done, and should have had the faults {outcome.faults}")
        found = (list(reply.updated_versions), reply.deleted_count, list(reply.merged))
        wanted = (outcome.updated, outcome.deleted_count, outcome.merged)
        if found != wanted:
            raise Disagreement(
                f"updated versions, deleted count, merged: {found}, and should be {wanted}")
        if len(reply.inserted) != len(outcome.inserted):
            raise Disagreement(f"{len(reply.inserted)} objects were inserted")
        for identifier, number in zip(reply.inserted, outcome.inserted):
            place = identifier.entity, identifier.key
            known = given.get(number)
            if known is None and number in self.names.keys:
                known = self.names.entities[number], self.names.keys[number]
            if known is None:
                if identifier.key <= last_keys.get(identifier.entity, 0):
                    raise Disagreement(f"the key of {place} is not a new one")
                last_keys[identifier.entity] = identifier.key
                given[number] = place
            elif known != place:
                raise Disagreement(f"an insert means {known}, and was said to be {place}")
        net = outcome.history
        if bool(reply.transaction) != bool(net.inserted or net.deleted or net.updated):
            raise Disagreement(f"the transaction is {reply.transaction}, and {net} is to be told")

    @staticmethod
    def judge_faults(outcome, reply):
        found = {
            (each.code, each.entity, *each.properties) if each.properties else (each.code,)
            for each in reply.details} or {(reply.code,)}
        if outcome.world is not None:
            raise Disagreement(f"it was refused with {found}, and should have been done")
        is_cut = len(reply.details) == FAULTS_MAX
        if outcome.is_lenient:
            is_right = not outcome.faults.isdisjoint(found) if is_cut else outcome.faults <= found
        else:
            is_right = found <= outcome.faults if is_cut else outcome.faults == found
        if not is_right or reply.code not in {code for code, *_ in found}:
            raise Disagreement(
                f"it was refused with {reply.code} and {found}, and should have been with "
                f"{outcome.faults}")

    def accept(self, order, sets, replies, world, given, outcomes):
        """Goes on with these outcomes, after a look at the objects that may have changed."""
        for number, (entity, key) in given.items():
            self.names.give(number, entity, key)
        self.compare(world, self.affected(sets, outcomes))
        for place in order:
            outcome, reply = outcomes[place], replies[place]
            self.counts["done" if outcome.world else "refused"] += 1
            self.counts.update(f"code {code}" for code, *_ in outcome.faults)
            self.counts["changes"] += len(sets[place].changes)
            self.counts["conflicts solved"] += len(outcome.merged)
            self.counts["objects deleted"] += outcome.deleted_count
            self.counts["inserts that updated"] += sum(
                each in self.world.objects for each in outcome.inserted)
            if outcome.world and reply.transaction:
                self.transaction = reply.transaction
                self.history.append((
                    reply.transaction, sets[place].author, outcome.history,
                    self.names.lines(sets[place])))
        self.counts["steps together"] += len(sets) > 1
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
            numbers.update(self.choice.choices(list(self.world.objects), k=OBJECTS_LOOKED_AT))
        return [each for each in numbers if each in self.names.keys]

    # MARK: What the store holds

    def call(self, kind, body):
        client = self.choice.randrange(len(self.team.members))
        self.team.tell(client, "ask", [(kind, body.SerializeToString())])
        return self.reply(self.team.result(client)[0])

    def compare(self, world, numbers):
        """The objects as a client reads them, and those that are gone."""
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
                    f"{self.names.text(number)} is {'there' if row else 'not there'}")
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
            f"{name} is {found.get(name)!r}, and should be {wanted.get(name)!r}"
            for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)]
        if version != thing.version:
            differing.append(f"its version is {version}, and should be {thing.version}")
        raise Disagreement(f"{self.names.text(number)}: {'; '.join(differing)}")

    def seen(self, world, number, name):
        """A property with objects as keys; a list without order is sorted."""
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
                raise Disagreement(f"the objects of {entity} are {found}, and should be {wanted}")
        self.counts["whole comparisons"] += 1

    def check_store(self):
        reply = self.call("check", larder.CheckRequest())
        if reply.findings:
            raise Disagreement(f"check found {list(reply.findings)}")
        self.counts["checks"] += 1

    def ask(self):
        question = self.questions.question(self.world)
        reply = self.call("query", question.request(self.names))
        if complaint := question.complaint(reply, self.world, self.names):
            raise Disagreement(f"{question}: {complaint}")
        self.counts["questions"] += 1

    def compare_history(self, file):
        """After the server has ended."""
        past.compare(file, self.history, self.names, Disagreement)


def described(reply):
    if isinstance(reply, larder.ErrorReply):
        return " | ".join(reply.faults or [reply.message])[:SHOWN_MAX]
    return " ".join(str(reply).split())[:SHOWN_MAX]
