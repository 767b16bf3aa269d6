"""The contents of a store, and the effect of a change set: plain dictionaries with both sides of
every relationship.

The test identifies objects by its own numbers; only the store knows their keys. A World is never
modified: a Transaction copies the objects that it modifies.
"""

DELETE_DENIED, MISSING_VALUE, OBJECT_NOT_FOUND = 307, 304, 203


class Thing:
    """One object. The value of a to-one relationship is a number or None, of a to-many a list."""

    __slots__ = ("entity", "version", "values")

    def __init__(self, entity, version, values):
        self.entity, self.version, self.values = entity, version, values

    def copy(self):
        return Thing(self.entity, self.version, dict(self.values))


class World:
    """The objects of a store at one point in time."""

    def __init__(self, schema, objects=None):
        self.schema, self.objects = schema, objects or {}
        self.by_entity = None  # computed on first use

    def exists(self, number):
        return number in self.objects

    def of(self, entity):
        if self.by_entity is None:
            self.by_entity = {}
            for number, thing in self.objects.items():
                self.by_entity.setdefault(thing.entity, []).append(number)
        return self.by_entity.get(entity, [])

    def read(self, number, name):
        """The value that a reader sees; it may be a dangling key, which `noAction` causes."""
        return self.objects[number].values[name]

    def destinations(self, number, relationship):
        value = self.objects[number].values[relationship.name]
        if relationship.to_many:
            return list(value)
        return [value] if value in self.objects else []


class Transaction(World):
    """A world while a change set is applied."""

    def __init__(self, before):
        super().__init__(before.schema, dict(before.objects))
        self.before = before
        self.own = set()  # objects that are already copied
        self.changed = set()  # entities with a copied or a deleted object
        self.inserted, self.bumped, self.deleted = set(), set(), set()
        self.touched = {}  # names of properties that were assigned another value
        self.causes = {}  # (object, relationship): the error code if it remains nil
        self.denials = []  # (relationship, destinations)
        self.preserved = {}  # the preserved values of each deleted object

    def edit(self, number):
        if number not in self.own:
            self.objects[number] = self.objects[number].copy()
            self.own.add(number)
            self.changed.add(self.objects[number].entity)
        return self.objects[number]

    def bump(self, number):
        """Increments the version, once per save, and not for objects that the save inserts."""
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
        """Deletes the object and all that cascade rules reach."""
        pending, known = [number], {number}
        while pending:
            each = pending.pop()
            entity = self.schema[self.objects[each].entity]
            for relationship in entity.relationships.values():
                others = self.destinations(each, relationship)
                if relationship.delete_rule == "cascade":
                    pending += [other for other in others if other not in known]
                    known.update(others)
                if relationship.delete_rule == "deny" and others:
                    self.denials.append((relationship, others))
                for other in others:
                    if other != each:
                        self.release(each, relationship, other)
            for relationship in entity.inbound:
                for owner in self.of(relationship.entity):
                    self.remove(owner, relationship, each, DELETE_DENIED)
            self.preserved[each] = {
                one.name: self.objects[each].values[one.name]
                for one in entity.attributes.values() if one.preserved}
            self.changed.add(entity.name)
            del self.objects[each]
            self.by_entity = None
            self.deleted.add(each)

    def release(self, number, relationship, other):
        """Updates the destination's side of a relationship when the object is deleted."""
        inverse = relationship.inverse
        if inverse is None:
            return
        if relationship.delete_rule == "noAction" and inverse.has_key:
            return
        self.remove(other, inverse, number, DELETE_DENIED)

    # MARK: Relationships

    def remove(self, number, relationship, other, cause=MISSING_VALUE):
        """Removes one side of a relationship, if it exists."""
        value = self.objects[number].values[relationship.name]
        if relationship.to_many:
            if other in value:
                kept = [each for each in value if each != other]
                self.put(number, relationship.name, kept)
        elif value == other:
            self.put(number, relationship.name, None)
            self.causes[number, relationship.name] = cause
            self.bump(number)

    def add(self, number, relationship, other):
        """Adds one side of a relationship, at the end of a list."""
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
            self.remove(old, inverse, number)
        if target is not None:
            self.remove_owner(target, relationship, number)
            self.add(target, inverse, number)

    def remove_owner(self, number, relationship, owner):
        """Removes the relationship of the previous owner, if the object can have only one."""
        inverse = relationship.inverse
        if inverse is None or inverse.to_many:
            return
        other = self.objects[number].values[inverse.name]
        if other in self.objects and other != owner:
            self.remove(other, relationship, number)

    def set_list(self, number, relationship, targets):
        """Sets a to-many relationship. The targets exist and are distinct."""
        inverse = relationship.inverse
        old = self.objects[number].values[relationship.name]
        # If a relationship is its own inverse, an object related to itself has only one side.
        others = lambda some: [
            each for each in some if not (relationship.is_own_inverse and each == number)]
        if inverse:
            for each in others(set(old) - set(targets)):
                self.remove(each, inverse, number)
            for each in others(each for each in targets if each not in old):
                self.remove_owner(each, relationship, number)
                self.add(each, inverse, number)
        now = self.objects[number].values[relationship.name]
        if relationship.ordered or set(now) != set(targets):
            self.put(number, relationship.name, list(targets))
