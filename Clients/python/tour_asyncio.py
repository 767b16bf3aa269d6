#!/usr/bin/python3
"""A tour of the client for asyncio: tour_asyncio.py SOCKET [follow]; see tour.py. All requests use
one connection, at the same time where they do not depend on each other."""

import asyncio
import sys
from collections.abc import Sequence

from larder_asyncio import AsyncClient
from larder_values import *
from tour import FOLLOW_SECONDS, MANY, crowd, described, lesson, printed


async def objects(client: AsyncClient) -> values.Identifier:
    ann = await client.insert("Student", name="Ann", birthOfYear=2001)
    print(f"inserted {uri(ann)}")
    [row] = await client.get(ann)
    print(f"got {row['name']}, born in {row['birthOfYear']}, version {row['@version']}")
    prepared = lesson(ann)
    # The writes of a connection are applied in the order in which they are sent.
    _, first = await asyncio.gather(
        client.insert("Student", name="Cid", birthOfYear=2003), client.save_repeatedly(prepared))
    print(f"saved {len(first.inserted)} objects in transaction {first.transaction}")
    again = await client.save_repeatedly(prepared)
    print(f"sent again: {'the same reply' if again == first else 'another reply'}")
    return ann


async def queried(client: AsyncClient) -> None:
    found = client.fetch(
        "Student", "birthOfYear >= %@ AND name != %@", [2001, "Zoe"], sort=["name"],
        columns={"name": "name", "year": "birthOfYear", "course": "courses.@min.title"})
    async for row in found:
        print(f"{row['name']}, born in {row['year']}, course: {row['course'] or 'none'}")
    await client.save_repeatedly(crowd())
    shape = fetch("Student", "name BEGINSWITH %@", sort=["name"])
    parts = [rows(batch, client.welcome.store)
             async for batch in client.batches(shape, ["Student "])]
    names = [row["name"] for part in parts for row in part]
    several = "several parts" if len(parts) > 1 else "one part"
    print(f"fetched {len(names)} students in {several}, from {names[0]} to {names[-1]}")
    result = client.batches(shape, ["Student "])
    first = await anext(result)
    await result.aclose()
    print(f"left a result after {'some' if first.row_count < MANY else 'all'} of its rows")


async def refused(client: AsyncClient) -> None:
    try:
        [row async for row in client.fetch("Student", "nam == %@", ["Ann"])]
    except LarderError as error:
        printed(error)
    try:
        await client.insert("Course", title="Maths")
    except LarderError as error:
        printed(error)


async def fed(client: AsyncClient, start: histories.HistoryToken, ann: values.Identifier) -> None:
    """What has been committed since the start, and then what is committed now."""
    feed = client.follow(start)
    position = start
    while position.number < start.number + 4:
        transactions, position = await anext(feed)
        for transaction in transactions:
            print(described(transaction))
    await client.save(change("UPDATE", ann, {"name": "Anna"}))
    transactions, _ = await anext(feed)
    for transaction in transactions:
        print(described(transaction))
    await feed.aclose()
    await client.save(change("DELETE", ann))
    print(f"found {len(await client.get(ann))} objects after the deletion")


async def now(client: AsyncClient) -> histories.HistoryToken:
    [(_, position)] = [page async for page in client.history(newest_first=True, limit=0)]
    return position


async def tour(path: str) -> None:
    async with await AsyncClient.connect(path, name="tour") as client:
        welcome = client.welcome
        print(f"connected: protocol {welcome.protocol_version}, schema {welcome.schema_version}")
        start = await now(client)
        ann = await objects(client)
        await queried(client)
        await refused(client)
        await fed(client, start, ann)


async def follow(path: str) -> None:
    async with await AsyncClient.connect(path, name="tour") as client:
        start = await now(client)
        print(f"following after transaction {start.number}", flush=True)
        async for transactions, _ in client.follow(start, FOLLOW_SECONDS):
            for transaction in transactions:
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
    except (OSError, LarderError) as error:
        print(f"tour: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
