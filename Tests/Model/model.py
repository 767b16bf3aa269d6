"""What a change set means, as docs/changes.md says it: whether it is done, and what then is so.

The simple way: every rule is looked at for every changed object when a set is done.
"""

import collections
import dataclasses

import values as attribute_values
from derived import derivations
from edits import NotInList, edited
from world import DELETE_DENIED, MISSING_VALUE, OBJECT_NOT_FOUND, Transaction, World

WRONG_TYPE, VALIDATION_FAILED, UNIQUENESS_VIOLATED = 301, 305, 306
INVALID_CHANGE_SET, UNKNOWN_PROPERTY, VERSION_CONFLICT = 308, 300, 400
MALFORMED_VALUE, ARITHMETIC_OVERFLOW = 312, 309

Temporary = collections.namedtuple("Temporary", "entity name")


@dataclasses.dataclass
class Change:
    """`object` is a number, or Temporary for an insert; objects in values are either."""

    kind: str  # "insert", "update", "delete"
    object: object
    values: dict = dataclasses.field(default_factory=dict)
    base: dict = dataclasses.field(default_factory=dict)
    if_version: int | None = None
    edits: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class ChangeSet:
    changes: list
    merge: str = "error"
    upsert: bool = False
    author: str = ""


class Undecided(Exception):
    """What the set means is left open, so it tells nothing."""


@dataclasses.dataclass
class Outcome:
    """What a set comes to. A fault is (code, entity, properties…), or (code,) of a single value's
    place. `world` is None if there are faults."""

    faults: set
    world: World | None = None
    # Whether what follows from the faults may be reported as well.
    is_lenient: bool = False
    inserted: list = dataclasses.field(default_factory=list)
    updated: list = dataclasses.field(default_factory=list)
    deleted_count: int = 0
    merged: list = dataclasses.field(default_factory=list)
    history: "Net | None" = None


@dataclasses.dataclass
class Net:
    """What the history has to say of a set."""

    inserted: set
    deleted: dict  # with preserved values
    updated: dict  # the names of properties that changed
    touched: dict  # names that may be there as well


