"""Edits of a to-many relationship: changes to its list."""

import dataclasses


@dataclasses.dataclass
class Edit:
    """`position` is None for the end, or ("end", "first" or "last"), ("before" or "after", object),
    ("index", number)."""

    kind: str  # "add", "remove", "move"
    name: str
    objects: list
    position: tuple | None = None

    def named(self):
        """All objects that the edit refers to."""
        return self.objects + self.neighbors()

    def neighbors(self):
        """The object next to which the others are put, as a list of one or none."""
        has_neighbor = self.position and self.position[0] in ("before", "after")
        return [self.position[1]] if has_neighbor else []


class NotInList(Exception):
    """An object that must be in the list is not in it."""


def edited(listed, kind, objects, position):
    """Returns the list after an edit."""
    if kind == "remove":
        return [each for each in listed if each not in objects]
    if kind == "add":
        objects = [each for each in objects if each not in listed]
        others = listed
    else:
        if not set(objects) <= set(listed):
            raise NotInList
        others = [each for each in listed if each not in objects]
    start = start_index(others, position) if objects else 0
    return others[:start] + objects + others[start:]


def start_index(others, position):
    match position:
        case None | ("end", "last"): return len(others)
        case ("end", "first"): return 0
        case ("index", number): return min(number, len(others))
        case (side, neighbor):
            if neighbor not in others:
                raise NotInList
            return others.index(neighbor) + (side == "after")
