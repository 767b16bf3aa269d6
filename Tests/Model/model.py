"""The effect of a change set, as docs/changes.md defines it: its errors, or the new world.

The implementation is simple: after a set, every rule is checked for every changed object.
"""

import collections
import dataclasses

import values as attribute_values
from derived import derivations
from edits import NotInList, edited
from world import DELETE_DENIED, MISSING_VALUE, OBJECT_NOT_FOUND, Transaction, World

WRONG_TYPE, VALIDATION_FAILED, UNIQUENESS_VIOLATED = 301, 305, 306
INVALID_CHANGE_SET, UNKNOWN_PROPERTY, VERSION_CONFLICT, CONDITION_FAILED = 308, 300, 400, 401
MALFORMED_VALUE, ARITHMETIC_OVERFLOW = 312, 309

Temporary = collections.namedtuple("Temporary", "entity name")


@dataclasses.dataclass
class Change:
    """`object` is a number, or Temporary for an insert; objects in values are either of both."""

    kind: str  # "insert", "update", "delete"
    object: object
    values: dict = dataclasses.field(default_factory=dict)
    base: dict = dataclasses.field(default_factory=dict)
    if_version: int | None = None
    edits: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Condition:
    """The number of objects of an entity that match a Predicate of random_queries.py."""

    entity: str
    predicate: object
    count: int

    def matching(self, world):
        return sum(self.predicate.holds(world, each) for each in world.of(self.entity))


@dataclasses.dataclass
class ChangeSet:
    changes: list
    merge: str = "error"
    upsert: bool = False
    author: str = ""
    conditions: list = dataclasses.field(default_factory=list)


class Undecided(Exception):
    """docs/changes.md does not define the effect of the set, so it cannot be compared."""


@dataclasses.dataclass
class Outcome:
    """The result of a set. An error is (code, entity, properties…), or (code,) if it concerns a
    single value. `world` is None if there are errors."""

    errors: set
    world: World | None = None
    # Whether the store may also report errors that follow from these.
    is_lenient: bool = False
    inserted: list = dataclasses.field(default_factory=list)
    updated: list = dataclasses.field(default_factory=list)
    deleted_count: int = 0
    merged: list = dataclasses.field(default_factory=list)
    upserted: list = dataclasses.field(default_factory=list)
    history: "Net | None" = None


@dataclasses.dataclass
class Net:
    """The history's entry for a set."""

    inserted: set
    deleted: dict  # the preserved values
    updated: dict  # the names of properties that changed
    touched: dict  # names that may be recorded, too


