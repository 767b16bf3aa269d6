"""The operations of a writer in the crash tests, and the state that they lead to.

A writer owns baskets. A basket has items and tags; one change set inserts, revises or deletes a
basket with all its items, so every item must have its basket's revision. Nothing here does I/O: a
state is a dictionary from the numbers of a writer's baskets to the baskets, and an operation leads
from one state to the next.
"""

import dataclasses
import random

BASKETS_MAX = 30
ITEMS_MAX = 5
TEXT_BYTES_MAX = 3_000
TAGS = ("red", "green", "blue")


@dataclasses.dataclass(frozen=True)
class Basket:
    """A basket with a number of items. Each row has its revision, which is also its version."""

    revision: int
    items: int
    tags: frozenset


@dataclasses.dataclass(frozen=True)
class Operation:
    """One change set: replaces the basket with this number, or deletes it if `basket` is None."""

    kind: str  # "setup", "insert", "update", "delete"
    number: int = 0
    basket: Basket | None = None

    def applied_to(self, state):
        after = {number: each for number, each in state.items() if number != self.number}
        if self.basket:
            after[self.number] = self.basket
        return after


def text(writer, number, revision, index):
    """The text of a basket (index 0) or of its item with an index from 1, computed from the
    arguments."""
    words = f"{writer}/{number}/{revision}/{index} "
    length = random.Random(words).randrange(TEXT_BYTES_MAX)
    return (words * (length // len(words) + 1))[:length]


def next_operation(choice, state, last_number):
    """A random operation on a state; a new basket gets the number after the last one."""
    some_tags = frozenset(tag for tag in TAGS if choice.random() < 0.5)
    kinds = ["insert"] * (len(state) < BASKETS_MAX) + ["update", "delete"] * (len(state) > 0)
    weights = {"insert": 5, "update": 4, "delete": 2}
    [kind] = choice.choices(kinds, [weights[each] for each in kinds])
    if kind == "insert":
        basket = Basket(1, choice.randint(1, ITEMS_MAX), some_tags)
        return Operation("insert", last_number + 1, basket)
    number = choice.choice(sorted(state))
    if kind == "delete":
        return Operation("delete", number)
    old = state[number]
    return Operation("update", number, Basket(old.revision + 1, old.items, some_tags))


def states_after(state, operations):
    """The state before the operations and after each of them, in their order."""
    states = [state]
    for operation in operations:
        states.append(operation.applied_to(states[-1]))
    return states


def digest(state):
    return hash(frozenset(state.items()))


def difference(found, wanted):
    """The differences of two states, as one line."""
    numbers = sorted(set(found) | set(wanted))
    differing = [each for each in numbers if found.get(each) != wanted.get(each)]
    parts = [f"basket {each}: {found.get(each)}, not {wanted.get(each)}" for each in differing[:4]]
    return f"{len(differing)} baskets differ: " + "; ".join(parts)
