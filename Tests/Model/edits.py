"""Edits of a to-many relationship: differences to its list."""

import dataclasses


@dataclasses.dataclass
class Edit:
    """`place` is None for the end, or ("end", "first" or "last"), ("before" or "after", object),
    ("index", number)."""

    kind: str  # "add", "remove", "move"
    name: str
    objects: list
    place: tuple | None = None

    def named(self):
        """All objects that it names."""
        return self.objects + self.beside()

    def beside(self):
        """The object beside which the others get, if there is one."""
        return [self.place[1]] if self.place and self.place[0] in ("before", "after") else []


class NotInList(Exception):
    """What must be in the list is not."""


def edited(listed, kind, objects, place):
    """The list after an edit."""
    if kind == "remove":
        return [each for each in listed if each not in objects]
    if kind == "add":
        objects = [each for each in objects if each not in listed]
        others = listed
    else:
        if not set(objects) <= set(listed):
            raise NotInList
        others = [each for each in listed if each not in objects]
    start = position(others, place) if objects else 0
    return others[:start] + objects + others[start:]


def position(others, place):
    match place:
        case None | ("end", "last"): return len(others)
        case ("end", "first"): return 0
        case ("index", number): return min(number, len(others))
        case (side, neighbor):
            if neighbor not in others:
                raise NotInList
            return others.index(neighbor) + (side == "after")
