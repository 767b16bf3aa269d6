"""The client for asyncio."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Unpack, overload

from .. import calls
from ..attempts import Lost, NoReply
from ..changes import (
    AffectedObjects, ChangeSet, Edit, MergePolicy, SaveResult, Selection, UpdateSelection)
from ..history import HistoryFilter, HistoryPage, HistoryToken
from ..identifiers import Identifier
from ..insertion import PARTS_MAX, InsertedRows, InsertionProgress, RowBuilder, property_types
from ..live import LiveResult
from ..queries import Aggregate, Columns, Count, Fetch, Function, Query, SortKey
from ..records import Record, SomeRecord, entity_name
from ..rows import Row
from ..server import ConnectOptions, Options, ServerDescription
from ..stream_state import SLACK_SECONDS
from .connection import Connection, Request
from .session import Session
from .streams import Stream

SomeRow = Mapping[str, Any] | Record
Rows = Iterable[SomeRow] | AsyncIterable[SomeRow]


async def connect(path: str | os.PathLike[str], **given: Unpack[ConnectOptions]) -> Client:
    """A client of the server at the path of a socket. The options are those of `Options`, such as
    `name` and `timeout`."""
    client = Client(path, **given)
    await client._session.open()
    return client


async def each(rows: Rows) -> AsyncIterator[SomeRow]:
    """The rows of either kind of iterable."""
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
    else:
        for row in rows:
            yield row


class Client:
    """A connection to a server, for any number of tasks of one event loop; `connect` makes it.

    Many requests can wait for replies at the same time. The calls and their options are those of
    `larder.Client`, and raise the same errors. A task that is cancelled in a write does not know
    whether it was executed.
    """

    def __init__(self, path: str | os.PathLike[str], **given: Unpack[ConnectOptions]) -> None:
        self._options: Options = Options(path=os.fspath(path), **given)
        self._session = Session(self._options)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __del__(self) -> None:
        if hasattr(self, "_session") and self._session.is_open:
            warnings.warn(f"a client of {self._options.path} was not closed", ResourceWarning)

    @property
    def server(self) -> ServerDescription:
        """The server and the schema of the current connection, or of the last one."""
        return self._session.server

    async def close(self) -> None:
        """Ends the connection. Calls that wait, and later ones, raise ConnectionFailedError."""
        await self._session.close()

    # Reading

    @overload
    async def get(self, identifier: Identifier, *, timeout: float | None = None) -> Row | None: ...

    @overload
    async def get(
        self, identifier: Identifier, entity: type[SomeRecord], *, timeout: float | None = None
    ) -> SomeRecord | None: ...

    async def get(
            self, identifier: Identifier, entity: type[SomeRecord] | None = None, *,
            timeout: float | None = None) -> Row | SomeRecord | None:
        """The object with all its properties, as a dictionary or a record; None once it is
        deleted."""
        found = await self.get_many([identifier], timeout=timeout)
        if entity is None or not found:
            return found[0] if found else None
        made: SomeRecord = calls.as_records(entity, found)[0]
        return made

    async def get_many(
            self, identifiers: Sequence[Identifier], properties: Sequence[str] | None = None, *,
            timeout: float | None = None) -> list[Row]:
        """The objects that exist, in the order of the identifiers, with all or some properties."""
        return await self._session.perform(calls.get(identifiers, properties), timeout)

    @overload
    async def fetch(
        self, entity: str, where: str | None = None, arguments: Sequence[Any] = (), *,
        variables: Mapping[str, Any] | None = None, sort: Sequence[str | SortKey] = (),
        limit: int | None = None, offset: int | None = None, columns: Columns | None = None,
        distinct: bool = False, after: Sequence[Any] = (), includes_subentities: bool = True,
        timeout: float | None = None) -> list[Row]: ...

    @overload
    async def fetch(
        self, entity: type[SomeRecord], where: str | None = None, arguments: Sequence[Any] = (), *,
        variables: Mapping[str, Any] | None = None, sort: Sequence[str | SortKey] = (),
        limit: int | None = None, offset: int | None = None, after: Sequence[Any] = (),
        includes_subentities: bool = True, timeout: float | None = None) -> list[SomeRecord]: ...

    async def fetch(
            self, entity: str | type[Record], where: str | None = None,
            arguments: Sequence[Any] = (), *, timeout: float | None = None, **parts: Any
    ) -> list[Any]:
        """The objects that match a predicate, with all attributes and to-one relationships, or with
        the columns; a record class also has its to-many relationships. See Fetch."""
        query = Fetch(entity, where, arguments, **parts)
        return await self._session.collect(lambda: calls.RowSource(query), timeout)

    async def count(
            self, entity: str | type[Record], where: str | None = None,
            arguments: Sequence[Any] = (), *, variables: Mapping[str, Any] | None = None,
            includes_subentities: bool = True, timeout: float | None = None) -> int:
        """The number of objects that match a predicate."""
        query = Count(entity_name(entity), where, arguments, variables=variables,
                      includes_subentities=includes_subentities)
        found = await self._session.collect(lambda: calls.RowSource(query), timeout)
        return calls.count_of(found)

    async def aggregate(
            self, entity: str | type[Record], columns: Mapping[str, str | Function],
            where: str | None = None, arguments: Sequence[Any] = (), *, group_by: Columns = (),
            having: str | None = None, sort: Sequence[str | SortKey] = (),
            limit: int | None = None, variables: Mapping[str, Any] | None = None,
            includes_subentities: bool = True, timeout: float | None = None) -> list[Row]:
        """Values that the store computes over groups of objects, one row per group. See
        Aggregate."""
        query = Aggregate(
            entity_name(entity), where, arguments, columns=columns, group_by=group_by,
            having=having, sort=sort, limit=limit, variables=variables,
            includes_subentities=includes_subentities)
        return await self._session.collect(lambda: calls.RowSource(query), timeout)

    def stream(self, query: Query, *, timeout: float | None = None) -> Stream[Any]:
        """The rows of a query while they arrive, in bounded memory. They are of one snapshot, and
        the server limits the time of the whole stream to 30 seconds."""
        return Stream(self._session, calls.RowSource(query), timeout)

    # Writing

    async def insert(
            self, entity: str | Record, values: Mapping[str, Any] | None = None, *,
            upsert: bool = False, idempotency_key: str = "", timeout: float | None = None
    ) -> Identifier:
        """Inserts an object and returns its identifier. With `upsert`, an object that already has
        its unique values is updated instead."""
        changes = calls.insertion(entity, values, upsert, idempotency_key)
        return calls.only((await self.save(changes, timeout=timeout)).inserted)

    async def update(
            self, target: Identifier | Record, values: Mapping[str, Any] | None = None, *,
            edits: Sequence[Edit] = (), if_version: int | None = None,
            base: Mapping[str, Any] | None = None, merge_policy: MergePolicy = "error",
            idempotency_key: str = "", timeout: float | None = None) -> int:
        """Changes properties of an object and returns its new version. It raises ConflictError if
        the object has changed since it had `if_version` or the values in `base`."""
        changes = calls.updating(
            target, values, edits, if_version, base, merge_policy, idempotency_key)
        return calls.only((await self.save(changes, timeout=timeout)).versions)

    async def delete(
            self, target: Identifier | Record, *, if_version: int | None = None,
            idempotency_key: str = "", timeout: float | None = None) -> None:
        """Deletes an object, and applies its delete rules to related objects."""
        await self.save(calls.deletion(target, if_version, idempotency_key), timeout=timeout)

    async def update_all(
            self, entity: str | type[Record], values: Mapping[str, Any] | None = None, *,
            idempotency_key: str = "", timeout: float | None = None,
            **selection: Unpack[UpdateSelection]) -> AffectedObjects:
        """Sets properties of all objects that match a predicate, in one transaction. The options
        are those of ChangeSet.update_all."""
        changes = calls.updating_all(entity, values, idempotency_key, selection)
        return calls.only((await self.save(changes, timeout=timeout)).affected)

    async def delete_all(
            self, entity: str | type[Record], *, idempotency_key: str = "",
            timeout: float | None = None, **selection: Unpack[Selection]) -> AffectedObjects:
        """Deletes all objects that match a predicate, in one transaction. The options are those of
        ChangeSet.delete_all."""
        changes = calls.deletion_all(entity, idempotency_key, selection)
        return calls.only((await self.save(changes, timeout=timeout)).affected)

    async def save(self, changes: ChangeSet, *, timeout: float | None = None) -> SaveResult:
        """Executes a change set in one transaction: all changes or none. An error has all
        `problems`. A set with an idempotency key is sent again if its reply was lost; one without
        raises IndeterminateError then."""
        return await self._session.save(calls.save(changes, self._options.author), timeout)

    async def insert_many(
            self, entity: str | type[Record], rows: Rows, *,
            atomic: bool = False, upsert: bool = False, wants_identifiers: bool = False,
            author: str = "", timeout: float | None = None) -> InsertedRows:
        """Inserts one object for each row, in bounded memory. All rows have the same properties.

        With `atomic` they are one transaction, otherwise one for some thousand rows. The timeout is
        that of each part. An error, also of `rows`, ends the stream: rows that the server has
        acknowledged are stored, and with `atomic` none. After a lost connection it raises
        IndeterminateError.
        """
        session, name = self._session, entity_name(entity)
        seconds = self._options.timeout if timeout is None else timeout
        types = property_types(await session.schema(calls.schema(), timeout), name)
        body = calls.insert_request(
            name, atomic, upsert, wants_identifiers, author or self._options.author)

        async def open(connection: Connection, _: float) -> tuple[uuid.UUID, Request]:
            return connection.server.store, await connection.request(
                "insert_rows", body, seconds, unread_max=2 * PARTS_MAX)

        store, request = await session.repeat(open, timeout, is_write=True)
        progress = InsertionProgress(RowBuilder(name, types, store))
        async with request:
            try:
                async for row in each(rows):
                    progress.builder.append(row)
                    if progress.builder.is_full:
                        await self._send_part(request, progress, seconds)
                await self._send_part(request, progress, seconds, is_last=True)
                while not progress.is_complete:
                    progress.received(await request.reply(seconds + SLACK_SECONDS))
            except (Lost, NoReply) as error:
                # The rows are consumed, so that they cannot be sent again.
                raise progress.interrupted(error) from None
        return progress.result()

    async def _send_part(
            self, request: Request, progress: InsertionProgress, seconds: float,
            is_last: bool = False) -> None:
        while progress.must_wait:
            progress.received(await request.reply(seconds + SLACK_SECONDS))
        await request.send("rows", progress.next_part(request.request_id, is_last), seconds)

    # Changes of others

    def observe(
            self, query: Query, *, sectioned_by: str | SortKey | None = None,
            interval: float = 0.0) -> Stream[LiveResult[Any]]:
        """The result of a query, and then each changed result, also by other clients.

        `sectioned_by` sorts a Fetch by this key first, and divides its rows into sections. Results
        are at least `interval` seconds apart. After a lost connection the query is observed again.
        """
        return Stream(self._session, calls.LiveSource(query, sectioned_by, interval), None)

    async def history(
            self, filter: HistoryFilter = HistoryFilter(), *, after: HistoryToken | None = None,
            up_to: HistoryToken | None = None, newest_first: bool = False,
            limit: int | None = None, timeout: float | None = None) -> HistoryPage:
        """Transactions of the history, in one page; use a limit for a long history, and continue
        after its position."""
        pages = await self._session.collect(
            lambda: calls.HistorySource(filter, after, False, {
                "up_to": up_to, "newest_first": newest_first, "limit": limit}), timeout)
        return calls.history_of_pages(pages)

    async def current_token(self, *, timeout: float | None = None) -> HistoryToken:
        """The position after the last transaction that is committed."""
        page = await self.history(newest_first=True, limit=0, timeout=timeout)
        return page.position

    def follow(
            self, after: HistoryToken | None = None, filter: HistoryFilter = HistoryFilter()
    ) -> Stream[HistoryPage]:
        """The transactions after a position, or from now on, and then each one as it is committed:
        each once and in order, also over a restart of the server."""
        return Stream(self._session, calls.HistorySource(filter, after, True), None)

    # The server

    async def schema(self, *, timeout: float | None = None) -> str:
        """The text of the store's schema file."""
        return await self._session.perform(calls.schema(), timeout)

    async def ping(self, *, timeout: float | None = None) -> None:
        """Returns after a round trip through the server's reader and writer."""
        await self._session.perform(calls.ping(), timeout)
