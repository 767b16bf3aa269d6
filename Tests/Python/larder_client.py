"""A client of larderd after docs/protocol.md, with the official protobuf library."""

import datetime
import decimal
import itertools
import re
import socket
import uuid

import proto

messages = proto.load()
larder, values, changes, expressions, queries, histories = (
    messages[n] for n in ("larder", "value", "change", "expression", "query", "history"))
EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)


class LarderError(Exception):
    """The reply `failed`: its number, its message, and the whole reply."""

    def __init__(self, code, message, reply=None):
        super().__init__(f"error[{code}]: {message}")
        self.code, self.message, self.reply = code, message, reply


def identifier(uri):
    """The identifier in a URI."""
    match = re.fullmatch(r"x-coredata://([0-9A-Fa-f-]{36})/([A-Za-z][A-Za-z0-9_]*)/p(\d+)", uri)
    try:
        return values.Identifier(
            store=uuid.UUID(match[1]).bytes, entity=match[2], key=int(match[3]))
    except (TypeError, ValueError):
        raise LarderError(200, "the URI is malformed") from None


def uri(found):
    return f"x-coredata://{str(uuid.UUID(bytes=found.store)).upper()}/{found.entity}/p{found.key}"


def value(python):
    """A Python value as a Value; identifiers and lists of identifiers are objects."""
    match python:
        case None: return values.Value(null_value=True)
        case bool(): return values.Value(bool_value=python)
        case int(): return values.Value(int_value=python)
        case float(): return values.Value(double_value=python)
        case decimal.Decimal(): return values.Value(decimal_value=str(python))
        case str(): return values.Value(string_value=python)
        case datetime.datetime(): return values.Value(date_value=(python - EPOCH).total_seconds())
        case uuid.UUID(): return values.Value(uuid_value=python.bytes)
        case bytes(): return values.Value(data_value=python)
        case list(): return values.Value(objects_value=values.Identifiers(items=python))
        case _: return values.Value(object_value=python)


def argument(python):
    """A query argument: a tuple is a list of values, anything else is one value."""
    if isinstance(python, tuple):
        return values.Argument(list=values.ValueList(items=[value(item) for item in python]))
    return values.Argument(value=value(python))


def identifiers(named, keys, store):
    """The identifiers for the keys of an identity or of a column of objects."""
    entities = [named.entity, *named.subentities]
    indexes = named.entity_indexes or [0] * len(keys)
    return [values.Identifier(store=store, entity=entities[index], key=key)
            for key, index in zip(keys, indexes)]


