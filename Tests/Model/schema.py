"""The schema file as the model reads it, in the terms of docs/changes.md."""

import dataclasses
import json
import pathlib

import values

FILE = pathlib.Path(__file__).resolve().parent / "model.schema.json"


@dataclasses.dataclass(eq=False)
class Attribute:
    entity: str
    name: str
    type: str
    optional: bool
    default: object
    unique: bool | str  # or "insensitive"
    preserved: bool
    minimum: object
    maximum: object
    length_min: int | None
    length_max: int | None
    pattern: str | None
    derived: str | None


@dataclasses.dataclass(eq=False)
class Relationship:
    entity: str
    name: str
    destination: str
    to_many: bool
    ordered: bool
    optional: bool
    delete_rule: str
    count_min: int
    count_max: int
    inverse: "Relationship | None" = None

    @property
    def is_own_inverse(self):
        return self.inverse is self

    @property
    def is_one_to_one(self):
        return not self.to_many and self.inverse is not None and not self.inverse.to_many

    @property
    def has_key(self):
        """Whether the row of the object itself has the key; see docs/changes.md."""
        return not self.to_many and (
            not self.is_one_to_one
            or (self.entity, self.name) <= (self.destination, self.inverse.name))


@dataclasses.dataclass(eq=False)
class Entity:
    name: str
    attributes: dict
    relationships: dict
    unique: list  # tuples of names
    inbound: list = dataclasses.field(default_factory=list)  # relationships without inverse

    def __post_init__(self):
        # The attributes that a change may set.
        self.settable = {
            each.name: each for each in self.attributes.values() if not each.derived}
        self.properties = self.attributes | self.relationships
        self.initial = {each.name: each.default for each in self.attributes.values()}

    def identity(self, names, given):
        """The values of a uniqueness constraint, in the form in which it compares them."""
        return tuple(self.compared(names, name, given[name]) for name in names)

    def compared(self, names, name, value):
        attribute = self.attributes.get(name)
        if len(names) > 1 or attribute is None or attribute.unique != "insensitive":
            return value
        return value if value is None else values.without_case_and_accents(value)


def attribute(entity, written):
    kind = written["type"]
    typed = lambda key: values.from_json(kind, written.get(key))
    return Attribute(
        entity, written["name"], kind, written.get("optional", False), typed("default"),
        written.get("unique", False), written.get("preserveValueOnDeletion", False),
        typed("minimum"), typed("maximum"), written.get("minLength"), written.get("maxLength"),
        written.get("pattern"), written.get("derived"))


def relationship(entity, written):
    return Relationship(
        entity, written["name"], written["destination"], written.get("toMany", False),
        written.get("ordered", False), written.get("optional", True),
        written.get("deleteRule", "nullify"), written.get("minCount", 0),
        written.get("maxCount", 0))


def load():
    """The entities by name."""
    written = json.loads(FILE.read_text())["entities"]
    entities = {}
    for each in written:
        name = each["name"]
        attributes = [attribute(name, one) for one in each["attributes"]]
        relationships = [relationship(name, one) for one in each["relationships"]]
        entities[name] = Entity(
            name, {one.name: one for one in attributes}, {one.name: one for one in relationships},
            [(one.name,) for one in attributes if one.unique]
            + [tuple(names) for names in each.get("unique", [])])
    for each in written:
        for one in each["relationships"]:
            mine = entities[each["name"]].relationships[one["name"]]
            if "inverse" in one:
                mine.inverse = entities[mine.destination].relationships[one["inverse"]]
            else:
                entities[mine.destination].inbound.append(mine)
    return entities