class Run:
    """`entities` has the entity of every number ever given; inserts get numbers from the first."""

    # planted.py has others, with a fault each.
    transaction_type = Transaction

    def __init__(self, world, change_set, first_number, entities):
        self.schema, self.set, self.entities = world.schema, change_set, entities
        self.transaction = self.transaction_type(world)
        self.faults, self.is_lenient = set(), False
        self.numbers = {}  # of temporary names that stand for an object already
        self.places = {}  # of the inserts of temporary names
        self.first_number = first_number
        self.inserted, self.updated, self.merged = [], [], []
        self.left_out = []
        self.waiting = {}

    def outcome(self):
        if any(self.is_malformed(each) for each in self.set.changes):
            return Outcome({(MALFORMED_VALUE,)})
        changes, is_coherent = self.check()
        if not is_coherent:
            return Outcome(self.faults)
        changes = self.solve_conflicts(changes)
        for place, change in enumerate(changes):
            self.carry_out(place, change)
        if self.is_lenient:
            return Outcome(self.faults, is_lenient=True)
        self.check_end()
        if self.faults:
            return Outcome(self.faults)
        world = World(self.schema, self.transaction.objects)
        for place, number in self.left_out:
            self.updated[place] = world.objects[number].version if world.exists(number) else 0
        return Outcome(
            set(), world, False, self.inserted, self.updated, len(self.transaction.deleted),
            self.merged, self.net())

    # MARK: What the set shows by itself

    def is_malformed(self, change):
        """Whether a value is none of its own type, so that the whole message is refused."""
        entity = self.schema[self.entity_of(change.object)]
        return any(
            isinstance(value, attribute_values.Misfit) and entity.attributes[name].type == "json"
            for name, value in change.values.items() if name in entity.attributes)

    def check(self):
        """The changes without the values that no attribute takes, and whether more can be said."""
        is_coherent, updated, deleted = True, set(), set()
        for place, change in enumerate(self.set.changes):
            if change.kind == "insert":
                self.places.setdefault(change.object.name, place)
        sound = []
        for place, change in enumerate(self.set.changes):
            if (change.kind == "insert" and self.places[change.object.name] != place
                    or change.kind == "update" and change.object in updated | deleted):
                self.faults.add((INVALID_CHANGE_SET,))
                is_coherent = False
                continue
            if change.kind == "update":
                updated.add(change.object)
            if change.kind == "delete":
                deleted.add(change.object)
            faults = list(self.value_faults(change))
            is_coherent = is_coherent and not any(is_of_name for _, is_of_name, _ in faults)
            self.faults.update(fault for fault, _, _ in faults)
            bad = {name for _, _, name in faults}
            sound.append(dataclasses.replace(
                change, values={n: None if n in bad and change.kind == "insert" else v
                                for n, v in change.values.items()
                                if n not in bad or change.kind == "insert"}))
        return sound, is_coherent

    def value_faults(self, change):
        """(fault, whether what else the set says may have no meaning, name of the property)."""
        entity = self.schema[self.entity_of(change.object)]
        if change.kind == "update" and self.set.merge == "storeWins":
            if change.base or change.if_version is not None:
                for name in change.values.keys() - change.base.keys():
                    yield (INVALID_CHANGE_SET, entity.name, name), True, name
        for name, value in change.values.items():
            if name in entity.attributes:
                code = attribute_values.fault(entity.attributes[name], value)
                if code:
                    yield (code, entity.name, name), False, name
            elif name in entity.relationships:
                fault = self.link_fault(entity.relationships[name], value)
                if fault:
                    yield fault, True, name
            else:
                yield (UNKNOWN_PROPERTY,), True, name
        for edit in change.edits:
            fault = self.edit_fault(entity, edit, change.values)
            if fault:
                yield fault, True, edit.name
        if change.kind == "insert" and not self.set.upsert:
            for fault in self.missing(entity, change.values):
                yield fault, False, fault[2]

    def missing(self, entity, given):
        for each in entity.given.values():
            if each.name not in given and each.default is None and not each.optional:
                yield (MISSING_VALUE, entity.name, each.name)

    def edit_fault(self, entity, edit, given):
        relationship = entity.relationships[edit.name]
        invalid = (INVALID_CHANGE_SET, relationship.entity, relationship.name)
        if edit.name in given:
            return invalid
        if fault := self.link_fault(relationship, edit.objects):
            return fault
        is_placed = edit.kind == "move" or edit.place not in (None, ("end", "last"))
        if is_placed and not relationship.ordered:
            return invalid
        is_beside_itself = any(each in edit.objects for each in edit.beside())
        return (INVALID_CHANGE_SET,) if is_beside_itself else None

    def link_fault(self, relationship, value):
        place = relationship.entity, relationship.name
        if value is None and not relationship.to_many:
            return None if relationship.optional else (MISSING_VALUE, *place)
        if relationship.to_many != isinstance(value, list):
            return (WRONG_TYPE, *place)
        known = set()
        for each in value if relationship.to_many else [value]:
            if isinstance(each, Temporary) and each.entity == relationship.destination:
                place = self.places.get(each.name)
                if place is None or self.set.changes[place].object.entity != each.entity:
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
        """The changes as the merge policy leaves them; None for one that is left out."""
        solved = []
        for place, change in enumerate(changes):
            if change.kind == "insert" or change.if_version is None and not self.base(change):
                solved.append(change)
                continue
            differing = self.differing(change)
            solved.append(
                change if differing is None else self.solve(place, change, differing))
        return solved

    def differing(self, change):
        """The properties with another value than the caller read; None if there is no conflict."""
        if not self.transaction.exists(change.object):
            return set(change.base)
        version = self.transaction.objects[change.object].version
        if change.if_version == version:
            return None
        differing = {
            name for name, value in self.base(change).items()
            if not self.is_held(change.object, name, value)}
        return differing if differing or change.if_version is not None else None

    def base(self, change):
        """Without derived attributes where they would be set again."""
        given = self.schema[self.entities[change.object]].given
        attributes = self.schema[self.entities[change.object]].attributes
        return {
            name: value for name, value in change.base.items()
            if self.set.merge != "overwrite" or name not in attributes or name in given}

    def is_held(self, number, name, base):
        entity = self.schema[self.entities[number]]
        held = self.transaction.read(number, name)
        if name in entity.attributes:
            return held == attribute_values.stored(entity.attributes[name].type, base)
        if entity.relationships[name].to_many and not entity.relationships[name].ordered:
            return set(held) == set(base)
        return held == base

    def solve(self, place, change, differing):
        policy, exists = self.set.merge, self.transaction.exists(change.object)
        if policy == "error" or (
                not exists and change.kind == "update" and policy in ("callerWins", "overwrite")):
            self.fault((VERSION_CONFLICT,) if exists else (OBJECT_NOT_FOUND,), not exists)
            return None
        self.merged.append(place)
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

    def fault(self, fault, is_lenient=False):
        self.faults.add(fault)
        self.is_lenient = self.is_lenient or is_lenient

    # MARK: The changes in their order

    def carry_out(self, place, change):
        given = self.set.changes[place]
        if change is None:
            if given.kind == "update":
                self.left_out.append((len(self.updated), given.object))
                self.updated.append(0)
        elif change.kind == "insert":
            self.insert(place, change)
        elif not self.transaction.exists(change.object):
            # What a change of the set has deleted already is deleted.
            if change.kind == "update" or change.object not in self.transaction.deleted:
                self.fault((OBJECT_NOT_FOUND,), True)
        elif change.kind == "delete":
            self.transaction.delete(change.object)
        else:
            self.transaction.bump(change.object)
            self.updated.append(self.transaction.objects[change.object].version)
            self.write(place, change.object, change)
        for number, act, *arguments in self.waiting.pop(place, ()):
            if self.transaction.exists(number):
                act(number, *arguments)

    def insert(self, place, change):
        entity = self.schema[change.object.entity]
        meant = self.meant(entity, change.values) if self.set.upsert else set()
        if len(meant) > 1:
            self.waiting.pop(place, None)
            return
        if meant:
            [number] = meant
            self.transaction.bump(number)
        else:
            self.faults.update(self.missing(entity, change.values))
            number = self.first_number + place
            attributes = {
                name: attribute_values.stored(entity.attributes[name].type, value)
                for name, value in change.values.items() if name in entity.attributes}
            self.transaction.insert(number, entity.name, attributes)
        self.numbers[change.object.name] = number
        self.inserted.append(number)
        self.write(place, number, change)

    def meant(self, entity, given):
        """The objects that have an insert's unique values already: one, or it is a fault."""
        said = entity.initial | {
            name: attribute_values.stored(entity.attributes[name].type, value)
            for name, value in given.items() if name in entity.attributes}
        said |= {name: self.number(given.get(name)) for name in entity.relationships}
        found = []
        for names in entity.unique:
            wanted = [said[name] for name in names]
            if None in wanted:
                continue
            holders = [
                each for each in self.transaction.of(entity.name)
                if [self.transaction.objects[each].values[name] for name in names] == wanted]
            if len(holders) > 1:
                raise Undecided
            found += [(holder, names) for holder in holders]
        for holder, names in found[1:]:
            if holder != found[0][0]:
                self.fault((UNIQUENESS_VIOLATED, entity.name, *found[0][1], *names), True)
                break
        return {holder for holder, _ in found}

    def number(self, reference):
        if isinstance(reference, Temporary):
            return self.numbers.get(reference.name)
        return None if isinstance(reference, list) else reference

    def is_gone(self, number):
        """Not so the object of an insert that means several: that is that insert's fault."""
        return number is not None and not self.transaction.exists(number)

    def write(self, place, number, change):
        entity = self.schema[self.transaction.objects[number].entity]
        given = change.values
        for name, value in given.items():
            if name in entity.attributes:
                value = attribute_values.stored(entity.attributes[name].type, value)
                self.transaction.put(number, name, value)
        # What only the base says comes first: both sides of a link to itself may be said.
        said = self.set.changes[place].values
        for each in sorted(entity.relationships.values(), key=lambda each: each.name in said):
            if each.name in given:
                named = given[each.name] if each.to_many else [given[each.name]]
                self.act_when_ready(place, named, number, self.assign, each, given[each.name])
        named = [one for edit in change.edits for one in edit.named()]
        self.act_when_ready(place, named, number, self.edit, change.edits)

    def act_when_ready(self, place, named, number, act, *arguments):
        """What a later change inserts is linked when it is there."""
        last = max(
            (self.places[each.name] for each in named if isinstance(each, Temporary)), default=0)
        if last > place:
            self.waiting.setdefault(last, []).append((number, act, *arguments))
        else:
            act(number, *arguments)

    def edit(self, number, edits):
        relationships = self.schema[self.transaction.objects[number].entity].relationships
        for edit in edits:
            listed = self.transaction.read(number, edit.name)
            objects = list(dict.fromkeys(self.number(each) for each in edit.objects))
            if edit.kind == "add" and any(map(self.is_gone, objects)):
                self.fault((OBJECT_NOT_FOUND,), True)
            if edit.kind == "add":
                objects = [each for each in objects if self.transaction.exists(each)]
            place = edit.place
            for neighbor in edit.beside():
                place = place[0], self.number(neighbor)
                # Two inserts may have meant one object.
                if place[1] in objects:
                    self.fault((INVALID_CHANGE_SET,), True)
            try:
                now = edited(listed, edit.kind, objects, place)
            except NotInList:
                if (INVALID_CHANGE_SET,) not in self.faults:
                    where = relationships[edit.name].entity, edit.name
                    self.fault((OBJECT_NOT_FOUND, *where), True)
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
                self.fault((OBJECT_NOT_FOUND,), True)
            elif target is not None and target not in targets:
                targets.append(target)
        if relationship.to_many:
            self.transaction.set_list(number, relationship, targets)
        elif targets:
            self.transaction.set_one(number, relationship, targets[0])

    # MARK: What a set must not end in

    def check_end(self):
        objects = self.transaction.objects
        for relationship, destinations in self.transaction.denials:
            if any(each in objects for each in destinations):
                self.faults.add((DELETE_DENIED, relationship.entity, relationship.name))
        changed = {number: objects[number] for number in self.transaction.own if number in objects}
        for number, thing in changed.items():
            for relationship in self.schema[thing.entity].relationships.values():
                fault = self.end_fault(number, thing.values[relationship.name], relationship)
                if fault:
                    self.faults.add((fault, relationship.entity, relationship.name))
        for name in {thing.entity for thing in changed.values()}:
            for names in self.schema[name].unique:
                self.check_unique(self.schema[name], names)
        if not self.faults:
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
                    self.faults.add((ARITHMETIC_OVERFLOW, attribute.entity, attribute.name))

    def end_fault(self, number, value, relationship):
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
            identity = tuple(values[name] for name in names)
            if None in identity:
                continue
            if identity in known:
                self.faults.add((UNIQUENESS_VIOLATED, entity.name, *names))
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
