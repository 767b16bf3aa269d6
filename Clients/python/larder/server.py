"""The options of a client, and the server's description of itself in the handshake."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TypedDict

from .errors import violation
from .history import HistoryToken
from .v1 import larder_pb2


@dataclass(frozen=True, kw_only=True)
class Options:
    """The names that a client gives in the handshake, and its time limits in seconds."""

    path: str
    #: The client's name in the history and in the server's log.
    name: str = "larder-python"
    #: The author that the history records for change sets without an author of their own.
    author: str = ""
    #: The schema that the program was built for; empty accepts every schema.
    schema_version: str = ""
    schema_fingerprint: str = ""
    #: The key of the migration session to which the client belongs; empty for none.
    migration_session: str = ""
    #: The limit of a call with its repetitions, and of each part of a stream.
    timeout: float = 30.0
    #: The limit of connecting and the handshake.
    connect_timeout: float = 5.0
    #: How long a call waits for another connection after a loss; 0 never reconnects.
    reconnect_wait: float = 10.0

    def hello(self) -> larder_pb2.Hello:
        """The first request of each connection."""
        return larder_pb2.Hello(
            protocol_version=1, client_name=self.name, schema_version=self.schema_version,
            schema_fingerprint=self.schema_fingerprint, migration_session=self.migration_session)


class ConnectOptions(TypedDict, total=False):
    """The options of `connect`, which Options describes."""

    name: str
    author: str
    schema_version: str
    schema_fingerprint: str
    migration_session: str
    timeout: float
    connect_timeout: float
    reconnect_wait: float


@dataclass(frozen=True)
class ServerDescription:
    """The server of a connection and its store."""

    #: The program and its version, for people.
    name: str
    protocol_version: int
    #: The store's UUID, which is part of the identifiers of its objects.
    store: uuid.UUID
    schema_version: str
    #: Equal for equal schemas.
    schema_fingerprint: str
    is_read_only: bool
    #: Names of optional features.
    capabilities: tuple[str, ...]
    #: The longest request, in bytes.
    request_bytes_max: int
    requests_in_flight_max: int
    #: The epoch of the store's history tokens.
    history_epoch: int

    def token(self, transaction: int) -> HistoryToken:
        """The position in the history after a transaction, such as that of a save."""
        return HistoryToken(self.store, self.history_epoch, transaction)


def server_of_welcome(welcome: larder_pb2.WelcomeReply) -> ServerDescription:
    """The description in the reply to `hello`."""
    if len(welcome.store) != 16:
        raise violation("the server sent a malformed UUID of its store")
    return ServerDescription(
        welcome.server_name, welcome.protocol_version, uuid.UUID(bytes=welcome.store),
        welcome.schema_version, welcome.schema_fingerprint, welcome.read_only,
        tuple(welcome.capabilities), welcome.frame_bytes_max, welcome.requests_in_flight_max,
        welcome.history_epoch)
