"""Change sets: changes that the server applies in one transaction, all or none."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from .errors import failure
from .identifiers import Identifier, Reference, TemporaryIdentifier, identifier_of_message
from .queries import SortKey, enumerator, named_terms, optional_term, sort_keys
from .records import Record, entity_and_values, entity_name, identifier_of
from .v1 import change_pb2, larder_pb2
from .values import arguments, value, variables

MergePolicy = Literal["error", "storeWins", "callerWins", "overwrite", "rollback"]
MERGE_POLICIES = {
    "error": "ERROR", "storeWins": "STORE_WINS", "callerWins": "CALLER_WINS",
    "overwrite": "OVERWRITE", "rollback": "ROLLBACK"}


def new_idempotency_key() -> str:
    """A random key, for one change set: the server saves what is sent under a key once."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Edit:
    """A change of the list of a to-many relationship, which keeps concurrent edits of others:
    Edit.add, Edit.remove or Edit.move.

    A position in an ordered relationship is one of `end` ("first" or "last"), `before` and `after`
    (an object of the list) and `index` (from 0); without one it is the end.
    """

    kind: Literal["ADD", "REMOVE", "MOVE"]
    relationship: str
    objects: tuple[Reference, ...]
    end: Literal["first", "last"] | None = None
    before: Reference | None = None
    after: Reference | None = None
    index: int | None = None

    @classmethod
    def add(cls, relationship: str, objects: Sequence[Reference], **position: Any) -> Edit:
        """Adds objects; those in the list keep their position."""
        return cls("ADD", relationship, tuple(objects), **position)

    @classmethod
    def remove(cls, relationship: str, objects: Sequence[Reference]) -> Edit:
        """Removes objects; those that are not in the list are ignored."""
        return cls("REMOVE", relationship, tuple(objects))

    @classmethod
    def move(cls, relationship: str, objects: Sequence[Reference], **position: Any) -> Edit:
        """Moves objects of an ordered list."""
        return cls("MOVE", relationship, tuple(objects), **position)

    def message(self) -> change_pb2.RelationshipEdit:
        """The edit in the protocol."""
        made = change_pb2.RelationshipEdit(
            name=self.relationship, objects=[each.message() for each in self.objects],
            kind=enumerator(
                change_pb2.RelationshipEditKind, "RELATIONSHIP_EDIT_KIND_", self.kind, "edit"))
        given = [self.end, self.before, self.after, self.index]
        if sum(each is not None for each in given) > 1:
            raise failure("INVALID_CHANGE_SET", "an edit has one position")
        if self.end is not None:
            made.end = enumerator(
                change_pb2.ListEnd, "LIST_END_", self.end.upper(), "end of a list")
        if self.before is not None:
            made.before.CopyFrom(self.before.message())
        if self.after is not None:
            made.after.CopyFrom(self.after.message())
        if self.index is not None:
            made.index = self.index
        return made


@dataclass(frozen=True)
class AffectedObjects:
    """The objects that a change by predicate applied to. The identifiers are empty unless they
    were wanted."""

    count: int
    identifiers: tuple[Identifier, ...] = ()


@dataclass(frozen=True)
class SaveResult:
    """The result of a change set. `result[temporary]` is the identifier of an inserted object."""

    #: In the order of the inserts.
    inserted: tuple[Identifier, ...]
    #: The new versions of the updated objects, in the order of the updates.
    versions: tuple[int, ...]
    #: The number of deleted objects, with those of the delete rule `cascade`.
    deleted_count: int
    #: The indexes of the changes whose conflicts the merge policy resolved.
    merged: tuple[int, ...]
    #: The results of the changes by predicate, in their order.
    affected: tuple[AffectedObjects, ...]
    #: The indexes among the inserts of those that updated an object instead.
    upserted: tuple[int, ...]
    #: The number of the transaction in the history; 0 if nothing was changed.
    transaction: int
    names: Mapping[TemporaryIdentifier, int] = field(default_factory=dict, repr=False)

    def __getitem__(self, temporary: TemporaryIdentifier) -> Identifier:
        return self.inserted[self.names[temporary]]


