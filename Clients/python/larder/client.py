"""The client with blocking calls."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, overload

from . import calls
from .attempts import Lost, NoReply
from .changes import (
    AffectedObjects, ChangeSet, Edit, MergePolicy, SaveResult, Selection, UpdateSelection)
from .connection import Request
from .errors import failure
from .history import HistoryFilter, HistoryPage, HistoryToken
from .identifiers import Identifier
from .insertion import PARTS_MAX, InsertedRows, InsertionProgress, RowBuilder, property_types
from .live import LiveResult
from .queries import Aggregate, Columns, Count, Fetch, Function, Query, SortKey
from .records import Record, SomeRecord, entity_name
from .rows import Row
from .server import ConnectOptions, Options, ServerDescription
from .session import Session
from .stream_state import SLACK_SECONDS
from .streams import Stream


def connect(path: str | os.PathLike[str], **given: Unpack[ConnectOptions]) -> Client:
    """A client of the server at the path of a socket. The options are those of `Options`, such as
    `name` and `timeout`."""
    return Client(path, **given)


class Client:
    """A connection to a server, with blocking calls.

    Any number of threads can use one client at the same time; their requests share one socket and
    do not wait for each other. Every call raises LarderError and nothing else. It has the option
    `timeout`, in seconds. When the connection is lost, calls wait for another one: reads are then
    repeated, and so are writes that were not sent or have an idempotency key.
    """

    def __init__(self, path: str | os.PathLike[str], **given: Unpack[ConnectOptions]) -> None:
        self._session: Session | None = None
        self._options: Options = Options(path=os.fspath(path), **given)
        self._session = Session(self._options)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._session is not None and self._session.is_open:
            warnings.warn(f"a client of {self._options.path} was not closed", ResourceWarning)
            self._session.drop()

    @property
    def _open(self) -> Session:
        if self._session is None:
            raise failure("CONNECTION_FAILED", "the client was not connected")
        return self._session

    @property
    def server(self) -> ServerDescription:
        """The server and the schema of the current connection, or of the last one."""
        return self._open.server

    def close(self) -> None:
        """Ends the connection. Calls that wait, and later ones, raise ConnectionFailedError."""
        self._open.close()

    # Reading

    @overload
    def get(self, identifier: Identifier, *, timeout: float | None = None) -> Row | None: ...

    @overload
    def get(
        self, identifier: Identifier, entity: type[SomeRecord], *, timeout: float | None = None
    ) -> SomeRecord | None: ...

    def get(
            self, identifier: Identifier, entity: type[SomeRecord] | None = None, *,
            timeout: float | None = None) -> Row | SomeRecord | None:
        """The object with all its properties, as a dictionary or a record; None once it is
        deleted."""
        found = self.get_many([identifier], timeout=timeout)
        if entity is None or not found:
            return found[0] if found else None
        made: SomeRecord = calls.as_records(entity, found)[0]
        return made

    def get_many(
            self, identifiers: Sequence[Identifier], properties: Sequence[str] | None = None, *,
            timeout: float | None = None) -> list[Row]:
        """The objects that exist, in the order of the identifiers, with all or some properties."""
        return self._open.perform(calls.get(identifiers, properties), timeout)

    @overload
    def fetch(
        self, entity: str, where: str | None = None, arguments: Sequence[Any] = (), *,
        variables: Mapping[str, Any] | None = None, sort: Sequence[str | SortKey] = (),
        limit: int | None = None, offset: int | None = None, columns: Columns | None = None,
        distinct: bool = False, after: Sequence[Any] = (), includes_subentities: bool = True,
        timeout: float | None = None) -> list[Row]: ...

    @overload
    def fetch(
        self, entity: type[SomeRecord], where: str | None = None, arguments: Sequence[Any] = (), *,
        variables: Mapping[str, Any] | None = None, sort: Sequence[str | SortKey] = (),
        limit: int | None = None, offset: int | None = None, after: Sequence[Any] = (),
        includes_subentities: bool = True, timeout: float | None = None) -> list[SomeRecord]: ...

    def fetch(
            self, entity: str | type[Record], where: str | None = None,
            arguments: Sequence[Any] = (), *, timeout: float | None = None, **parts: Any
    ) -> list[Any]:
        """The objects that match a predicate, with all attributes and to-one relationships, or with
        the columns; a record class also has its to-many relationships. See Fetch."""
        query = Fetch(entity, where, arguments, **parts)
        return self._open.collect(lambda: calls.RowSource(query), timeout)

    def count(
            self, entity: str | type[Record], where: str | None = None,
            arguments: Sequence[Any] = (), *, variables: Mapping[str, Any] | None = None,
            includes_subentities: bool = True, timeout: float | None = None) -> int:
        """The number of objects that match a predicate."""
        query = Count(entity_name(entity), where, arguments, variables=variables,
                      includes_subentities=includes_subentities)
        found = self._open.collect(lambda: calls.RowSource(query), timeout)
        return calls.count_of(found)

    def aggregate(
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
        return self._open.collect(lambda: calls.RowSource(query), timeout)

    def stream(self, query: Query, *, timeout: float | None = None) -> Stream[Any]:
        """The rows of a query while they arrive, in bounded memory. They are of one snapshot, and
        the server limits the time of the whole stream to 30 seconds."""
        return Stream(self._open, calls.RowSource(query), timeout)

    # Writing

    def insert(
            self, entity: str | Record, values: Mapping[str, Any] | None = None, *,
            upsert: bool = False, idempotency_key: str = "", timeout: float | None = None
    ) -> Identifier:
        """Inserts an object and returns its identifier. With `upsert`, an object that already has
        its unique values is updated instead."""
        changes = calls.insertion(entity, values, upsert, idempotency_key)
        return calls.only(self.save(changes, timeout=timeout).inserted)

    def update(
            self, target: Identifier | Record, values: Mapping[str, Any] | None = None, *,
            edits: Sequence[Edit] = (), if_version: int | None = None,
            base: Mapping[str, Any] | None = None, merge_policy: MergePolicy = "error",
            idempotency_key: str = "", timeout: float | None = None) -> int:
        """Changes properties of an object and returns its new version. It raises ConflictError if
        the object has changed since it had `if_version` or the values in `base`."""
        changes = calls.updating(
            target, values, edits, if_version, base, merge_policy, idempotency_key)
        return calls.only(self.save(changes, timeout=timeout).versions)

    def delete(
            self, target: Identifier | Record, *, if_version: int | None = None,
            idempotency_key: str = "", timeout: float | None = None) -> None:
        """Deletes an object, and applies its delete rules to related objects."""
        self.save(calls.deletion(target, if_version, idempotency_key), timeout=timeout)

    def update_all(
            self, entity: str | type[Record], values: Mapping[str, Any] | None = None, *,
            idempotency_key: str = "", timeout: float | None = None,
            **selection: Unpack[UpdateSelection]) -> AffectedObjects:
        """Sets properties of all objects that match a predicate, in one transaction. The options
        are those of ChangeSet.update_all."""
        changes = calls.updating_all(entity, values, idempotency_key, selection)
        return calls.only(self.save(changes, timeout=timeout).affected)

    def delete_all(
            self, entity: str | type[Record], *, idempotency_key: str = "",
            timeout: float | None = None, **selection: Unpack[Selection]) -> AffectedObjects:
        """Deletes all objects that match a predicate, in one transaction. The options are those of
        ChangeSet.delete_all."""
        changes = calls.deletion_all(entity, idempotency_key, selection)
        return calls.only(self.save(changes, timeout=timeout).affected)

    def save(self, changes: ChangeSet, *, timeout: float | None = None) -> SaveResult:
        """Executes a change set in one transaction: all changes or none. An error has all
        `problems`. A set with an idempotency key is sent again if its reply was lost; one without
        raises IndeterminateError then."""
        return self._open.save(calls.save(changes, self._options.author), timeout)

    def insert_many(
            self, entity: str | type[Record], rows: Iterable[Mapping[str, Any] | Record], *,
            atomic: bool = False, upsert: bool = False, wants_identifiers: bool = False,
            author: str = "", timeout: float | None = None) -> InsertedRows:
        """Inserts one object for each row, in bounded memory. All rows have the same properties.

        With `atomic` they are one transaction, otherwise one for some thousand rows. The timeout is
        that of each part. An error, also of `rows`, ends the stream: rows that the server has
        acknowledged are stored, and with `atomic` none. After a lost connection it raises
        IndeterminateError.
        """
        session, name = self._open, entity_name(entity)
        seconds = self._options.timeout if timeout is None else timeout
        types = property_types(session.schema(calls.schema(), timeout), name)
        body = calls.insert_request(
            name, atomic, upsert, wants_identifiers, author or self._options.author)
        store, request = session.repeat(
            lambda connection, _: (connection.server.store, connection.request(
                "insert_rows", body, seconds, unread_max=2 * PARTS_MAX)),
            timeout, is_write=True)
        progress = InsertionProgress(RowBuilder(name, types, store))
        with request:
            try:
                for row in rows:
                    progress.builder.append(row)
                    if progress.builder.is_full:
                        self._send_part(request, progress, seconds)
                self._send_part(request, progress, seconds, is_last=True)
                while not progress.is_complete:
                    progress.received(request.reply(seconds + SLACK_SECONDS))
            except (Lost, NoReply) as error:
                # The rows are consumed, so that they cannot be sent again.
                raise progress.interrupted(error) from None
        return progress.result()

    def _send_part(
            self, request: Request, progress: InsertionProgress, seconds: float,
            is_last: bool = False) -> None:
        while progress.must_wait:
            progress.received(request.reply(seconds + SLACK_SECONDS))
        request.send("rows", progress.next_part(request.request_id, is_last), seconds)

    # Changes of others

    def observe(
            self, query: Query, *, sectioned_by: str | SortKey | None = None,
            interval: float = 0.0) -> Stream[LiveResult[Any]]:
        """The result of a query, and then each changed result, also by other clients.

        `sectioned_by` sorts a Fetch by this key first, and divides its rows into sections. Results
        are at least `interval` seconds apart. After a lost connection the query is observed again.
        """
        return Stream(self._open, calls.LiveSource(query, sectioned_by, interval), None)

    def history(
            self, filter: HistoryFilter = HistoryFilter(), *, after: HistoryToken | None = None,
            up_to: HistoryToken | None = None, newest_first: bool = False,
            limit: int | None = None, timeout: float | None = None) -> HistoryPage:
        """Transactions of the history, in one page; use a limit for a long history, and continue
        after its position."""
        pages = self._open.collect(
            lambda: calls.HistorySource(filter, after, False, {
                "up_to": up_to, "newest_first": newest_first, "limit": limit}), timeout)
        return calls.history_of_pages(pages)

    def current_token(self, *, timeout: float | None = None) -> HistoryToken:
        """The position after the last transaction that is committed."""
        return self.history(newest_first=True, limit=0, timeout=timeout).position

    def follow(
            self, after: HistoryToken | None = None, filter: HistoryFilter = HistoryFilter()
    ) -> Stream[HistoryPage]:
        """The transactions after a position, or from now on, and then each one as it is committed:
        each once and in order, also over a restart of the server."""
        return Stream(self._open, calls.HistorySource(filter, after, True), None)

    # The server

    def schema(self, *, timeout: float | None = None) -> str:
        """The text of the store's schema file."""
        return self._open.perform(calls.schema(), timeout)

    def ping(self, *, timeout: float | None = None) -> None:
        """Returns after a round trip through the server's reader and writer."""
        self._open.perform(calls.ping(), timeout)
