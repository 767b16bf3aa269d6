"""Converts between the model and the protocol: change sets to messages and to lines for
`larder save`, columns of batches to values."""

import decimal
import json
import uuid

import raw_client
from raw_client import changes as wire_changes
from raw_client import values as wire_values
from model import Temporary
from proto import messages
from values import to_json, to_wire

POLICIES = {
    "error": "ERROR", "storeWins": "STORE_WINS", "callerWins": "CALLER_WINS",
    "overwrite": "OVERWRITE", "rollback": "ROLLBACK"}
KINDS = {
    number: name.removeprefix("COLUMN_TYPE_")
    for name, number in messages["batch"].ColumnType.items()}


class Names:
    """The store's keys of the objects, which the model identifies by number."""

    def __init__(self, schema):
        self.schema, self.store = schema, None
        self.entities, self.keys, self.numbers = {}, {}, {}
        self.last_keys = dict.fromkeys(schema, 0)

    def add(self, number, entity, key):
        self.entities[number], self.keys[number] = entity, key
        self.numbers[entity, key] = number
        self.last_keys[entity] = max(key, self.last_keys[entity])

    def identifier(self, reference):
        if isinstance(reference, Temporary):
            return wire_values.Identifier(
                entity=reference.entity, temporary_name=reference.name)
        return wire_values.Identifier(
            store=self.store, entity=self.entities[reference], key=self.keys[reference])

    def text(self, reference):
        if isinstance(reference, Temporary):
            return reference.name
        return raw_client.uri(self.identifier(reference))

    # MARK: Change sets

    def change_set(self, change_set):
        return wire_changes.ChangeSet(
            changes=[self.change(each) for each in change_set.changes],
            conditions=[self.condition(each) for each in change_set.conditions],
            merge_policy=f"MERGE_POLICY_{POLICIES[change_set.merge]}",
            on_unique_conflict=int(change_set.upsert), author=change_set.author)

    def condition(self, condition):
        arguments = [
            self.identifier(each[0]) if isinstance(each, tuple) else each
            for each in condition.predicate.arguments]
        return raw_client.condition(
            condition.count, condition.entity, condition.predicate.text, arguments)

    def change(self, change):
        entity = self.schema[self.entity_of(change)]
        listed = lambda given: [
            wire_changes.PropertyValue(name=name, value=self.value(entity, name, value))
            for name, value in given.items()]
        return wire_changes.Change(
            kind=f"CHANGE_KIND_{change.kind.upper()}", object=self.identifier(change.object),
            values=listed(change.values), base_values=listed(change.base),
            if_version=change.if_version, edits=[self.edit(each) for each in change.edits])

    def edit(self, edit):
        position = {}
        match edit.position:
            case ("end", end): position = {"end": end.upper()}
            case ("index", number): position = {"index": number}
            case (side, neighbor): position = {side: self.identifier(neighbor)}
        return raw_client.edit(
            edit.kind.upper(), edit.name, [self.identifier(each) for each in edit.objects],
            **position)

    def entity_of(self, change):
        if isinstance(change.object, Temporary):
            return change.object.entity
        return self.entities[change.object]

    def value(self, entity, name, value):
        if name in entity.attributes:
            return to_wire(entity.attributes[name].type, value)
        if isinstance(value, list):
            items = [self.identifier(each) for each in value]
            return wire_values.Value(objects_value=wire_values.Identifiers(items=items))
        if value is None:
            return wire_values.Value(null_value=True)
        if name not in entity.relationships:
            return wire_values.Value(int_value=value)
        return wire_values.Value(object_value=self.identifier(value))

    def lines(self, change_set):
        """The set as a shell command with `larder save -`."""
        options = f"--merge {change_set.merge}" + " --upsert" * change_set.upsert
        return "\n".join(
            [f"larder save {options} --author {change_set.author!r} - <<END"]
            + [json.dumps(self.condition_line(each), ensure_ascii=False, default=str)
               for each in change_set.conditions]
            + [json.dumps(self.line(each), ensure_ascii=False) for each in change_set.changes]
            + ["END"])

    def condition_line(self, condition):
        arguments = [
            self.text(each[0]) if isinstance(each, tuple) else each
            for each in condition.predicate.arguments]
        return {"expect": {
            "@entity": condition.entity, "@where": condition.predicate.text, "@args": arguments,
            "@count": condition.count}}

    def line(self, change):
        entity = self.schema[self.entity_of(change)]
        members = {"@id": self.text(change.object)}
        if change.kind == "insert":
            members["@entity"] = entity.name
        if change.if_version is not None:
            members["@version"] = change.if_version
        if change.base:
            members["@base"] = self.json_values(entity, change.base)
        for each in change.edits:
            members.setdefault(each.name, []).append(self.json_edit(each))
        return {change.kind: members | self.json_values(entity, change.values)}

    def json_edit(self, edit):
        listed = [self.text(each) for each in edit.objects]
        match edit.position:
            case None: pass
            case ("before" | "after" as side, neighbor):
                listed = {"objects": listed, side: self.text(neighbor)}
            case (kind, argument): listed = {"objects": listed, kind: argument}
        return {f"@{edit.kind}": listed}

    def json_values(self, entity, given):
        written = {}
        for name, value in given.items():
            if name in entity.attributes:
                written[name] = to_json(entity.attributes[name].type, value)
            elif isinstance(value, list):
                written[name] = [self.text(each) for each in value]
            else:
                written[name] = self.text(value) if name in entity.relationships and (
                    value is not None) else value
        return written


# MARK: Batches

def rows(batch):
    """The rows by key: the version and the values by name of each."""
    names = [column.name for column in batch.columns]
    values = zip(*(column_values(each, batch.row_count) for each in batch.columns))
    return {
        key: (version, dict(zip(names, row)))
        for key, version, row in zip(batch.identity.keys, batch.identity.versions, values)}


def column_values(column, row_count):
    """The values as in the model, except that objects are keys."""
    kind = KINDS[column.type]
    if kind == "BOOL":
        found = [each != 0 for each in column.integers]
    elif column.integers and kind != "OBJECTS":
        found = list(column.integers)
    elif column.doubles:
        found = list(column.doubles)
    else:
        whole = column.integers if kind == "OBJECTS" else column.heap
        starts = [0, *column.ends]
        found = [whole[start:end] for start, end in zip(starts, column.ends)]
        if kind in READERS:
            nils = column.nulls
            read = READERS[kind]
            found = [
                None if is_nil(nils, row) else read(each) for row, each in enumerate(found)]
    if column.nulls:
        found = [None if is_nil(column.nulls, row) else each for row, each in enumerate(found)]
    return found


READERS = {
    "DECIMAL": lambda part: decimal.Decimal(part.decode()),
    "UUID": lambda part: uuid.UUID(bytes=part), "STRING": bytes.decode, "URL": bytes.decode,
    "JSON": bytes.decode, "OBJECTS": list}


def is_nil(nils, row):
    return row // 8 < len(nils) and nils[row // 8] >> row % 8 & 1
