"""Random change sets: most of them succeed, some have an error, on purpose or not."""

from edits import Edit
from model import Change, ChangeSet, Condition, Temporary
from random_queries import RandomQueries
from values import bad_value, random_value

OBJECTS_MAX = 160
CHANGES_MAX = 12
POLICIES = ["error", "error", "storeWins", "callerWins", "overwrite", "rollback"]
AUTHORS = ["", "", "Ann", "Bé", "an import"]
# The approximate number of objects of each entity.
COUNTS = {
    "Harbour": 14, "Berth": 14, "Ship": 16, "Sailor": 30, "Papers": 8, "Route": 10, "Cargo": 10,
    "Item": 22, "Sample": 16}
# The number of attempts to generate a set that succeeds.
ATTEMPTS = 4
SUCCESS_SHARE = 0.75
ERROR_SHARE = 0.15
CONDITION_SHARE, WRONG_COUNT_SHARE = 0.15, 0.1
# How often an object is as likely to be related to itself as to all other existing objects.
SELF_SHARE = 0.2


class Generator:
    def __init__(self, schema, choice):
        self.schema, self.choice = schema, choice
        self.queries = RandomQueries(schema, choice)

    def change_set(self, world, past, try_out):
        """A set for a world. `past` is the world that a client may have read, some steps ago.
        `try_out` returns whether a set would succeed, or None if that is not defined."""
        is_success_wanted = self.chance(SUCCESS_SHARE)
        for attempt in range(ATTEMPTS):
            made = self.make(world, past)
            if not is_success_wanted and self.chance(ERROR_SHARE / (1 - SUCCESS_SHARE)):
                self.add_error(made, world)
            succeeds = try_out(made)
            if succeeds or succeeds is False and not is_success_wanted:
                return made
        return made if succeeds is not None else ChangeSet([])

    def chance(self, share):
        return self.choice.random() < share

    # MARK: Sets

    def make(self, world, past):
        self.world, self.past = world, past
        self.set = ChangeSet(
            [], self.choice.choice(POLICIES), self.chance(0.35), self.choice.choice(AUTHORS))
        while self.chance(CONDITION_SHARE):
            self.set.conditions.append(self.condition())
        self.temporary = []
        self.named, self.deleted = set(), set()
        special = self.choice.random()
        if special < 0.06:
            self.exchange()
        elif special < 0.10:
            self.rearrange()
        elif special < 0.11:
            return self.set
        self.mixture()
        return self.set

    def condition(self):
        """A condition that the world or an older one meets, or seldom one that none may meet."""
        entity = self.choice.choice(list(self.schema))
        condition = Condition(entity, self.queries.predicate(entity, self.world), 0)
        known = self.past if self.chance(0.2) else self.world
        condition.count = condition.matching(known)
        if self.chance(WRONG_COUNT_SHARE):
            condition.count = max(0, condition.count + self.choice.choice([-1, 1]))
        return condition

    def mixture(self):
        """Some changes. The kind and entity of each are chosen before the values, which can then
        refer to objects that later changes insert."""
        count = min(CHANGES_MAX, 1 + int(self.choice.expovariate(0.35)))
        is_full = len(self.world.objects) > OBJECTS_MAX
        kinds = self.choice.choices(
            ["insert", "update", "delete"], [2, 6, 4] if is_full else [5, 5, 1], k=count)
        planned = []
        for kind in kinds:
            planned += self.plan(kind)
        self.choice.shuffle(planned)
        if self.chance(0.3):
            # Objects that are updated and then deleted.
            planned[0:0] = [
                ("update", subject) for kind, subject in planned
                if kind == "delete" and ("update", subject) not in planned]
        for kind, subject in planned:
            if kind == "delete":
                self.deleted.add(subject)
        for kind, subject in planned:
            self.set.changes.append(getattr(self, kind)(subject))

    def plan(self, kind):
        if kind == "insert" or not self.world.objects:
            lacking = [
                1 + max(0, count - len(self.world.of(name))) for name, count in COUNTS.items()]
            entity = self.choice.choices(list(COUNTS), lacking)[0]
            inserts = [("insert", self.new(entity))]
            if entity == "Cargo":
                inserts += [
                    ("insert", self.new("Item")) for _ in range(self.choice.randint(1, 2))]
            return inserts
        source = self.past if self.past.objects and self.chance(0.03) else self.world
        candidates = list(source.objects)
        if self.chance(0.3):
            # Objects that others have changed since, which causes conflicts.
            candidates = [
                each for each, thing in self.world.objects.items()
                if self.past.objects.get(each, thing) is not thing] or candidates
        subject = self.choice.choice(candidates)
        if subject in self.named and not self.chance(0.02):
            return []
        self.named.add(subject)
        return [(kind, subject)]

    def new(self, entity):
        self.temporary.append(Temporary(entity, f"t:{len(self.temporary)}"))
        return self.temporary[-1]

    def insert(self, subject):
        entity = self.schema[subject.entity]
        given = {}
        for each in entity.settable.values():
            if self.chance(0.5) or not each.optional and each.default is None:
                given[each.name] = random_value(each, self.choice)
        for each in entity.relationships.values():
            if self.chance(0.2) or not each.optional:
                value = self.related(subject, each)
                if value is not Ellipsis:
                    given[each.name] = value
        known = self.world.of(entity.name)
        if self.set.upsert and entity.unique and known and self.chance(0.3):
            # The unique values of an existing object.
            existing = self.choice.choice(known)
            for name in self.choice.choice(entity.unique):
                if self.world.read(existing, name) is not None:
                    given[name] = self.world.read(existing, name)
        return Change("insert", subject, given, edits=self.edits(subject, entity, given))

    def update(self, subject):
        source = self.world if self.world.exists(subject) else self.past
        entity = self.schema[source.objects[subject].entity]
        settable = [*entity.settable, *entity.relationships]
        names = self.choice.sample(settable, min(len(settable), self.choice.randint(0, 3)))
        given = {}
        for name in names:
            if name in entity.attributes:
                given[name] = random_value(entity.attributes[name], self.choice)
            else:
                value = self.related(subject, entity.relationships[name])
                if value is not Ellipsis:
                    given[name] = value
        change = Change("update", subject, given, edits=self.edits(subject, entity, given))
        if self.chance(0.45):
            self.expect(change, entity)
        return change

    def delete(self, subject):
        change = Change("delete", subject)
        if self.chance(0.3):
            self.expect(change, None)
        return change

    def expect(self, change, entity):
        """Adds the caller's knowledge of the object: its current state or an older one."""
        subject = change.object
        known = self.past if self.chance(0.6) and self.past.exists(subject) else self.world
        if not known.exists(subject):
            known = self.past
        if entity is None or self.chance(0.4):
            change.if_version = known.objects[subject].version
        if entity is None:
            return
        others = [each for each in entity.properties if self.chance(0.15)]
        left = {each for each in change.values if self.chance(0.05)}
        for name in [*change.values, *others]:
            if name not in left:
                change.base[name] = known.read(subject, name)

    # MARK: Relationships

    def related(self, subject, relationship):
        """A value of a relationship; Ellipsis if there is none."""
        candidates = self.candidates(subject, relationship)
        if relationship.to_many:
            return self.list(subject, relationship, candidates)
        inverse = relationship.inverse
        if inverse and not inverse.to_many and not inverse.optional or self.chance(0.3):
            free = [each for each in candidates if self.is_free(each, inverse)]
            candidates = free or candidates
        if relationship.optional and (not candidates or self.chance(0.12)):
            return None
        return self.choice.choice(candidates) if candidates else Ellipsis

    def candidates(self, subject, relationship):
        """The possible destinations. Objects that the set inserts, and sometimes the object itself,
        occur several times, so that they are chosen often enough."""
        known = [
            each for each in self.world.of(relationship.destination) if each not in self.deleted]
        if self.deleted and self.chance(0.03):
            known += [
                each for each in self.deleted if self.world.exists(each)
                and self.world.objects[each].entity == relationship.destination]
        new = [each for each in self.temporary if each.entity == relationship.destination]
        candidates = known + new * (1 + len(known) // 6)
        return candidates + [subject] * (
            len(candidates) // 2 if subject in candidates and self.chance(SELF_SHARE) else 0)

    def is_free(self, candidate, inverse):
        if inverse is None or isinstance(candidate, Temporary):
            return True
        value = self.world.objects[candidate].values[inverse.name]
        return not value or inverse.count_max == 0 or len(value) < inverse.count_max

    def list(self, subject, relationship, candidates):
        old = []
        if not isinstance(subject, Temporary) and self.world.exists(subject):
            old = [
                each for each in self.world.objects[subject].values[relationship.name]
                if each not in self.deleted]
        inverse = relationship.inverse
        if inverse and self.chance(0.7):
            candidates = [each for each in candidates if self.is_free(each, inverse)]
        others = list(dict.fromkeys(each for each in candidates if each not in old))
        listed = list(old)
        if listed and (self.chance(0.3)):
            listed.remove(self.choice.choice(listed))
        if listed and self.chance(0.1):
            listed = []
        most = relationship.count_max or 5
        least = max(relationship.count_min, 0 if relationship.optional else 1)
        wanted = self.choice.randint(least, most) if self.chance(0.6) else len(old) + 1
        if self.chance(0.95):
            wanted = max(least, min(most, wanted))
        self.choice.shuffle(others)
        listed += others[:max(0, wanted - len(listed))]
        if self.chance(0.5):
            self.choice.shuffle(listed)
        return listed

    def edits(self, subject, entity, given):
        lists = [
            each for each in entity.relationships.values() if each.to_many
            and (each.name not in given or self.chance(0.02))]
        if not lists or not self.chance(0.35):
            return []
        return [
            self.edit(subject, self.choice.choice(lists))
            for _ in range(self.choice.choice([1, 1, 2, 3]))]

    def edit(self, subject, relationship):
        members = []
        if not isinstance(subject, Temporary) and self.world.exists(subject):
            members = list(self.world.objects[subject].values[relationship.name])
        kinds = ["add", "remove", "move"] if relationship.ordered else ["add", "add", "remove"]
        kind = self.choice.choice(kinds) if members else "add"
        others = [
            each for each in self.candidates(subject, relationship) if each not in members]
        source = others if kind == "add" else members
        if self.chance(0.1):
            source = members + others
        objects = self.choice.sample(source, min(len(source), self.choice.choice([1, 1, 2])))
        position = self.position(subject, relationship, kind, members)
        return Edit(kind, relationship.name, objects, position)

    def position(self, subject, relationship, kind, members):
        """A position for an edit, usually one that the list has."""
        if kind == "remove" or not relationship.ordered and not self.chance(0.02):
            return None
        neighbor = self.choice.choice(
            members or self.candidates(subject, relationship) or [None])
        positions = [("end", "first"), ("end", "last"), ("index", self.choice.randint(0, 4))]
        if neighbor is not None and (members or self.chance(0.1)):
            positions += [("before", neighbor), ("after", neighbor)]
        return self.choice.choice(positions)

    # MARK: Special sets

    def exchange(self):
        """Objects of an entity exchange the values of a uniqueness constraint in a ring."""
        entity = self.choice.choice([each for each in self.schema.values() if each.unique])
        names = self.choice.choice(entity.unique)
        objects = self.world.of(entity.name)
        ring = self.choice.sample(objects, min(len(objects), self.choice.randint(2, 4)))
        for each, other in zip(ring, ring[1:] + ring[:1]):
            given = {}
            for name in names:
                given[name] = self.world.read(other, name)
                attribute = entity.attributes.get(name)
                if attribute and given[name] is None and not attribute.optional:
                    del given[name]
            self.named.add(each)
            self.set.changes.append(Change("update", each, given))

    def rearrange(self):
        """Objects of an entity exchange lists, possibly in another order."""
        lists = [
            each for entity in self.schema.values() for each in entity.relationships.values()
            if each.to_many]
        relationship = self.choice.choice(lists)
        objects = self.world.of(relationship.entity)
        some = self.choice.sample(objects, min(len(objects), self.choice.randint(1, 3)))
        for each, other in zip(some, some[1:] + some[:1]):
            listed = list(self.world.objects[other].values[relationship.name])
            if self.chance(0.5):
                self.choice.shuffle(listed)
            self.named.add(each)
            self.set.changes.append(Change("update", each, {relationship.name: listed}))

    # MARK: Deliberate errors

    def add_error(self, made, world):
        """Adds one error to a set."""
        changes = [each for each in made.changes if each.kind != "delete"]
        if not changes:
            return
        change = self.choice.choice(changes)
        is_insert = change.kind == "insert"
        entity = self.schema[
            change.object.entity if is_insert else (
                world if world.exists(change.object) else self.past).objects[change.object].entity]
        self.choice.choice([
            self.bad_attribute, self.bad_attribute, self.bad_relationship, self.bad_relationship,
            self.duplicate, self.duplicate, self.omission, self.omission, self.unknown,
        ])(change, entity)

    def bad_attribute(self, change, entity):
        attribute = self.choice.choice(list(entity.settable.values()))
        value = bad_value(attribute, self.choice)
        if value is not Ellipsis:
            change.values[attribute.name] = value

    def bad_relationship(self, change, entity):
        if not entity.relationships:
            return
        each = self.choice.choice(list(entity.relationships.values()))
        bad = self.choice.choice([
            Temporary(each.destination, "t:nobody"), self.choice.choice(list(self.schema)), None])
        if isinstance(bad, str):
            others = self.world.of(bad)
            bad = self.choice.choice(others) if others else None
        change.values[each.name] = [bad] if each.to_many and bad is not None else bad

    def duplicate(self, change, entity):
        lists = [each for each in entity.relationships.values() if each.to_many]
        if lists and self.chance(0.5):
            each = self.choice.choice(lists)
            others = self.world.of(each.destination)
            change.values[each.name] = [self.choice.choice(others)] * 2 if others else []
        else:
            self.set.changes.insert(
                self.choice.randint(0, len(self.set.changes)),
                Change(change.kind, change.object, dict(change.values)))

    def omission(self, change, entity):
        if change.values:
            del change.values[self.choice.choice(list(change.values))]

    def unknown(self, change, entity):
        derived = [each for each in entity.attributes.values() if each.derived]
        if derived and self.chance(0.5):
            each = self.choice.choice(derived)
            change.values[each.name] = random_value(each, self.choice)
        else:
            change.values["nothing"] = 1
