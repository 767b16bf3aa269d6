"""Compares the history in the file with the effects of the change sets, with SQLite alone."""

import decimal
import sqlite3
import uuid

import values

INSERTED, UPDATED, DELETED = 1, 2, 3


def connect(file):
    """Opens the file and registers what SQLite needs to read its indexes."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    connection.create_collation(
        "decimal", lambda one, two: (lambda a, b: (a > b) - (a < b))(
            decimal.Decimal(one), decimal.Decimal(two)))
    connection.create_function(
        "larder_canonical", 1,
        lambda text: None if text is None else values.without_case_and_accents(text),
        deterministic=True)
    return connection


def integrity(file):
    """The findings of SQLite's integrity_check; None if there are none."""
    connection = connect(file)
    try:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()
    return None if found == ["ok"] else found[:5]


def compare(file, expected, names, error):
    """`expected` has (transaction, author, Net, lines) of each successful set."""
    connection = connect(file)
    try:
        transactions = connection.execute(
            "SELECT number, author, client FROM _transaction ORDER BY number").fetchall()
        changes, preserved = {}, {}
        for number, kind, entity, first, last, properties in connection.execute(
                "SELECT transaction_number, kind, entity, first_key, last_key, properties "
                "FROM _change UNION ALL SELECT number, kind, entity, first_key, last_key, "
                "properties FROM _transaction"):
            for key in range(first, last + 1):
                recorded = changes.setdefault(number, {}).setdefault(kind, {})
                if (entity, key) in recorded:
                    raise error(f"transaction {number} has {entity} {key} twice")
                recorded[entity, key] = set(filter(None, (properties or "").split(",")))
        for number, entity, key, name, value in connection.execute(
                "SELECT transaction_number, entity, key, property, value FROM _preserved"):
            preserved.setdefault(number, {})[entity, key, name] = value
    finally:
        connection.close()
    found = [(number, author or "") for number, author, _ in transactions]
    wanted = [(number, author) for number, author, *_ in expected]
    if found != wanted:
        raise error(f"{len(found)} transactions instead of {len(wanted)}: "
                    f"{first_difference(found, wanted)}")
    if not all(client.startswith("client ") for _, _, client in transactions):
        raise error("a transaction has no client")
    for number, _, net, lines in expected:
        if problem := difference(changes.get(number, {}), net, names):
            raise error(f"transaction {number}: {problem}\n{lines}")
        wanted = {
            (names.entities[each], names.keys[each], name): stored(value)
            for each, values in net.deleted.items() for name, value in values.items()}
        if wanted != preserved.get(number, {}):
            raise error(
                f"transaction {number} preserved {preserved.get(number)}, not {wanted}\n{lines}")


def difference(recorded, net, names):
    key = lambda number: (names.entities[number], names.keys[number])
    for kind, wanted in ((INSERTED, net.inserted), (DELETED, net.deleted)):
        found, wanted = set(recorded.get(kind, {})), {key(each) for each in wanted}
        if found != wanted:
            return f"changes of kind {kind}: {found} instead of {wanted}"
    updated = recorded.get(UPDATED, {})
    for number, changed in net.updated.items():
        if key(number) not in updated:
            return f"{key(number)} is not updated"
        if not changed <= updated[key(number)]:
            return f"{key(number)} has {updated[key(number)]} instead of {changed}"
    for found, properties in updated.items():
        allowed = net.touched.get(names.numbers[found])
        is_expected = names.numbers[found] in net.updated or allowed
        if not is_expected or not properties <= (allowed or set()):
            return f"{found} has {properties}, allowed are {allowed}"
    return None


def stored(value):
    """The value as the column of preserved values has it."""
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, decimal.Decimal):
        text = format(value.normalize(), "f")
        return "0" if text == "-0" else text
    return value


def first_difference(found, wanted):
    for one, two in zip(found, wanted):
        if one != two:
            return f"{one}, not {two}"
    return (found + wanted)[min(len(found), len(wanted)):][:1]
