"""The values of derived attributes, by their expressions in the schema file."""


def destinations(world, number, name):
    """The values of the objects that a relationship refers to; a dangling key has none."""
    value = world.objects[number].values[name]
    found = value if isinstance(value, list) else [value]
    return [world.objects[each].values for each in found if each in world.objects]


def through(relationship, name):
    def computed(world, number):
        found = destinations(world, number, relationship)
        return found[0][name] if found else None
    return computed


def over(relationship, name, function):
    def computed(world, number):
        found = [each[name] for each in destinations(world, number, relationship)]
        return function([each for each in found if each is not None])
    return computed


def greatest(found):
    return max(found, default=None)


def own(name, function):
    def computed(world, number):
        value = world.objects[number].values[name]
        return None if value is None else function(value)
    return computed


EXPRESSIONS = {
    "ships.@count": lambda world, number: len(destinations(world, number, "ships")),
    "friends.@count": lambda world, number: len(destinations(world, number, "friends")),
    "crew.@sum.rank": over("crew", "rank", sum),
    "ships.@sum.crewRank": over("ships", "crewRank", sum),
    "stops.@max.depth": over("stops", "depth", greatest),
    "items.@max.weight": over("items", "weight", greatest),
    "home.name": through("home", "name"),
    "harbour.name": through("harbour", "name"),
    "partner.rank": through("partner", "rank"),
    "next.weight": through("next", "weight"),
    "(ship != nil)": lambda world, number: world.objects[number].values["ship"] is not None,
    "rank * 2": own("rank", lambda rank: rank * 2),
    "uppercase(text)": own("text", str.upper),
}
# A derived attribute that reads another one is computed after it.
LAST = ["ships.@sum.crewRank"]


def derivations(schema):
    """The derived attributes in the order of computation, each with its function and the entities
    that it reads."""
    found = []
    for entity in schema.values():
        for each in entity.attributes.values():
            if each.derived:
                names = [name for name in entity.relationships if name in each.derived]
                reads = {entity.name, *(entity.relationships[name].destination for name in names)}
                found.append((each, EXPRESSIONS[each.derived], reads))
    return sorted(found, key=lambda each: each[0].derived in LAST)
