"""A client with blocking calls for tests, which sends and receives single messages, and repeats
nothing by itself.

    client = Client("school.sock")
    ann = client.insert("Student", name="Ann", birthOfYear=2001)
    [row] = client.get(ann)

Errors are LarderError for a reply, and OSError for the connection: ConnectionError, TimeoutError,
FileNotFoundError. After an OSError, or a reply that violates the protocol, the connection is closed.
An instance is for one thread, which reads a result to its end, or leaves it, before it sends the
next request.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from raw_messages import *

from larder.frames import (
    HANDSHAKE_BYTES_MAX, LENGTH_BYTES, REPLY_BYTES_MAX, decoded_frame, encoded_frame, envelope,
    frame_length, reply_body)

HANDSHAKE_SECONDS = 10.0
# The server replies with TIMEOUT after the time of a request; a later reply never comes.
SLACK_SECONDS = 30.0


class Client:
    """One connection to larderd. A request without a timeout of its own has that of the client."""

    def __init__(
            self, path: str, name: str = "raw_client.py", schema_version: str = "",
            migration_session: str = "", timeout: float = 10.0) -> None:
        self._path = path
        self._timeout = timeout
        self._hello = larder.Hello(
            protocol_version=1, client_name=name, schema_version=schema_version,
            migration_session=migration_session)
        self._connect()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # The connection

    def _connect(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._last_id = 0
        self._request_bytes_max = self._reply_bytes_max = HANDSHAKE_BYTES_MAX
        try:
            self._socket.settimeout(HANDSHAKE_SECONDS)
            self._socket.connect(self._path)
            self.welcome: larder.WelcomeReply = self.call("hello", self._hello, HANDSHAKE_SECONDS)
        except BaseException:
            self.close()
            raise
        self._request_bytes_max = self.welcome.frame_bytes_max
        self._reply_bytes_max = REPLY_BYTES_MAX

    def close(self) -> None:
        self._socket.close()

    def send(self, kind: str, body: Any, timeout: float | None = None) -> int:
        """Sends a request, and returns its id. A timeout of 0 seconds leaves it to the server."""
        timeout = self._timeout if timeout is None else timeout
        self._last_id += 1
        frame = encoded_frame(
            envelope(self._last_id, kind, body, timeout), self._request_bytes_max)
        self._reply_seconds = timeout + SLACK_SECONDS if timeout else None
        try:
            self._socket.settimeout(SLACK_SECONDS)
            self._socket.sendall(frame)
        except BaseException:
            # Perhaps only a part of the frame was sent.
            self.close()
            raise
        return self._last_id

    def receive_envelope(self) -> larder.Envelope:
        """The next reply to any request, within the time of the last one that was sent."""
        deadline = time.monotonic() + self._reply_seconds if self._reply_seconds else None
        try:
            length = frame_length(self._read(LENGTH_BYTES, deadline), self._reply_bytes_max)
            return decoded_frame(self._read(length, deadline))
        except BaseException:
            # The next bytes may be the middle of a frame.
            self.close()
            raise

    def _read(self, count: int, deadline: float | None) -> bytes:
        content = bytearray(count)
        rest = memoryview(content)
        while rest:
            left = None if deadline is None else max(0.001, deadline - time.monotonic())
            self._socket.settimeout(left)
            received = self._socket.recv_into(rest)
            if received == 0:
                raise ConnectionError("the server closed the connection")
            rest = rest[received:]
        return bytes(content)

    def receive(self, request_id: int, kind: str | None = None) -> Any:
        """The body of the next reply, which must be to this request; raises its error."""
        received = self.receive_envelope()
        if received.id == 0:
            self.close()
        if received.HasField("failed"):
            raise error_of_reply(received.failed)
        if received.id != request_id:
            self.close()
            raise failure("MALFORMED_MESSAGE", "the server replied to another request")
        return reply_body(received, kind) if kind else getattr(
            received, received.WhichOneof("body"))

    def call(self, kind: str, body: Any, timeout: float | None = None) -> Any:
        return self.receive(self.send(kind, body, timeout), kind)

    def replies(self, kind: str, body: Any, timeout: float | None = None) -> Iterator[Any]:
        """The replies of a stream, which is cancelled if the loop ends early."""
        request_id = self.send(kind, body, timeout)
        reply = self.receive(request_id, kind)
        while True:
            try:
                yield reply
            except GeneratorExit:
                if reply.more:
                    self._cancel(request_id)
                raise
            if not reply.more:
                return
            if body.credit:
                self.send("credit", larder.CreditRequest(request_id=request_id, batches=1), timeout)
            reply = self.receive(request_id, kind)

    def _cancel(self, request_id: int) -> None:
        """Cancels a stream, and reads the replies that are on their way."""
        try:
            self.send("cancel", larder.CancelRequest(request_id=request_id))
            while self.receive(request_id).more:
                pass
        except (OSError, LarderError):
            pass

    # Reading

    def batches(
            self, shape: queries.Query, arguments: Iterable[Any] = (), **options: Any
    ) -> Iterator[batches.Batch]:
        request = query_request(shape, arguments, **options)
        with contextlib.closing(self.replies("query", request)) as replies:
            for reply in replies:
                yield from reply.batches

    def query(
            self, shape: queries.Query, arguments: Iterable[Any] = (), **options: Any
    ) -> list[dict[str, Any]]:
        found = self.batches(shape, arguments, **options)
        return [row for batch in found for row in rows(batch, self.welcome.store)]

    def fetch(
            self, entity: str, format: str | None = None, arguments: Iterable[Any] = (),
            sort: Sequence[str] = (), columns: dict[str, str] | None = None, **options: Any
    ) -> list[dict[str, Any]]:
        """All objects that match, or columns of them. `batches` returns long results in parts."""
        return self.query(fetch(entity, format, sort, columns), arguments, **options)

    def count(
            self, entity: str, format: str | None = None, arguments: Iterable[Any] = (),
            **options: Any) -> int:
        shape = queries.Query(count=queries.CountQuery(entity=entity, predicate=where(format)))
        return self.query(shape, arguments, **options)[0]["count"]

    def get(self, *identifiers: values.Identifier) -> list[dict[str, Any]]:
        """The objects that exist."""
        reply = self.call("get", larder.GetRequest(identifiers=identifiers))
        return [row for batch in reply.batches for row in rows(batch, self.welcome.store)]

    # Writing

    def save(self, *listed: changes.Change, **options: Any) -> larder.SaveReply:
        """Saves changes as one transaction. If the connection breaks before the reply, they may or
        may not have been applied."""
        return self.call("save", change_set(*listed, **options))

    change, change_all = staticmethod(change), staticmethod(change_all)

    def insert(self, entity: str, **properties: Any) -> values.Identifier:
        return self.save(change("INSERT", new(entity, "t:new"), properties)).inserted[0]

    def insert_rows(
            self, entity: str, columns: dict[str, tuple[str, Sequence[Any]]], chunk: int = 5_000,
            **options: Any) -> larder.InsertReply:
        """Inserts one object per row; columns are `name: (type, list)`. Returns the last reply."""
        request_id = self.send("insert_rows", larder.InsertRequest(entity=entity, **options))
        count = max(len(items) for _, items in columns.values())
        for start in range(0, count, chunk):
            part = slice(start, start + chunk)
            self.send("rows", larder.RowsRequest(
                request_id=request_id, last=start + chunk >= count, batch=batches.Batch(
                    row_count=len(range(count)[part]),
                    columns=[column(n, t, items[part]) for n, (t, items) in columns.items()])))
            reply = self.receive(request_id)
        while reply.more:
            reply = self.receive(request_id)
        return reply

    # The history

    def token(self, number: int) -> histories.HistoryToken:
        """The position in the history after a transaction."""
        return histories.HistoryToken(
            store=self.welcome.store, epoch=self.welcome.history_epoch, number=number)

    def history(
            self, **options: Any
    ) -> Iterator[tuple[list[histories.HistoryTransaction], histories.HistoryToken]]:
        """For each reply its complete transactions, and the position; follow=True does not end."""
        request = larder.HistoryRequest(**{"credit": CREDIT} | options)
        part, timeout = None, 0 if request.follow else None
        with contextlib.closing(self.replies("history", request, timeout)) as replies:
            for reply in replies:
                transactions, part = complete(part, reply)
                yield transactions, reply.position
