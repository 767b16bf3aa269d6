#!/usr/bin/python3
"""A tour of the client for asyncio: tour_asyncio.py SOCKET [follow]; see tour.py. All requests use
one connection, at the same time where they do not depend on each other."""

import asyncio
import sys
from collections.abc import Sequence

from larder import Fetch, HistoryToken, Identifier, LarderError
from larder.aio import Client, connect
from tour import FOLLOW_SECONDS, MANY, crowd, described, lesson, printed


async def objects(client: Client) -> Identifier:
    ann = await client.insert("Student", {"name": "Ann", "birthOfYear": 2001})
    print(f"inserted {ann.uri}")
    row = await client.get(ann) or {}
    print(f"got {row['name']}, born in {row['birthOfYear']}, version {row['@version']}")
    changes = lesson(ann)
    # The writes of a connection are applied in the order in which they are sent.
    _, first = await asyncio.gather(
        client.insert("Student", {"name": "Cid", "birthOfYear": 2003}), client.save(changes))
    print(f"saved {len(first.inserted)} objects in transaction {first.transaction}")
    again = await client.save(changes)
    print(f"sent again: {'the same reply' if again == first else 'another reply'}")
    return ann


async def queried(client: Client) -> None:
    found = await client.fetch(
        "Student", "birthOfYear >= %@ AND name != %@", [2001, "Zoe"], sort=["name"],
        columns={"name": "name", "year": "birthOfYear", "course": "courses.@min.title"})
    for row in found:
        print(f"{row['name']}, born in {row['year']}, course: {row['course'] or 'none'}")
    await client.save(crowd())
    query = Fetch("Student", "name BEGINSWITH %@", ["Student "], sort=["name"])
    async with client.stream(query) as students:
        names = [row["name"] async for row in students]
        several = "several parts" if students.part_count > 1 else "one part"
    print(f"fetched {len(names)} students in {several}, from {names[0]} to {names[-1]}")
    async with client.stream(query) as students:
        some = [await anext(students) for _ in range(100)]
    print(f"left a result after {'some' if len(some) < MANY else 'all'} of its rows")


async def refused(client: Client) -> None:
    try:
        await client.fetch("Student", "nam == %@", ["Ann"])
    except LarderError as error:
        printed(error)
    try:
        await client.insert("Course", {"title": "Maths"})
    except LarderError as error:
        printed(error)


async def fed(client: Client, start: HistoryToken, ann: Identifier) -> None:
    """The transactions since the start, and then one that is committed meanwhile."""
    position = start
    async with client.follow(start) as feed:
        while position.number < start.number + 4:
            page = await anext(feed)
            position = page.position
            for transaction in page.transactions:
                print(described(transaction))
        await client.update(ann, {"name": "Anna"})
        for transaction in (await anext(feed)).transactions:
            print(described(transaction))
    await client.delete(ann)
    print(f"found {len(await client.get_many([ann]))} objects after the deletion")


async def tour(path: str) -> None:
    async with await connect(path, name="tour") as client:
        server = client.server
        print(f"connected: protocol {server.protocol_version}, schema {server.schema_version}")
        start = await client.current_token()
        ann = await objects(client)
        await queried(client)
        await refused(client)
        await fed(client, start, ann)


async def follow(path: str) -> None:
    async with await connect(path, name="tour", reconnect_wait=FOLLOW_SECONDS) as client:
        start = await client.current_token()
        print(f"following after transaction {start.number}", flush=True)
        async for page in client.follow(start):
            for transaction in page.transactions:
                print(described(transaction), flush=True)


def main(arguments: Sequence[str]) -> int:
    try:
        match arguments:
            case [path]:
                asyncio.run(tour(path))
            case [path, "follow"]:
                asyncio.run(follow(path))
            case _:
                print("usage: tour_asyncio.py SOCKET [follow]", file=sys.stderr)
                return 64
    except LarderError as error:
        print(f"tour: error[{error.name}]: {error.message}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
