"""The client of Larder for asyncio, with the calls of the blocking one.

    from larder import aio

    async with await aio.connect("library.sock") as client:
        book = await client.insert("Book", {"title": "Rain", "pages": 120})
        async for result in client.observe(Fetch("Book", sort=["title"])):
            print(result.rows)

The values, queries and errors are those of `larder`.
"""

from .client import Client, connect
from .streams import Stream

__all__ = ["Client", "Stream", "connect"]
