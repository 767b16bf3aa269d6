"""What a store holds, and what a change set does to it: plain dictionaries, both sides of every
relationship written out.

Objects are numbers of the test's own; their keys are the store's affair. A World is never changed:
a Transaction copies what it changes.
"""

DELETE_DENIED, MISSING_VALUE, OBJECT_NOT_FOUND = 307, 304, 203


class Thing:
    """One object. A to-one has a number or None, a to-many a list."""

    __slots__ = ("entity", "version", "values")

    def __init__(self, entity, version, values):
        self.entity, self.version, self.values = entity, version, values

    def copy(self):
        return Thing(self.entity, self.version, dict(self.values))


class World:
    """The objects at one moment."""

    def __init__(self, schema, objects=None):
        self.schema, self.objects = schema, objects or {}
        self.by_entity = None  # made when it is asked for

    def exists(self, number):
        return number in self.objects

    def of(self, entity):
        if self.by_entity is None:
            self.by_entity = {}
            for number, thing in self.objects.items():
                self.by_entity.setdefault(thing.entity, []).append(number)
        return self.by_entity.get(entity, [])

    def read(self, number, name):
        """As a reader sees it: also a key that `noAction` left behind."""
        return self.objects[number].values[name]

    def destinations(self, number, relationship):
        value = self.objects[number].values[relationship.name]
        if relationship.to_many:
            return list(value)
        return [value] if value in self.objects else []


class Transaction(World):
    """A world while a change set is carried out."""

    def __init__(self, before):
        super().__init__(before.schema, dict(before.objects))
        self.before = before
        self.own = set()  # objects that are copies already
        self.changed = set()  # the entities of which one is, or is gone
        self.inserted, self.bumped, self.deleted = set(), set(), set()
        self.touched = {}  # names of properties that got another value at some moment
        self.causes = {}  # (object, relationship): the code if it stays nil
        self.denials = []  # (relationship, destinations)
        self.preserved = {}  # of each deleted object

    def edit(self, number):
        if number not in self.own:
            self.objects[number] = self.objects[number].copy()
            self.own.add(number)
            self.changed.add(self.objects[number].entity)
        return self.objects[number]

    def bump(self, number):
        """Once in a save, and not what the save inserts."""
        if number in self.inserted or number in self.bumped:
            return
        self.bumped.add(number)
        self.edit(number).version += 1

    def put(self, number, name, value):
        if self.objects[number].values[name] != value:
            self.edit(number).values[name] = value
            self.touched.setdefault(number, set()).add(name)

    # MARK: Objects

    def insert(self, number, entity, attributes):
        described = self.schema[entity]
        values = described.initial | attributes
        for each in described.relationships.values():
            values[each.name] = [] if each.to_many else None
            self.causes[number, each.name] = MISSING_VALUE
        self.objects[number] = Thing(entity, 1, values)
        self.by_entity = None
        self.own.add(number)
        self.changed.add(entity)
        self.inserted.add(number)

    def delete(self, number):
        """With all that cascades reach."""
        doomed, known = [number], {number}
        while doomed:
            each = doomed.pop()
            entity = self.schema[self.objects[each].entity]
            for relationship in entity.relationships.values():
                others = self.destinations(each, relationship)
                if relationship.delete_rule == "cascade":
                    doomed += [other for other in others if other not in known]
                    known.update(others)
                if relationship.delete_rule == "deny" and others:
                    self.denials.append((relationship, others))
                for other in others:
                    if other != each:
                        self.leave(each, relationship, other)
            for relationship in entity.inbound:
                for owner in self.of(relationship.entity):
                    self.lose(owner, relationship, each, DELETE_DENIED)
            self.preserved[each] = {
                one.name: self.objects[each].values[one.name]
                for one in entity.attributes.values() if one.preserved}
            self.changed.add(entity.name)
            del self.objects[each]
            self.by_entity = None
            self.deleted.add(each)

    def leave(self, number, relationship, other):
        """What becomes of a destination's link when its object goes."""
        inverse = relationship.inverse
        if inverse is None:
            return
        if relationship.delete_rule == "noAction" and inverse.holds_key:
            return
        self.lose(other, inverse, number, DELETE_DENIED)

    # MARK: Links

    def lose(self, number, relationship, other, cause=MISSING_VALUE):
        """One side of a link goes, if it is there."""
        value = self.objects[number].values[relationship.name]
        if relationship.to_many:
            if other in value:
                kept = [each for each in value if each != other]
                self.put(number, relationship.name, kept)
        elif value == other:
            self.put(number, relationship.name, None)
            self.causes[number, relationship.name] = cause
            self.bump(number)

    def gain(self, number, relationship, other):
        """One side of a link comes: at the end of a list."""
        value = self.objects[number].values[relationship.name]
        if not relationship.to_many:
            self.put(number, relationship.name, other)
            self.bump(number)
        elif other not in value:
            self.put(number, relationship.name, value + [other])

    def set_one(self, number, relationship, target):
        old = self.objects[number].values[relationship.name]
        if old == target:
            return
        self.put(number, relationship.name, target)
        self.causes[number, relationship.name] = MISSING_VALUE
        self.bump(number)
        inverse = relationship.inverse
        if inverse is None:
            return
        if old in self.objects:
            self.lose(old, inverse, number)
        if target is not None:
            self.take(target, relationship, number)
            self.gain(target, inverse, number)

    def take(self, number, relationship, owner):
        """Who else leads to an object that can have one owner leads there no more."""
        inverse = relationship.inverse
        if inverse is None or inverse.to_many:
            return
        other = self.objects[number].values[inverse.name]
        if other in self.objects and other != owner:
            self.lose(other, relationship, number)

    def set_list(self, number, relationship, targets):
        """The targets exist, each once."""
        inverse = relationship.inverse
        old = self.objects[number].values[relationship.name]
        # Of a link to itself that is its own inverse there is one side.
        others = lambda some: [
            each for each in some if not (relationship.is_own_inverse and each == number)]
        if inverse:
            for each in others(set(old) - set(targets)):
                self.lose(each, inverse, number)
            for each in others(each for each in targets if each not in old):
                self.take(each, relationship, number)
                self.gain(each, inverse, number)
        now = self.objects[number].values[relationship.name]
        if relationship.ordered or set(now) != set(targets):
            self.put(number, relationship.name, list(targets))