def column_values(column, row_count, store):
    """The values of a column, one per row; None for nil."""
    kind = messages["batch"].ColumnType.Name(column.type).removeprefix("COLUMN_TYPE_")
    number = column.integers.__getitem__
    part = lambda row: column.heap[first(row) : column.ends[row]]
    named = identifiers(column, column.integers, store) if column.entity else []
    first = lambda row: column.ends[row - 1] if row else 0
    read = {
        "INT16": number, "INT32": number, "INT64": number,
        "BOOL": lambda row: number(row) != 0,
        "OBJECT": lambda row: named[row],
        "OBJECTS": lambda row: named[first(row) : column.ends[row]],
        "FLOAT": column.doubles.__getitem__, "DOUBLE": column.doubles.__getitem__,
        "DATE": lambda row: EPOCH + datetime.timedelta(seconds=column.doubles[row]),
        "DECIMAL": lambda row: decimal.Decimal(part(row).decode()),
        "UUID": lambda row: uuid.UUID(bytes=part(row)),
        "DATA": part,
    }.get(kind, lambda row: part(row).decode())
    nils = column.nulls.ljust((row_count + 7) // 8, b"\0")
    return [None if nils[row // 8] >> row % 8 & 1 else read(row) for row in range(row_count)]


def column(name, kind, items):
    """A column of text or integers, with one item per row; None for nil."""
    made = messages["batch"].Column(
        name=name, type=messages["batch"].ColumnType.Value(f"COLUMN_TYPE_{kind}"))
    nulls = bytearray((len(items) + 7) // 8)
    parts = []
    for row, item in enumerate(items):
        if item is None:
            nulls[row // 8] |= 1 << row % 8
        parts.append((item or "").encode() if kind == "STRING" else item or 0)
    if kind == "STRING":
        made.heap = b"".join(parts)
        made.ends.extend(itertools.accumulate(map(len, parts)))
    else:
        made.integers.extend(parts)
    made.nulls = bytes(nulls)
    return made


def rows(batch, store):
    """The rows of a batch as dictionaries; objects also have "@id" and "@version"."""
    columns = {c.name: column_values(c, batch.row_count, store) for c in batch.columns}
    if batch.HasField("identity"):
        columns["@id"] = identifiers(batch.identity, batch.identity.keys, store)
        columns["@version"] = batch.identity.versions
    return [{n: column[row] for n, column in columns.items()} for row in range(batch.row_count)]


def edit(kind, name, objects, **position):
    """An edit of a to-many relationship, at end="FIRST", before=…, after=… or index=…."""
    if "end" in position:
        position["end"] = changes.ListEnd.Value(f"LIST_END_{position['end']}")
    kind = changes.RelationshipEditKind.Value(f"RELATIONSHIP_EDIT_KIND_{kind}")
    return changes.RelationshipEdit(name=name, kind=kind, objects=objects, **position)


def where(format):
    return queries.Term(format=format) if format else None


def condition(count, entity, format=None, arguments=(), **options):
    """The condition that this number of objects match."""
    objects = changes.ObjectsChange(
        entity=entity, predicate=where(format),
        arguments=[argument(given) for given in arguments], **options)
    return changes.Condition(objects=objects, count=count)


class Client:
    def __init__(
            self, path, name="larder_client.py", schema_version="", migration_session=""):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.stream, self.last_id = self.socket.makefile("rb"), 0
        self.welcome = self.call("hello", larder.Hello(
            protocol_version=1, client_name=name, schema_version=schema_version,
            migration_session=migration_session))

    def close(self):
        self.stream.close()
        self.socket.close()

    def send(self, kind, body, timeout=10_000):
        self.last_id += 1
        envelope = larder.Envelope(id=self.last_id, timeout_milliseconds=timeout, **{kind: body})
        content = envelope.SerializeToString()
        self.socket.sendall(len(content).to_bytes(4, "big") + content)
        return self.last_id

    def receive(self, request_id):
        length = int.from_bytes(self.stream.read(4), "big")
        envelope = larder.Envelope.FromString(self.stream.read(length))
        if envelope.WhichOneof("body") is None:
            raise ConnectionError("the server closed the connection")
        if envelope.HasField("failed"):
            raise LarderError(envelope.failed.code, envelope.failed.message, envelope.failed)
        assert envelope.id == request_id, "a reply to another request"
        return getattr(envelope, envelope.WhichOneof("body"))

    def call(self, kind, body):
        return self.receive(self.send(kind, body))

    def batches(self, shape, arguments=(), limit=None, credit=0, variables=None):
        """All batches of a query's result; credit limits the number of batches in flight."""
        request_id = self.send("query", larder.QueryRequest(
            shape=shape.SerializeToString(deterministic=True),
            arguments=[argument(given) for given in arguments], limit=limit, credit=credit,
            variables=[values.NamedArgument(name=name, argument=argument(given))
                       for name, given in sorted((variables or {}).items())]))
        more = True
        while more:
            reply = self.receive(request_id)
            yield from reply.batches
            more = reply.more
            if more and credit:
                self.send("credit", larder.CreditRequest(request_id=request_id, batches=1))

    def query(self, shape, arguments=(), **options):
        found = self.batches(shape, arguments, **options)
        return [row for batch in found for row in rows(batch, self.welcome.store)]

    def fetch(self, entity, format=None, arguments=(), sort=(), **options):
        return self.query(queries.Query(fetch=queries.FetchQuery(
            entity=entity, predicate=where(format), selection=queries.SELECTION_OBJECTS,
            sort=[queries.SortKey(term=where(text)) for text in sort])), arguments, **options)

    def count(self, entity, format=None, arguments=(), **options):
        shape = queries.CountQuery(entity=entity, predicate=where(format))
        return self.query(queries.Query(count=shape), arguments, **options)[0]["count"]

    def get(self, *identifiers):
        reply = self.call("get", larder.GetRequest(identifiers=identifiers))
        return [row for batch in reply.batches for row in rows(batch, self.welcome.store)]

    def save(self, *list_of_changes, conditions=(), idempotency_key="", author=""):
        return self.call("save", changes.ChangeSet(
            changes=list_of_changes, conditions=conditions, idempotency_key=idempotency_key,
            author=author))

    def token(self, number):
        """The position in the history after a transaction."""
        return histories.HistoryToken(
            store=self.welcome.store, epoch=self.welcome.history_epoch, number=number)

    def history(self, credit=0, **options):
        """For each reply its complete transactions, and the position; follow=True does not end."""
        request_id = self.send("history", larder.HistoryRequest(credit=credit, **options))
        part, more = None, True
        while more:
            reply = self.receive(request_id)
            transactions = list(reply.transactions)
            if part is not None:
                part.MergeFrom(transactions[0])
                transactions[0] = part
            part = transactions.pop() if reply.partial else None
            yield transactions, reply.position
            more = reply.more
            if more and credit:
                self.send("credit", larder.CreditRequest(request_id=request_id, batches=1))

    def insert_rows(self, entity, columns, chunk=5_000, atomic=False, **options):
        """Inserts one object per row; columns are `name: (type, list)`. Returns the last reply."""
        request_id = self.send("insert_rows", larder.InsertRequest(
            entity=entity, atomic=atomic, **options))
        count = max(len(items) for _, items in columns.values())
        for start in range(0, count, chunk):
            part = slice(start, start + chunk)
            self.send("rows", larder.RowsRequest(
                request_id=request_id, last=start + chunk >= count, batch=messages["batch"].Batch(
                    row_count=len(range(count)[part]),
                    columns=[column(n, t, items[part]) for n, (t, items) in columns.items()])))
            reply = self.receive(request_id)
        while reply.more:
            reply = self.receive(request_id)
        return reply

    def change(self, kind, target, properties={}, **options):
        listed = [changes.PropertyValue(name=n, value=value(v)) for n, v in properties.items()]
        kind = changes.ChangeKind.Value(f"CHANGE_KIND_{kind}")
        return changes.Change(kind=kind, object=target, values=listed, **options)

    def change_all(self, kind, entity, format=None, arguments=(), properties={}, **options):
        """UPDATE_ALL or DELETE_ALL of objects that match; properties are expressions."""
        listed = [queries.NamedTerm(name=n, term=where(text)) for n, text in properties.items()]
        objects = changes.ObjectsChange(
            entity=entity, predicate=where(format), assignments=listed,
            arguments=[argument(given) for given in arguments], **options)
        kind = changes.ChangeKind.Value(f"CHANGE_KIND_{kind}")
        return changes.Change(kind=kind, by_predicate=objects)

    def insert(self, entity, **properties):
        target = values.Identifier(entity=entity, temporary_name="t:new")
        return self.save(self.change("INSERT", target, properties)).inserted[0]