class Run:
    """Applies a change set. `entities` has the entity of every number; inserts get numbers from
    `first_number`."""

    # planted.py has subclasses, each with an error.
    transaction_type = Transaction

    def __init__(self, world, change_set, first_number, entities):
        self.schema, self.set, self.entities = world.schema, change_set, entities
        self.transaction = self.transaction_type(world)
        self.errors, self.is_lenient = set(), False
        self.numbers = {}  # the objects of temporary names that are inserted
        self.insert_indexes = {}  # the index of each temporary name's insert
        self.first_number = first_number
        self.inserted, self.updated, self.merged, self.upserted = [], [], [], []
        self.omitted = []
        self.waiting = {}

    def outcome(self):
        if any(self.is_malformed(each) for each in self.set.changes):
            return Outcome({(MALFORMED_VALUE,)})
        changes, is_applicable = self.check()
        if not is_applicable:
            return Outcome(self.errors)
        if not all(self.is_met(each) for each in self.set.conditions):
            return Outcome(self.errors | {(CONDITION_FAILED,)})
        changes = self.solve_conflicts(changes)
        for index, change in enumerate(changes):
            self.apply(index, change)
        if self.is_lenient:
            return Outcome(self.errors, is_lenient=True)
        self.check_end()
        if self.errors:
            return Outcome(self.errors)
        world = World(self.schema, self.transaction.objects)
        for index, number in self.omitted:
            self.updated[index] = world.objects[number].version if world.exists(number) else 0
        return Outcome(
            set(), world, False, self.inserted, self.updated, len(self.transaction.deleted),
            self.merged, self.upserted, self.net())

    def is_met(self, condition):
        return condition.matching(self.transaction) == condition.count

    # MARK: Checks without the store

    def is_malformed(self, change):
        """Whether a value is malformed, so that the server refuses the whole message."""
        entity = self.schema[self.entity_of(change.object)]
        return any(
            isinstance(value, attribute_values.Misfit) and entity.attributes[name].type == "json"
            for name, value in change.values.items() if name in entity.attributes)

    def check(self):
        """The changes without refused values, and whether applying them can find more errors."""
        is_applicable, updated, deleted = True, set(), set()
        for index, change in enumerate(self.set.changes):
            if change.kind == "insert":
                self.insert_indexes.setdefault(change.object.name, index)
        sound = []
        for index, change in enumerate(self.set.changes):
            if (change.kind == "insert" and self.insert_indexes[change.object.name] != index
                    or change.kind == "update" and change.object in updated | deleted):
                self.errors.add((INVALID_CHANGE_SET,))
                is_applicable = False
                continue
            if change.kind == "update":
                updated.add(change.object)
            if change.kind == "delete":
                deleted.add(change.object)
            errors = list(self.value_errors(change))
            is_applicable = is_applicable and not any(is_of_name for _, is_of_name, _ in errors)
            self.errors.update(error for error, _, _ in errors)
            bad = {name for _, _, name in errors}
            sound.append(dataclasses.replace(
                change, values={n: None if n in bad and change.kind == "insert" else v
                                for n, v in change.values.items()
                                if n not in bad or change.kind == "insert"}))
        return sound, is_applicable

    def value_errors(self, change):
        """Yields (error, whether the set cannot be applied, name of the property)."""
        entity = self.schema[self.entity_of(change.object)]
        if change.kind == "update" and self.set.merge == "storeWins":
            if change.base or change.if_version is not None:
                for name in change.values.keys() - change.base.keys():
                    yield (INVALID_CHANGE_SET, entity.name, name), True, name
        for name, value in change.values.items():
            if name in entity.attributes:
                code = attribute_values.violation(entity.attributes[name], value)
                if code:
                    yield (code, entity.name, name), False, name
            elif name in entity.relationships:
                error = self.relationship_error(entity.relationships[name], value)
                if error:
                    yield error, True, name
            else:
                yield (UNKNOWN_PROPERTY,), True, name
        for edit in change.edits:
            error = self.edit_error(entity, edit, change.values)
            if error:
                yield error, True, edit.name
        if change.kind == "insert" and not self.set.upsert:
            for error in self.missing(entity, change.values):
                yield error, False, error[2]

    def missing(self, entity, given):
        for each in entity.settable.values():
            if each.name not in given and each.default is None and not each.optional:
                yield (MISSING_VALUE, entity.name, each.name)

    def edit_error(self, entity, edit, given):
        relationship = entity.relationships[edit.name]
        invalid = (INVALID_CHANGE_SET, relationship.entity, relationship.name)
        if edit.name in given:
            return invalid
        if error := self.relationship_error(relationship, edit.objects):
            return error
        has_position = edit.kind == "move" or edit.position not in (None, ("end", "last"))
        if has_position and not relationship.ordered:
            return invalid
        is_own_neighbor = any(each in edit.objects for each in edit.neighbors())
        return (INVALID_CHANGE_SET,) if is_own_neighbor else None

    def relationship_error(self, relationship, value):
        name = relationship.entity, relationship.name
        if value is None and not relationship.to_many:
            return None if relationship.optional else (MISSING_VALUE, *name)
        if relationship.to_many != isinstance(value, list):
            return (WRONG_TYPE, *name)
        known = set()
        for each in value if relationship.to_many else [value]:
            if isinstance(each, Temporary) and each.entity == relationship.destination:
                index = self.insert_indexes.get(each.name)
                if index is None or self.set.changes[index].object.entity != each.entity:
                    return (INVALID_CHANGE_SET,)
            elif self.entity_of(each) != relationship.destination:
                return (WRONG_TYPE,)
            if each in known:
                return (INVALID_CHANGE_SET,)
            known.add(each)
        return None

    def entity_of(self, reference):
        if isinstance(reference, Temporary):
            return reference.entity
        return self.entities[reference]

    # MARK: Conflicts

    def solve_conflicts(self, changes):
        """The changes after the merge policy; None for a change that it omits."""
        solved = []
        for index, change in enumerate(changes):
            if change.kind == "insert" or change.if_version is None and not self.base(change):
                solved.append(change)
                continue
            differing = self.differing(change)
            solved.append(
                change if differing is None else self.solve(index, change, differing))
        return solved

    def differing(self, change):
        """The properties whose values differ from the caller's base; None without a conflict."""
        if not self.transaction.exists(change.object):
            return set(change.base)
        version = self.transaction.objects[change.object].version
        if change.if_version == version:
            return None
        differing = {
            name for name, value in self.base(change).items()
            if not self.has_value(change.object, name, value)}
        return differing if differing or change.if_version is not None else None

    def base(self, change):
        """The base values, without derived attributes if the policy would write them."""
        given = self.schema[self.entities[change.object]].settable
        attributes = self.schema[self.entities[change.object]].attributes
        return {
            name: value for name, value in change.base.items()
            if self.set.merge != "overwrite" or name not in attributes or name in given}

    def has_value(self, number, name, base):
        entity = self.schema[self.entities[number]]
        held = self.transaction.read(number, name)
        if name in entity.attributes:
            return held == attribute_values.stored(entity.attributes[name].type, base)
        if entity.relationships[name].to_many and not entity.relationships[name].ordered:
            return set(held) == set(base)
        return held == base

    def solve(self, index, change, differing):
        policy, exists = self.set.merge, self.transaction.exists(change.object)
        if policy == "error" or (
                not exists and change.kind == "update" and policy in ("callerWins", "overwrite")):
            self.add_error((VERSION_CONFLICT,) if exists else (OBJECT_NOT_FOUND,), not exists)
            return None
        self.merged.append(index)
        if policy == "rollback" or not exists:
            return None
        if change.kind == "delete":
            return None if policy == "storeWins" else change
        kept, edits = change.values, change.edits
        if policy == "storeWins":
            kept = {name: value for name, value in kept.items() if name not in differing}
            edits = [each for each in edits if each.name not in differing]
        if policy == "overwrite":
            kept = self.base(change) | kept
        return dataclasses.replace(change, values=kept, edits=edits)

    def add_error(self, error, is_lenient=False):
        self.errors.add(error)
        self.is_lenient = self.is_lenient or is_lenient

    # MARK: Applying changes

    def apply(self, index, change):
        given = self.set.changes[index]
        if change is None:
            if given.kind == "update":
                self.omitted.append((len(self.updated), given.object))
                self.updated.append(0)
        elif change.kind == "insert":
            self.insert(index, change)
        elif not self.transaction.exists(change.object):
            # A delete of an object that the set has already deleted has no effect.
            if change.kind == "update" or change.object not in self.transaction.deleted:
                self.add_error((OBJECT_NOT_FOUND,), True)
        elif change.kind == "delete":
            self.transaction.delete(change.object)
        else:
            self.transaction.bump(change.object)
            self.updated.append(self.transaction.objects[change.object].version)
            self.write(index, change.object, change)
        for number, act, *arguments in self.waiting.pop(index, ()):
            if self.transaction.exists(number):
                act(number, *arguments)

    def insert(self, index, change):
        entity = self.schema[change.object.entity]
        matches = self.matching(entity, change.values) if self.set.upsert else set()
        if len(matches) > 1:
            self.waiting.pop(index, None)
            return
        if matches:
            [number] = matches
            self.transaction.bump(number)
            self.upserted.append(len(self.inserted))
        else:
            self.errors.update(self.missing(entity, change.values))
            number = self.first_number + index
            attributes = {
                name: attribute_values.stored(entity.attributes[name].type, value)
                for name, value in change.values.items() if name in entity.attributes}
            self.transaction.insert(number, entity.name, attributes)
        self.numbers[change.object.name] = number
        self.inserted.append(number)
        self.write(index, number, change)

    def matching(self, entity, given):
        """The objects that have an insert's unique values; more than one is an error."""
        written = entity.initial | {
            name: attribute_values.stored(entity.attributes[name].type, value)
            for name, value in given.items() if name in entity.attributes}
        written |= {name: self.number(given.get(name)) for name in entity.relationships}
        found = []
        for names in entity.unique:
            wanted = entity.identity(names, written)
            if None in wanted:
                continue
            holders = [
                each for each in self.transaction.of(entity.name)
                if entity.identity(names, self.transaction.objects[each].values) == wanted]
            if len(holders) > 1:
                raise Undecided
            found += [(holder, names) for holder in holders]
        for holder, names in found[1:]:
            if holder != found[0][0]:
                self.add_error((UNIQUENESS_VIOLATED, entity.name, *found[0][1], *names), True)
                break
        return {holder for holder, _ in found}

    def number(self, reference):
        if isinstance(reference, Temporary):
            return self.numbers.get(reference.name)
        return None if isinstance(reference, list) else reference

    def is_gone(self, number):
        """Whether an object does not exist. None means an insert with an error of its own."""
        return number is not None and not self.transaction.exists(number)

    def write(self, index, number, change):
        entity = self.schema[self.transaction.objects[number].entity]
        given = change.values
        for name, value in given.items():
            if name in entity.attributes:
                value = attribute_values.stored(entity.attributes[name].type, value)
                self.transaction.put(number, name, value)
        # Relationships that only the base has come first: a change may set both sides of a
        # relationship of an object to itself.
        written = self.set.changes[index].values
        for each in sorted(entity.relationships.values(), key=lambda each: each.name in written):
            if each.name in given:
                named = given[each.name] if each.to_many else [given[each.name]]
                self.perform_when_ready(index, named, number, self.assign, each, given[each.name])
        named = [one for edit in change.edits for one in edit.named()]
        self.perform_when_ready(index, named, number, self.edit, change.edits)

    def perform_when_ready(self, index, named, number, act, *arguments):
        """Runs the action after the last insert that it refers to."""
        last = max(
            (self.insert_indexes[each.name] for each in named if isinstance(each, Temporary)),
            default=0)
        if last > index:
            self.waiting.setdefault(last, []).append((number, act, *arguments))
        else:
            act(number, *arguments)

    def edit(self, number, edits):
        relationships = self.schema[self.transaction.objects[number].entity].relationships
        for edit in edits:
            listed = self.transaction.read(number, edit.name)
            objects = list(dict.fromkeys(self.number(each) for each in edit.objects))
            if edit.kind == "add" and any(map(self.is_gone, objects)):
                self.add_error((OBJECT_NOT_FOUND,), True)
            if edit.kind == "add":
                objects = [each for each in objects if self.transaction.exists(each)]
            position = edit.position
            for neighbor in edit.neighbors():
                position = position[0], self.number(neighbor)
                # Two inserts may have updated the same object.
                if position[1] in objects:
                    self.add_error((INVALID_CHANGE_SET,), True)
            try:
                now = edited(listed, edit.kind, objects, position)
            except NotInList:
                if (INVALID_CHANGE_SET,) not in self.errors:
                    where = relationships[edit.name].entity, edit.name
                    self.add_error((OBJECT_NOT_FOUND, *where), True)
                continue
            self.transaction.set_list(number, relationships[edit.name], now)

    def assign(self, number, relationship, value):
        if value is None:
            self.transaction.set_one(number, relationship, None)
            return
        targets = []
        for each in value if relationship.to_many else [value]:
            target = self.number(each)
            if self.is_gone(target):
                self.add_error((OBJECT_NOT_FOUND,), True)
            elif target is not None and target not in targets:
                targets.append(target)
        if relationship.to_many:
            self.transaction.set_list(number, relationship, targets)
        elif targets:
            self.transaction.set_one(number, relationship, targets[0])

    # MARK: Checks after all changes

    def check_end(self):
        objects = self.transaction.objects
        for relationship, destinations in self.transaction.denials:
            if any(each in objects for each in destinations):
                self.errors.add((DELETE_DENIED, relationship.entity, relationship.name))
        changed = {number: objects[number] for number in self.transaction.own if number in objects}
        for number, thing in changed.items():
            for relationship in self.schema[thing.entity].relationships.values():
                error = self.end_error(number, thing.values[relationship.name], relationship)
                if error:
                    self.errors.add((error, relationship.entity, relationship.name))
        for name in {thing.entity for thing in changed.values()}:
            for names in self.schema[name].unique:
                self.check_unique(self.schema[name], names)
        if not self.errors:
            self.derive()

    def derive(self):
        done = self.transaction
        for attribute, computed, reads in derivations(self.schema):
            if reads.isdisjoint(done.changed):
                continue
            for number in done.of(attribute.entity):
                value = computed(done, number)
                if attribute_values.is_in_range(attribute, value):
                    done.put(number, attribute.name, value)
                else:
                    self.errors.add((ARITHMETIC_OVERFLOW, attribute.entity, attribute.name))

    def end_error(self, number, value, relationship):
        if not relationship.to_many:
            if value is None and not relationship.optional:
                return self.transaction.causes[number, relationship.name]
            return None
        count = len(value)
        least = max(relationship.count_min, 0 if relationship.optional else 1)
        if count < least and not (count == 0 and relationship.optional):
            return VALIDATION_FAILED
        if 0 < relationship.count_max < count:
            return VALIDATION_FAILED
        return None

    def check_unique(self, entity, names):
        known = set()
        for number in self.transaction.of(entity.name):
            values = self.transaction.objects[number].values
            identity = entity.identity(names, values)
            if None in identity:
                continue
            if identity in known:
                self.errors.add((UNIQUENESS_VIOLATED, entity.name, *names))
            known.add(identity)

    # MARK: The history

    def net(self):
        done = self.transaction
        inserted = {each for each in done.inserted if done.exists(each)}
        updated = {each: set() for each in done.bumped if done.exists(each)}
        for number, names in done.touched.items():
            before, after = done.before.objects.get(number), done.objects.get(number)
            if before is None or after is None:
                continue
            relationships = self.schema[after.entity].relationships
            changed = set()
            for name in names:
                one, two = before.values[name], after.values[name]
                if name in relationships and relationships[name].to_many:
                    if not relationships[name].ordered:
                        one, two = set(one), set(two)
                if one != two:
                    changed.add(name)
            if changed:
                updated.setdefault(number, set()).update(changed)
        deleted = {
            each: values for each, values in done.preserved.items() if each not in done.inserted}
        return Net(inserted, deleted, updated, done.touched)
