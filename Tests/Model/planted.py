"""Errors that the test must find, in the model or in the requests of clients."""

import random

from raw_client import changes
from model import Run
from world import Transaction

# The share of change sets that a client alters; greater where an alteration seldom has an effect.
DROP_SHARE, FORGET_SHARE = 0.02, 0.3
CALLER_WINS = changes.MERGE_POLICY_CALLER_WINS


# MARK: Models with a wrong rule

class CascadesOnce(Transaction):
    def destinations(self, number, relationship):
        is_further = relationship.delete_rule == "cascade" and self.deleted
        return [] if is_further else super().destinations(number, relationship)


class NoActionNullifies(Transaction):
    def release(self, number, relationship, other):
        if relationship.inverse:
            self.remove(other, relationship.inverse, number)


class NewDestinationsFirst(Transaction):
    def add(self, number, relationship, other):
        super().add(number, relationship, other)
        if relationship.to_many:
            self.edit(number).values[relationship.name].sort(key=lambda each: each != other)


class PartnersKeepTheirVersions(Transaction):
    def remove(self, number, relationship, other, *cause):
        version = self.objects[number].version
        super().remove(number, relationship, other, *cause)
        self.edit(number).version = version


class OneSided(Transaction):
    def remove_owner(self, number, relationship, owner):
        if not relationship.to_many:
            super().remove_owner(number, relationship, owner)


class PreservesOldValues(Transaction):
    def delete(self, number):
        super().delete(number)
        for each, values in self.preserved.items():
            if self.before.exists(each):
                self.preserved[each] = {name: self.before.read(each, name) for name in values}


class ForgetsDefaults(Transaction):
    def insert(self, number, entity, attributes):
        super().insert(number, entity, dict.fromkeys(self.schema[entity].attributes) | attributes)


class DeniesNothing(Run):
    def check_end(self):
        self.transaction.denials = []
        super().check_end()


class AllowsOneMore(Run):
    def end_error(self, number, value, relationship):
        if relationship.to_many and len(value) == relationship.count_max + 1:
            return None
        return super().end_error(number, value, relationship)


class RequiresNothing(Run):
    def end_error(self, number, value, relationship):
        return super().end_error(number, value, relationship) if relationship.to_many else None


class UniqueOneByOne(Run):
    def check_unique(self, entity, names):
        if len(names) == 1:
            super().check_unique(entity, names)


class UniqueWithCaseAndAccents(Run):
    def check_unique(self, entity, names):
        attributes = [entity.attributes[name] for name in names if name in entity.attributes]
        if all(each.unique != "insensitive" for each in attributes):
            super().check_unique(entity, names)


class NeverUpserts(Run):
    def matching(self, entity, given):
        return set()


class StoreNeverWins(Run):
    def solve(self, index, change, differing):
        return super().solve(index, change, set() if self.set.merge == "storeWins" else differing)


class ConflictsOfVersionsOnly(Run):
    def differing(self, change):
        return None if change.if_version is None else super().differing(change)


class ListsLeaveNoHistory(Run):
    def net(self):
        net = super().net()
        for names in net.touched.values():
            names -= {"annexes", "ships", "crew", "routes", "friends"}
        return net


class DerivesWhenUpdated(Run):
    def derive(self):
        known = {each: dict(thing.values) for each, thing in self.transaction.objects.items()}
        super().derive()
        for number in self.transaction.own - self.transaction.bumped - self.transaction.inserted:
            if number in known:
                self.transaction.objects[number].values = known[number]


class AcceptsValuesOutOfBounds(Run):
    def value_errors(self, change):
        return (each for each in super().value_errors(change) if each[0][0] != 305)


class MeetsAllConditions(Run):
    def is_met(self, condition):
        return True


# MARK: Clients that alter their requests

class Alteration:
    """Alters a share of the change sets."""

    def __init__(self, act, share):
        self.act, self.share, self.choice = act, share, random.Random(1)

    def __call__(self, change_set):
        if self.choice.random() < self.share:
            self.act(change_set, self.choice)


def drop_property(change_set, choice):
    written = [each for each in change_set.changes if each.values]
    if written:
        given = choice.choice(written).values
        del given[choice.randrange(len(given))]


def drop_change(change_set, choice):
    if change_set.changes:
        del change_set.changes[choice.randrange(len(change_set.changes))]


def drop_condition(change_set, choice):
    del change_set.conditions[:]


def drop_edit(change_set, choice):
    for change in change_set.changes:
        if change.edits:
            del change.edits[-1]


def reverse_list(change_set, choice):
    for change in change_set.changes:
        for given in change.values:
            items = given.value.objects_value.items
            if len(items) > 1:
                reversed_items = list(items)[::-1]
                del items[:]
                items.extend(reversed_items)


def forget_version(change_set, choice):
    for change in change_set.changes:
        change.ClearField("if_version")


def forget_policy(change_set, choice):
    change_set.merge_policy = CALLER_WINS


def forget_author(change_set, choice):
    change_set.author = "nobody"


RULES = {
    each.__name__: each for each in (
        CascadesOnce, NoActionNullifies, NewDestinationsFirst, PartnersKeepTheirVersions, OneSided,
        PreservesOldValues, ForgetsDefaults, DeniesNothing, AllowsOneMore, RequiresNothing,
        UniqueOneByOne, NeverUpserts, StoreNeverWins, ConflictsOfVersionsOnly,
        ListsLeaveNoHistory, DerivesWhenUpdated, AcceptsValuesOutOfBounds,
        MeetsAllConditions)}
ACTS = {
    drop_property: DROP_SHARE, drop_change: DROP_SHARE, drop_edit: DROP_SHARE,
    reverse_list: DROP_SHARE, forget_version: FORGET_SHARE, forget_policy: FORGET_SHARE,
    forget_author: FORGET_SHARE, drop_condition: FORGET_SHARE}


def errors():
    """The name of each error, with the class that applies change sets and the alteration."""
    for name, rule in RULES.items():
        if issubclass(rule, Transaction):
            rule = type(name, (Run,), {"transaction_type": rule})
        yield name, rule, None
    for act, share in ACTS.items():
        yield act.__name__, Run, Alteration(act, share)
