"""The client of Larder, an object store for several processes on one machine.

    import larder

    with larder.connect("library.sock") as client:
        book = client.insert("Book", {"title": "Rain", "pages": 120})
        for row in client.fetch("Book", "pages > %@", [100], sort=["title"]):
            print(row["title"], row["@id"])

`larder.aio` has the same calls for asyncio. docs/python.md describes all of them.
"""

from .changes import AffectedObjects, ChangeSet, Edit, SaveResult, new_idempotency_key
from .client import Client, connect
from .errors import (
    ConflictError, ConflictingProperty, ConnectionFailedError, IndeterminateError, InvalidError,
    LarderError, MalformedIdentifierError, NotFoundError, Problem, ProtocolError, RefusedError,
    StorageError, TemporaryError)
from .frames import trace
from .history import (
    HistoryChange, HistoryFilter, HistoryPage, HistoryToken, Tombstone, Transaction)
from .identifiers import Identifier, TemporaryIdentifier
from .insertion import InsertedRows
from .live import LiveResult, Section
from .queries import Aggregate, Count, Fetch, Function, Query, SortKey
from .records import Record
from .rows import Row
from .server import Options, ServerDescription
from .streams import Stream
from .values import JSON, Json, Url
from .version import VERSION as __version__

__all__ = [
    "JSON", "AffectedObjects", "Aggregate", "ChangeSet", "Client", "ConflictError",
    "ConflictingProperty", "ConnectionFailedError", "Count", "Edit", "Fetch", "Function",
    "HistoryChange", "HistoryFilter", "HistoryPage", "HistoryToken", "Identifier",
    "IndeterminateError", "InsertedRows", "InvalidError", "Json", "LarderError", "LiveResult",
    "MalformedIdentifierError", "NotFoundError", "Options", "Problem", "ProtocolError", "Query",
    "Record", "RefusedError", "Row", "SaveResult", "Section", "ServerDescription", "SortKey",
    "StorageError", "Stream", "TemporaryError", "TemporaryIdentifier", "Tombstone",
    "Transaction", "Url", "__version__", "connect", "new_idempotency_key", "trace"]
