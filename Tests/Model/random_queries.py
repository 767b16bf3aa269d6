"""Random queries, which the model evaluates, too."""

import raw_client
from raw_client import expressions, larder, queries

ARITHMETIC_OVERFLOW = 309
FUNCTIONS = {
    "count": lambda found: len(found), "sum": lambda found: sum(found),
    "minimum": lambda found: min(found, default=None),
    "maximum": lambda found: max(found, default=None),
    "average": lambda found: float(sum(found)) / len(found) if found else None}
# Numeric attributes for aggregates.
NUMBERS = [
    ("Harbour", "depth"), ("Berth", "number"), ("Ship", "tonnage"), ("Sailor", "rank"),
    ("Item", "weight"), ("Cargo", "number")]


class Predicate:
    """A format string with its arguments, and an equivalent function of a world and an object."""

    def __init__(self, text, arguments, holds):
        self.text, self.arguments, self.holds = text, arguments, holds


class RandomQuery:
    def __init__(self, kind, entity, predicate, function=None, attribute=None):
        self.kind, self.entity, self.predicate = kind, entity, predicate
        self.function, self.attribute = function, attribute

    def __str__(self):
        function = f" {self.function}:{self.attribute}" if self.function else ""
        return (f"{self.kind} {self.entity}{function} where {self.predicate.text} "
                f"{self.predicate.arguments}")

    def request(self, names):
        term = raw_client.where(self.predicate.text)
        if self.kind == "fetch":
            shape = queries.Query(fetch=queries.FetchQuery(
                entity=self.entity, predicate=term, selection=queries.SELECTION_IDENTIFIERS))
        elif self.kind == "count":
            shape = queries.Query(count=queries.CountQuery(entity=self.entity, predicate=term))
        else:
            shape = queries.Query(aggregate=queries.AggregateQuery(
                entity=self.entity, predicate=term, columns=[queries.AggregateColumn(
                    name="result", function=f"AGGREGATE_FUNCTION_{self.function.upper()}",
                    term=raw_client.where(self.attribute))]))
        arguments = [
            names.identifier(each[0]) if isinstance(each, tuple) else each
            for each in self.predicate.arguments]
        return larder.QueryRequest(
            shape=shape.SerializeToString(deterministic=True),
            arguments=[raw_client.argument(each) for each in arguments])

    def difference(self, reply, world, names):
        matching = [each for each in world.of(self.entity) if self.predicate.holds(world, each)]
        if isinstance(reply, larder.ErrorReply):
            is_right = reply.code == ARITHMETIC_OVERFLOW and self.function == "sum" and (
                not -(1 << 63) <= self.computed(matching, world) < 1 << 63)
            return None if is_right else f"refused with {reply.code} {reply.message}"
        [batch] = reply.batches
        if self.kind == "fetch":
            found = list(batch.identity.keys)
            wanted = sorted(names.keys[each] for each in matching)
        else:
            row = raw_client.rows(batch, names.store)[0]
            found, wanted = next(iter(row.values())), len(matching)
            if self.function:
                wanted = self.computed(matching, world)
        return None if found == wanted else f"the result is {found} instead of {wanted}"

    def computed(self, matching, world):
        known = [world.objects[each].values[self.attribute] for each in matching]
        return FUNCTIONS[self.function]([each for each in known if each is not None])


class RandomQueries:
    def __init__(self, schema, choice):
        self.schema, self.choice = schema, choice

    def query(self, world):
        kind = self.choice.choice(["fetch", "count", "aggregate"])
        if kind == "aggregate":
            entity, attribute = self.choice.choice(NUMBERS)
            function = self.choice.choice(list(FUNCTIONS))
            return RandomQuery(kind, entity, self.predicate(entity, world), function, attribute)
        entity = self.choice.choice(list(self.schema))
        return RandomQuery(kind, entity, self.predicate(entity, world))

    def predicate(self, entity, world):
        one = self.simple(entity, world)
        if self.choice.random() < 0.6:
            return one
        other = self.simple(entity, world)
        arguments = one.arguments + other.arguments
        match self.choice.randrange(3):
            case 0: return Predicate(
                f"({one.text}) AND ({other.text})", arguments,
                lambda w, n: one.holds(w, n) and other.holds(w, n))
            case 1: return Predicate(
                f"({one.text}) OR ({other.text})", arguments,
                lambda w, n: one.holds(w, n) or other.holds(w, n))
            case _: return Predicate(
                f"NOT ({one.text})", one.arguments, lambda w, n: not one.holds(w, n))

    def simple(self, entity, world):
        described = self.schema[entity]
        attributes = [
            each for each in described.attributes.values()
            if each.type in ("string", "int16", "int32", "int64", "uuid", "double", "bool")]
        kinds = [lambda: self.comparison(self.choice.choice(attributes), world)]
        for each in described.relationships.values():
            kinds.append(lambda each=each: self.about_relationship(each, world))
        return self.choice.choice(kinds)()

    def known_value(self, attribute, world):
        """A value of this attribute in some object."""
        found = [world.objects[each].values[attribute.name] for each in world.of(attribute.entity)]
        found = [each for each in found if each is not None]
        return self.choice.choice(found) if found else None

    def comparison(self, attribute, world, path=""):
        """Compares an attribute with a value; `path` is the key path to the object."""
        name, value = attribute.name, self.known_value(attribute, world)
        path = path + name
        if value is None:
            return Predicate(
                f"{path} == nil", [], lambda w, n: not w.exists(n) or w.read(n, name) is None)
        read = lambda w, n: w.read(n, name) if w.exists(n) else None
        forms = [
            (f"{path} == %@", lambda found: found == value),
            (f"{path} != %@", lambda found: found != value)]
        if attribute.type in ("int16", "int32", "int64", "double"):
            forms += [
                (f"{path} < %@", lambda found: found is not None and found < value),
                (f"{path} >= %@", lambda found: found is not None and found >= value)]
        if attribute.type == "string" and value:
            value = value[:2]
            forms = [
                (f"{path} BEGINSWITH %@",
                 lambda found: found is not None and found.startswith(value))]
        text, holds = self.choice.choice(forms)
        return Predicate(text, [value], lambda w, n: holds(read(w, n)))

    def about_relationship(self, relationship, world):
        name = relationship.name
        others = world.of(relationship.destination)
        if relationship.to_many:
            return self.about_list(relationship, world, others)
        if not others:
            return Predicate("TRUEPREDICATE", [], lambda w, n: True)
        if self.choice.random() < 0.5:
            other = self.choice.choice(others)
            return Predicate(f"{name} == %@", [(other,)], lambda w, n: w.read(n, name) == other)
        attribute = self.choice.choice([
            each for each in self.schema[relationship.destination].attributes.values()
            if each.type in ("string", "int16", "int32", "int64", "uuid", "double")])
        at_end = self.comparison(attribute, world, f"{name}.")
        return Predicate(
            at_end.text, at_end.arguments, lambda w, n: at_end.holds(w, w.read(n, name)))

    def about_list(self, relationship, world, others):
        name = relationship.name
        least = self.choice.randint(0, 3)
        if not others or self.choice.random() < 0.5:
            return Predicate(
                f"{name}.@count > %@", [least], lambda w, n: len(w.read(n, name)) > least)
        other = self.choice.choice(others)
        return Predicate(
            f"ANY {name} == %@", [(other,)], lambda w, n: other in w.read(n, name))