class Selection(TypedDict, total=False):
    """The options that ChangeSet.delete_all describes."""

    where: str | None
    arguments: Sequence[Any]
    variables: Mapping[str, Any] | None
    sort: Sequence[str | SortKey]
    limit: int | None
    wants_identifiers: bool
    includes_subentities: bool


class UpdateSelection(Selection, total=False):
    """The options that ChangeSet.update_all describes."""

    expressions: Mapping[str, str] | None


@dataclass
class ChangeSet:
    """Changes that are applied in their order as one transaction, all or none.

        changes = ChangeSet(idempotency_key=new_idempotency_key())
        ann = changes.insert("Author", {"name": "Ann"})
        changes.insert("Book", {"title": "Rain", "author": ann})
        book_identifiers = client.save(changes).inserted

    A set with an idempotency key is sent again if its reply was lost, and applied once.
    """

    idempotency_key: str = ""
    author: str = ""
    merge_policy: MergePolicy = "error"
    #: Whether an insert updates the object that already has its unique values.
    upsert: bool = False
    changes: list[change_pb2.Change] = field(default_factory=list, init=False, repr=False)
    conditions: list[change_pb2.Condition] = field(default_factory=list, init=False, repr=False)
    inserts: list[TemporaryIdentifier] = field(default_factory=list, init=False, repr=False)

    def insert(
            self, entity: str | Record, values: Mapping[str, Any] | None = None
    ) -> TemporaryIdentifier:
        """Inserts an object. The result is its identifier for the other changes of this set."""
        name, listed = entity_and_values(entity, values)
        temporary = TemporaryIdentifier(name, f"t{len(self.inserts) + 1}")
        self.changes.append(change_pb2.Change(
            kind=change_pb2.CHANGE_KIND_INSERT, object=temporary.message(),
            values=property_values(listed)))
        self.inserts.append(temporary)
        return temporary

    def update(
            self, target: Identifier | Record, values: Mapping[str, Any] | None = None, *,
            edits: Sequence[Edit] = (), if_version: int | None = None,
            base: Mapping[str, Any] | None = None) -> None:
        """Sets properties of an object and edits its lists. `if_version` and `base`, values as they
        were read, detect changes of others."""
        self.changes.append(change_pb2.Change(
            kind=change_pb2.CHANGE_KIND_UPDATE, object=identifier_of(target).message(),
            values=property_values(values or {}), base_values=property_values(base or {}),
            edits=[each.message() for each in edits], if_version=if_version))

    def delete(self, target: Identifier | Record, *, if_version: int | None = None) -> None:
        """Deletes an object; the delete rules of its relationships apply."""
        self.changes.append(change_pb2.Change(
            kind=change_pb2.CHANGE_KIND_DELETE, object=identifier_of(target).message(),
            if_version=if_version))

    def update_all(
            self, entity: str | type[Record], values: Mapping[str, Any] | None = None, *,
            expressions: Mapping[str, str] | None = None, where: str | None = None,
            arguments: Sequence[Any] = (), variables: Mapping[str, Any] | None = None,
            sort: Sequence[str | SortKey] = (), limit: int | None = None,
            wants_identifiers: bool = False, includes_subentities: bool = True) -> None:
        """Sets properties of the objects that match a predicate, to values or to expressions over
        the object as it was. With a limit, of the first objects in an order. The arguments are
        those of the predicate, the sort keys and the expressions, in this order."""
        named, listed = {**(expressions or {})}, list(arguments)
        for name, given in (values or {}).items():
            if name in named:
                raise failure("INVALID_CHANGE_SET", f"{name} has a value and an expression")
            named[name] = "%@"
            listed.append(given)
        self._add_selection(
            "UPDATE", limit, entity, where, listed, variables, sort=sort_keys(sort),
            assignments=named_terms(named), identifiers_wanted=wants_identifiers,
            exclude_subentities=not includes_subentities)

    def delete_all(
            self, entity: str | type[Record], *, where: str | None = None,
            arguments: Sequence[Any] = (), variables: Mapping[str, Any] | None = None,
            sort: Sequence[str | SortKey] = (), limit: int | None = None,
            wants_identifiers: bool = False, includes_subentities: bool = True) -> None:
        """Deletes the objects that match a predicate; with a limit the first in an order."""
        self._add_selection(
            "DELETE", limit, entity, where, arguments, variables, sort=sort_keys(sort),
            identifiers_wanted=wants_identifiers, exclude_subentities=not includes_subentities)

    def expect(
            self, count: int, entity: str | type[Record], where: str | None = None,
            arguments: Sequence[Any] = (), *, variables: Mapping[str, Any] | None = None,
            includes_subentities: bool = True) -> None:
        """The condition that exactly this number of objects match before the first change;
        otherwise `save` raises ConflictError."""
        objects = selection(
            entity, where, arguments, variables, exclude_subentities=not includes_subentities)
        self.conditions.append(change_pb2.Condition(objects=objects, count=count))

    def unless(
            self, entity: str | type[Record], where: str | None = None,
            arguments: Sequence[Any] = (), *, variables: Mapping[str, Any] | None = None,
            includes_subentities: bool = True) -> None:
        """The condition that no object matches."""
        self.expect(0, entity, where, arguments, variables=variables,
                    includes_subentities=includes_subentities)

    def message(self) -> change_pb2.ChangeSet:
        """The set in the protocol."""
        if self.merge_policy not in MERGE_POLICIES:
            raise failure("UNSUPPORTED", f"{self.merge_policy} is not a merge policy",
                          hint=f"the policies are {', '.join(MERGE_POLICIES)}")
        return change_pb2.ChangeSet(
            changes=self.changes, conditions=self.conditions, author=self.author,
            idempotency_key=self.idempotency_key, merge_policy=enumerator(
                change_pb2.MergePolicy, "MERGE_POLICY_", MERGE_POLICIES[self.merge_policy],
                "merge policy"),
            on_unique_conflict=change_pb2.UNIQUE_CONFLICT_POLICY_UPSERT if self.upsert
            else change_pb2.UNIQUE_CONFLICT_POLICY_ERROR)

    def result(self, reply: larder_pb2.SaveReply) -> SaveResult:
        """The result in the reply to this set."""
        if len(reply.inserted) != len(self.inserts):
            raise failure(
                "MALFORMED_MESSAGE", "the server sent another number of inserted objects")
        return SaveResult(
            tuple(identifier_of_message(each) for each in reply.inserted),
            tuple(reply.updated_versions), reply.deleted_count, tuple(reply.merged),
            tuple(
                AffectedObjects(
                    each.count, tuple(identifier_of_message(one) for one in each.identifiers))
                for each in reply.affected),
            tuple(reply.upserted), reply.transaction,
            {temporary: index for index, temporary in enumerate(self.inserts)})

    def _add_selection(
            self, kind: str, limit: int | None, entity: str | type[Record], where: str | None,
            listed: Sequence[Any], named: Mapping[str, Any] | None, **fields: Any) -> None:
        kind += "_ALL" if limit is None else "_FIRST"
        self.changes.append(change_pb2.Change(
            kind=enumerator(change_pb2.ChangeKind, "CHANGE_KIND_", kind, "change"),
            by_predicate=selection(entity, where, listed, named, limit=limit, **fields)))


def selection(
        entity: str | type[Record], where: str | None, listed: Sequence[Any],
        named: Mapping[str, Any] | None, **fields: Any) -> change_pb2.ObjectsChange:
    return change_pb2.ObjectsChange(
        entity=entity_name(entity), predicate=optional_term(where), arguments=arguments(listed),
        variables=variables(named), **fields)


def property_values(values: Mapping[str, Any]) -> list[change_pb2.PropertyValue]:
    return [change_pb2.PropertyValue(name=name, value=value(given))
            for name, given in values.items()]
