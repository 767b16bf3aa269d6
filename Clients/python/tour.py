#!/usr/bin/python3
"""A tour of the client with blocking calls: tour.py SOCKET [follow].

The server must have the schema ../school.json, and an empty store for the whole tour. With
`follow` it prints each transaction after the current one, until there is no server for 5 seconds.
"""

import sys
from collections.abc import Sequence

import larder
from larder import ChangeSet, Client, Fetch, HistoryToken, Identifier, LarderError, Transaction

MANY = 3_000
FOLLOW_SECONDS = 5.0


def described(transaction: Transaction) -> str:
    """One line with the changes of a transaction, each a run of consecutive keys."""
    parts = []
    for run in transaction.changes:
        last = f"-p{run.last_key}" if run.last_key > run.first_key else ""
        properties = f" ({', '.join(run.properties)})" if run.properties else ""
        parts.append(f"{run.kind} {run.entity}/p{run.first_key}{last}{properties}")
    return f"transaction {transaction.number}: {'; '.join(parts)}"


def printed(error: LarderError) -> None:
    print(f"error[{error.name}]: {error.message}")
    if error.hint:
        print(f"  hint: {error.hint}")


def lesson(ann: Identifier) -> ChangeSet:
    """A course with two students, one of whom is new. It is built once, with its key, and can then
    be sent any number of times."""
    changes = ChangeSet(idempotency_key=larder.new_idempotency_key(), author="tour")
    bob = changes.insert("Student", {"name": "Bob", "birthOfYear": 2002})
    changes.insert("Course", {"title": "Maths", "students": [ann, bob]})
    return changes


def crowd() -> ChangeSet:
    """More students than fit into one reply."""
    changes = ChangeSet(idempotency_key=larder.new_idempotency_key())
    for n in range(MANY):
        changes.insert("Student", {
            "name": f"Student {n:04} of the school", "birthOfYear": 1900 + n % 100})
    return changes


def objects(client: Client) -> Identifier:
    ann = client.insert("Student", {"name": "Ann", "birthOfYear": 2001})
    print(f"inserted {ann.uri}")
    row = client.get(ann) or {}
    print(f"got {row['name']}, born in {row['birthOfYear']}, version {row['@version']}")
    client.insert("Student", {"name": "Cid", "birthOfYear": 2003})
    changes = lesson(ann)
    first = client.save(changes)
    print(f"saved {len(first.inserted)} objects in transaction {first.transaction}")
    again = client.save(changes)
    print(f"sent again: {'the same reply' if again == first else 'another reply'}")
    return ann


def queried(client: Client) -> None:
    found = client.fetch(
        "Student", "birthOfYear >= %@ AND name != %@", [2001, "Zoe"], sort=["name"],
        columns={"name": "name", "year": "birthOfYear", "course": "courses.@min.title"})
    for row in found:
        print(f"{row['name']}, born in {row['year']}, course: {row['course'] or 'none'}")
    client.save(crowd())
    query = Fetch("Student", "name BEGINSWITH %@", ["Student "], sort=["name"])
    with client.stream(query) as students:
        names = [row["name"] for row in students]
        several = "several parts" if students.part_count > 1 else "one part"
    print(f"fetched {len(names)} students in {several}, from {names[0]} to {names[-1]}")
    with client.stream(query) as students:
        some = [row for row, _ in zip(students, range(100))]
    print(f"left a result after {'some' if len(some) < MANY else 'all'} of its rows")


def refused(client: Client) -> None:
    try:
        client.fetch("Student", "nam == %@", ["Ann"])
    except LarderError as error:
        printed(error)
    try:
        client.insert("Course", {"title": "Maths"})
    except LarderError as error:
        printed(error)


def fed(client: Client, start: HistoryToken, ann: Identifier) -> None:
    """The transactions since the start, and then one that is committed meanwhile."""
    position = start
    with client.follow(start) as feed:
        while position.number < start.number + 4:
            page = next(feed)
            position = page.position
            for transaction in page.transactions:
                print(described(transaction))
        client.update(ann, {"name": "Anna"})
        for transaction in next(feed).transactions:
            print(described(transaction))
    client.delete(ann)
    print(f"found {len(client.get_many([ann]))} objects after the deletion")


def tour(path: str) -> None:
    with larder.connect(path, name="tour") as client:
        server = client.server
        print(f"connected: protocol {server.protocol_version}, schema {server.schema_version}")
        start = client.current_token()
        ann = objects(client)
        queried(client)
        refused(client)
        fed(client, start, ann)


def follow(path: str) -> None:
    with larder.connect(path, name="tour", reconnect_wait=FOLLOW_SECONDS) as client:
        start = client.current_token()
        print(f"following after transaction {start.number}", flush=True)
        for page in client.follow(start):
            for transaction in page.transactions:
                print(described(transaction), flush=True)


def main(arguments: Sequence[str]) -> int:
    try:
        match arguments:
            case [path]:
                tour(path)
            case [path, "follow"]:
                follow(path)
            case _:
                print("usage: tour.py SOCKET [follow]", file=sys.stderr)
                return 64
    except LarderError as error:
        print(f"tour: error[{error.name}]: {error.message}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
