#!/usr/bin/python3
"""A tour of the client with blocking calls: tour.py SOCKET [follow].

The server must have the schema ../school.json, and an empty store for the whole tour. With
`follow` it prints each transaction after the current one, until there is no server for 5 seconds.
"""

import sys
import uuid
from collections.abc import Sequence

from larder_client import Client
from larder_values import *

MANY = 3_000
FOLLOW_SECONDS = 5.0
VERBS = {
    histories.HISTORY_CHANGE_KIND_INSERTED: "inserted",
    histories.HISTORY_CHANGE_KIND_UPDATED: "updated",
    histories.HISTORY_CHANGE_KIND_DELETED: "deleted"}


def described(transaction: histories.HistoryTransaction) -> str:
    """One line with the changes of a transaction, each a run of consecutive keys."""
    parts = []
    for run in transaction.runs:
        last = f"-p{run.last_key}" if run.last_key > run.first_key else ""
        properties = f" ({', '.join(run.properties)})" if run.properties else ""
        parts.append(f"{VERBS[run.kind]} {run.entity}/p{run.first_key}{last}{properties}")
    return f"transaction {transaction.number}: {'; '.join(parts)}"


def printed(error: LarderError) -> None:
    print(error)
    if error.hint:
        print(f"  hint: {error.hint}")


def lesson(ann: values.Identifier) -> changes.ChangeSet:
    """A course with two students, one of whom is new. It is built once, with its key, and can then
    be sent any number of times."""
    course, bob = new("Course", "course"), new("Student", "bob")
    return change_set(
        change("INSERT", course, {"title": "Maths", "students": [ann, bob]}),
        change("INSERT", bob, {"name": "Bob", "birthOfYear": 2002}),
        idempotency_key=uuid.uuid4().hex, author="tour")


def crowd() -> changes.ChangeSet:
    """More students than fit into one reply."""
    return change_set(*(
        change("INSERT", new("Student", f"{n}"), {
            "name": f"Student {n:04} of the school", "birthOfYear": 1900 + n % 100})
        for n in range(MANY)), idempotency_key=uuid.uuid4().hex)


def objects(client: Client) -> values.Identifier:
    ann = client.insert("Student", name="Ann", birthOfYear=2001)
    print(f"inserted {uri(ann)}")
    [row] = client.get(ann)
    print(f"got {row['name']}, born in {row['birthOfYear']}, version {row['@version']}")
    client.insert("Student", name="Cid", birthOfYear=2003)
    prepared = lesson(ann)
    first = client.save_repeatedly(prepared)
    print(f"saved {len(first.inserted)} objects in transaction {first.transaction}")
    again = client.save_repeatedly(prepared)
    print(f"sent again: {'the same reply' if again == first else 'another reply'}")
    return ann


def queried(client: Client) -> None:
    found = client.fetch(
        "Student", "birthOfYear >= %@ AND name != %@", [2001, "Zoe"], sort=["name"],
        columns={"name": "name", "year": "birthOfYear", "course": "courses.@min.title"})
    for row in found:
        print(f"{row['name']}, born in {row['year']}, course: {row['course'] or 'none'}")
    client.save_repeatedly(crowd())
    shape = fetch("Student", "name BEGINSWITH %@", sort=["name"])
    parts = [rows(batch, client.welcome.store) for batch in client.batches(shape, ["Student "])]
    names = [row["name"] for part in parts for row in part]
    several = "several parts" if len(parts) > 1 else "one part"
    print(f"fetched {len(names)} students in {several}, from {names[0]} to {names[-1]}")
    [first, *_] = client.batches(shape, ["Student "])
    print(f"left a result after {'some' if first.row_count < MANY else 'all'} of its rows")


def refused(client: Client) -> None:
    try:
        client.fetch("Student", "nam == %@", ["Ann"])
    except LarderError as error:
        printed(error)
    try:
        client.insert("Course", title="Maths")
    except LarderError as error:
        printed(error)


def fed(client: Client, path: str, start: histories.HistoryToken, ann: values.Identifier) -> None:
    """What has been committed since the start, and then what is committed now."""
    with Client(path, name="tour") as follower:
        feed = follower.follow(start)
        position = start
        while position.number < start.number + 4:
            transactions, position = next(feed)
            for transaction in transactions:
                print(described(transaction))
        client.save(change("UPDATE", ann, {"name": "Anna"}))
        for transaction in next(feed)[0]:
            print(described(transaction))
        feed.close()
        client.save(change("DELETE", ann))
        print(f"found {len(follower.get(ann))} objects after the deletion")


def tour(path: str) -> None:
    with Client(path, name="tour") as client:
        welcome = client.welcome
        print(f"connected: protocol {welcome.protocol_version}, schema {welcome.schema_version}")
        [(_, start)] = client.history(newest_first=True, limit=0)
        ann = objects(client)
        queried(client)
        refused(client)
        fed(client, path, start, ann)


def follow(path: str) -> None:
    with Client(path, name="tour") as client:
        [(_, start)] = client.history(newest_first=True, limit=0)
        print(f"following after transaction {start.number}", flush=True)
        for transactions, _ in client.follow(start, FOLLOW_SECONDS):
            for transaction in transactions:
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
    except (OSError, LarderError) as error:
        print(f"tour: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
