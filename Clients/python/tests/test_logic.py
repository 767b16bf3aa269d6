"""The logic between calls and connections: attempts, requests, live results, insertions, change
sets and records, without a server."""

import random
import unittest
import uuid
from dataclasses import dataclass, field, fields

import larder
from larder import JSON, ChangeSet, Edit, Fetch, Function, Identifier, Json, Record, SortKey
from larder.attempts import Attempts, Lost, NoReply
from larder.errors import failure
from larder.history import TransactionAssembly
from larder.insertion import BYTES_MAX, ROWS_MAX, RowBuilder, property_types
from larder.live import LiveRows
from larder.queries import Aggregate
from larder.records import entity_name, record_of_row, values_of_record
from larder.rows import rows
from larder.server import ConnectOptions, Options
from larder.tracker import Pending, RequestTracker
from larder.v1 import batch_pb2, history_pb2, larder_pb2, observe_pb2

STORE = uuid.UUID("1B4E28BA-2FA1-41D2-883F-0016D3CCA427")
ANN = Identifier(STORE, "Student", 1)


class AttemptTests(unittest.TestCase):
    """Each failure either raises an error with a name, or returns: the call is repeated."""

    def outcome(self, *errors, is_write=True, has_key=False, wait=10, now=0):
        attempts = Attempts(is_write, has_key, 30, wait)
        try:
            for error in errors:
                attempts.failed(error, now)
            return "repeated"
        except larder.LarderError as raised:
            return raised.name

    def test_failures_of_calls_are_repeated_or_reported(self):
        lost = Lost(failure("CONNECTION_FAILED", "x"), was_sent=True)
        unsent = Lost(failure("CONNECTION_FAILED", "x"), was_sent=False)
        ending = Lost(failure("UNAVAILABLE", "x"), was_sent=True)
        violated = Lost(failure("MALFORMED_FRAME", "x"), was_sent=True)
        for wanted, errors, options in (
                ("repeated", [lost], {"is_write": False}),
                ("repeated", [lost], {"has_key": True}),
                ("INDETERMINATE", [lost], {}),
                ("repeated", [unsent], {}),
                ("repeated", [ending], {}),
                ("INDETERMINATE", [violated], {}),
                ("MALFORMED_FRAME", [violated], {"is_write": False}),
                ("CONNECTION_FAILED", [lost], {"is_write": False, "wait": 0}),
                ("INDETERMINATE", [lost], {"has_key": True, "wait": 0}),
                ("TIMEOUT", [NoReply(1)], {"is_write": False}),
                ("INDETERMINATE", [NoReply(1)], {}),
                ("repeated", [failure("UNAVAILABLE", "x")], {}),
                ("UNAVAILABLE", [failure("UNAVAILABLE", "x")], {"wait": 0}),
                ("TIMEOUT", [failure("TIMEOUT", "x")], {}),
                ("INDETERMINATE", [lost, failure("TIMEOUT", "x")], {"has_key": True}),
                ("VERSION_CONFLICT", [lost, failure("VERSION_CONFLICT", "x")], {"has_key": True}),
                ("repeated", 3 * [failure("SNAPSHOT_EXPIRED", "x")], {"is_write": False}),
                ("SNAPSHOT_EXPIRED", 4 * [failure("SNAPSHOT_EXPIRED", "x")], {"is_write": False}),
                ("STORAGE_FULL", [failure("STORAGE_FULL", "x")], {})):
            with self.subTest(wanted=wanted, errors=errors, **options):
                self.assertEqual(self.outcome(*errors, **options), wanted)

    def test_the_wait_for_a_connection_begins_with_the_first_loss(self):
        attempts = Attempts(False, False, 30, 10)
        lost = Lost(failure("CONNECTION_FAILED", "x"), was_sent=True)
        attempts.failed(lost, 5)
        attempts.failed(lost, 14)
        with self.assertRaises(larder.ConnectionFailedError):
            attempts.failed(lost, 15)


class TrackerTests(unittest.TestCase):
    def pending(self, tracker, kind="query", unread_max=2):
        received, ended = [], []
        request = Pending(kind, unread_max, lambda: len(received), received.append,
                          lambda: ended.append(True))
        tracker.add(request)
        return request, received, ended

    def reply(self, request_id, more):
        return larder_pb2.Envelope(id=request_id, batches=larder_pb2.BatchesReply(more=more))

    def test_a_request_ends_with_its_last_reply(self):
        tracker = RequestTracker()
        request, received, ended = self.pending(tracker)
        tracker.received(self.reply(1, True))
        self.assertEqual((len(received), ended), (1, []))
        tracker.received(self.reply(1, False))
        self.assertEqual((len(received), ended, tracker.pending), (2, [True], {}))
        with self.assertRaises(larder.ProtocolError):
            tracker.received(self.reply(1, False))

    def test_more_replies_than_the_credit_end_the_connection(self):
        tracker = RequestTracker()
        self.pending(tracker)
        for _ in range(2):
            tracker.received(self.reply(1, True))
        with self.assertRaises(larder.ProtocolError):
            tracker.received(self.reply(1, True))

    def test_replies_to_an_abandoned_request_are_discarded(self):
        tracker = RequestTracker()
        request, received, ended = self.pending(tracker)
        self.assertTrue(tracker.abandon(request))
        for _ in range(5):
            tracker.received(self.reply(1, True))
        failed = larder_pb2.ErrorReply(code=602, message="x")
        tracker.received(larder_pb2.Envelope(id=1, failed=failed))
        self.assertEqual((received, ended, tracker.abandon(request)), ([], [True], False))

    def test_the_end_of_a_connection_ends_all_requests(self):
        tracker = RequestTracker()
        _, received, ended = self.pending(tracker)
        tracker.lost(failure("CONNECTION_FAILED", "first"))
        tracker.lost(failure("CONNECTION_FAILED", "second"))
        self.assertEqual((received, ended, tracker.error.message), ([None], [True], "first"))
        failed = larder_pb2.ErrorReply(code=601, message="x")
        with self.assertRaises(larder.TemporaryError):
            tracker.received(larder_pb2.Envelope(id=0, failed=failed))


def batch_of(entity, names):
    batch = batch_pb2.Batch(row_count=len(names))
    batch.identity.entity = entity
    batch.identity.keys.extend(ord(name[0]) for name in names)
    batch.identity.versions.extend([1] * len(names))
    content = "".join(names).encode()
    ends = [sum(map(len, names[: n + 1])) for n in range(len(names))]
    batch.columns.add(name="name", type="COLUMN_TYPE_STRING", heap=content, ends=ends)
    return batch


def observed(names=(), **fields):
    reply = observe_pb2.ObserveReply(more=True, **fields)
    reply.position.store = STORE.bytes
    if names:
        reply.rows.append(batch_of("A", names))
    return reply


class LiveTests(unittest.TestCase):
    def names(self, result):
        return [row["name"] for row in result.rows]

    def test_the_change_of_the_protocol_document_is_applied(self):
        live = LiveRows()
        first = live.apply(observed("ABCD", begins=True, ends=True), STORE)
        self.assertEqual((self.names(first), first.inserted), (list("ABCD"), None))
        change = observed(
            ["C", "E", "D'"], new_indexes=[0, 2, 3], old_indexes=[3, 0, 4],
            moved=[True, False, False], deleted=[1])
        result = live.apply(change, STORE)
        self.assertEqual(self.names(result), ["C", "A", "E", "D'"])
        self.assertEqual(
            (result.inserted, result.deleted, result.updated, result.moved),
            ([2], [1], [3], [(2, 0)]))

    def test_a_whole_result_replaces_all_rows_when_it_is_complete(self):
        live = LiveRows()
        self.assertIsNone(live.apply(observed("AB", begins=True), STORE))
        self.assertEqual(self.names(live.apply(observed("C", ends=True), STORE)), list("ABC"))
        self.assertIsNone(live.apply(observed("X", begins=True), STORE))
        self.assertEqual(self.names(live.apply(observed("Y", ends=True), STORE)), list("XY"))

    def test_successive_rows_with_the_same_key_are_a_section(self):
        live = LiveRows(is_sectioned=True)
        reply = observed("ABC", begins=True, ends=True)
        reply.sections.row_count = 3
        reply.sections.columns.add(
            name="s", type="COLUMN_TYPE_INT64", integers=[0, 5, 5], nulls=b"\1")
        result = live.apply(reply, STORE)
        found = [(each.value, [row["name"] for row in each.rows]) for each in result.sections]
        self.assertEqual(found, [(None, ["A"]), (5, ["B", "C"])])

    def test_impossible_changes_are_protocol_errors(self):
        for names, fields in (
                ("X", {"new_indexes": [5], "old_indexes": [0], "moved": [False]}),
                ("X", {"new_indexes": [0], "old_indexes": [9], "moved": [False]}),
                ("X", {"new_indexes": [0], "old_indexes": [], "moved": [False]}),
                ("XY", {"new_indexes": [1, 0], "old_indexes": [0, 0], "moved": [False, False]}),
                ("XY", {"new_indexes": [0, 1], "old_indexes": [1, 1], "moved": [False, False]}),
                ("X", {"new_indexes": [0], "old_indexes": [1], "moved": [True], "deleted": [0]}),
                ("", {"deleted": [4]}), ("", {"deleted": [1, 1]})):
            live = LiveRows()
            live.apply(observed("ABC", begins=True, ends=True), STORE)
            with self.subTest(fields), self.assertRaises(larder.ProtocolError):
                live.apply(observed(names, **fields), STORE)
        with self.assertRaises(larder.ProtocolError):
            LiveRows().apply(observed("X", new_indexes=[0], old_indexes=[0], moved=[False]), STORE)

    def test_random_changes_lead_to_the_result_of_the_server(self):
        choice = random.Random(11)
        for _ in range(300):
            before = choice.sample("ABCDEFGHIJ", choice.randint(0, 8))
            after = choice.sample("ABCDEFGHIJ", choice.randint(0, 8))
            kept = [name for name in before if name in after]
            # Rows that keep their order need not be sent.
            stays, last = set(), -1
            for name in after:
                if name in before and before.index(name) > last and choice.random() < 0.7:
                    stays.add(name)
                    last = before.index(name)
            sent = [name for name in after if name not in stays]
            live = LiveRows()
            live.apply(observed(before, begins=True, ends=True), STORE)
            result = live.apply(observed(
                sent, new_indexes=[after.index(name) for name in sent],
                old_indexes=[before.index(name) + 1 if name in kept else 0 for name in sent],
                moved=[name in kept for name in sent],
                deleted=[n for n, name in enumerate(before) if name not in after]), STORE)
            self.assertEqual(self.names(result), after)


class InsertionTests(unittest.TestCase):
    SCHEMA = """{"entities": [
        {"name": "Base", "attributes": [{"name": "name", "type": "string"}]},
        {"name": "Book", "parent": "Base", "attributes": [
            {"name": "pages", "type": "int64"}, {"name": "price", "type": "decimal"},
            {"name": "rating", "type": "double"}, {"name": "extra", "type": "json"}],
         "relationships": [{"name": "series", "destination": "Base"},
                           {"name": "authors", "destination": "Base", "toMany": true}]}]}"""

    def builder(self):
        return RowBuilder("Book", property_types(self.SCHEMA, "Book"), STORE)

    def test_rows_are_read_as_they_were_given(self):
        base, book = Identifier(STORE, "Base", 3), Identifier(STORE, "Book", 4)
        given = [
            {"name": "é", "pages": -1, "price": larder.values.decimal.Decimal("1.5"),
             "rating": 2, "extra": [], "series": book, "authors": [base, book]},
            {"name": "", "pages": None, "price": 3, "rating": None, "extra": {"a": None},
             "series": None, "authors": []}]
        builder = self.builder()
        for row in given:
            builder.append(row)
        part = builder.part(9, is_last=True)
        self.assertEqual((part.request_id, part.last), (9, True))
        self.assertEqual(rows(part.batch, STORE), given)
        self.assertEqual((builder.sent_count, builder.row_count), (2, 0))
        self.assertFalse(builder.part(9, is_last=True).HasField("batch"))

    def test_values_of_other_types_and_rows_of_other_properties_are_errors(self):
        for row, name in (
                ({"pages": "1"}, "WRONG_TYPE"), ({"pages": True}, "WRONG_TYPE"),
                ({"pages": 2**63}, "MALFORMED_VALUE"), ({"name": b"x"}, "WRONG_TYPE"),
                ({"price": 1.5}, "WRONG_TYPE"), ({"rating": "x"}, "WRONG_TYPE"),
                ({"extra": object()}, "MALFORMED_VALUE"), ({"nam": "x"}, "UNKNOWN_PROPERTY"),
                ({"authors": ANN}, "WRONG_TYPE"), ({"series": ["x"]}, "WRONG_TYPE"),
                ({"series": Identifier(uuid.uuid4(), "Base", 1)}, "FOREIGN_IDENTIFIER")):
            with self.subTest(row), self.assertRaises(larder.LarderError) as caught:
                self.builder().append(row)
            self.assertEqual(caught.exception.name, name)
        builder = self.builder()
        builder.append({"pages": 1})
        for row in ({}, {"name": "x"}, {"pages": 1, "name": "x"}):
            with self.assertRaises(larder.InvalidError) as caught:
                builder.append(row)
            self.assertIn("row 1", caught.exception.message)

    def test_parts_are_limited_in_rows_and_bytes(self):
        builder = self.builder()
        for _ in range(ROWS_MAX):
            self.assertFalse(builder.is_full)
            builder.append({"pages": 1})
        self.assertTrue(builder.is_full)
        builder = self.builder()
        builder.append({"name": "x" * BYTES_MAX})
        self.assertTrue(builder.is_full)

    def test_an_unknown_entity_is_an_error(self):
        with self.assertRaises(larder.NotFoundError):
            property_types(self.SCHEMA, "Bok")


class HistoryTests(unittest.TestCase):
    def reply(self, number, first_key, partial):
        reply = history_pb2.HistoryReply(partial=partial)
        reply.position.store, reply.position.number = STORE.bytes, number
        transaction = reply.transactions.add(number=number)
        transaction.runs.add(kind=1, entity="A", first_key=first_key, last_key=first_key)
        return reply

    def test_the_parts_of_a_transaction_are_joined(self):
        assembly = TransactionAssembly()
        self.assertEqual(assembly.page(self.reply(5, 1, True)).transactions, ())
        self.assertEqual(assembly.page(self.reply(5, 2, True)).transactions, ())
        [found] = assembly.page(self.reply(5, 3, False)).transactions
        self.assertEqual([change.first_key for change in found.changes], [1, 2, 3])

    def test_contradictions_are_protocol_errors(self):
        assembly = TransactionAssembly()
        assembly.page(self.reply(5, 1, True))
        with self.assertRaises(larder.ProtocolError):
            assembly.page(self.reply(6, 1, False))
        with self.assertRaises(larder.ProtocolError):
            TransactionAssembly().page(self.reply(5, 0, False))
        with self.assertRaises(larder.ProtocolError):
            TransactionAssembly().page(history_pb2.HistoryReply())

    def test_a_transaction_without_an_end_is_an_error(self):
        assembly = TransactionAssembly(bytes_max=200)
        with self.assertRaises(larder.RefusedError):
            for key in range(1, 1_000):
                assembly.page(self.reply(5, key, True))


@dataclass(kw_only=True)
class Person(Record):
    name: str
    class_: str | None = None
    notes: JSON | None = None
    friends: list[Identifier] = field(default_factory=list)
    age: int | None = field(default=None, metadata={"derived": True})


class OptionTests(unittest.TestCase):
    def test_the_options_of_connect_are_those_of_a_client(self):
        names = [each.name for each in fields(Options) if each.name != "path"]
        self.assertEqual(names, list(ConnectOptions.__annotations__))


class RecordTests(unittest.TestCase):
    def test_a_record_has_the_values_of_its_row(self):
        row = {"name": "Ann", "class": "A", "notes": [1], "friends": [ANN], "age": 5,
               "@id": ANN, "@version": 3}
        ann = record_of_row(Person, row)
        self.assertEqual(ann, Person(
            identifier=ANN, version=3, name="Ann", class_="A", notes=[1], friends=[ANN], age=5))
        self.assertEqual(values_of_record(ann), {
            "name": "Ann", "class": "A", "notes": Json([1]), "friends": [ANN]})
        with self.assertRaises(larder.ProtocolError):
            record_of_row(Person, {"name": "Ann"})

    def test_a_class_is_an_entity_and_its_fields_are_columns(self):
        self.assertEqual((entity_name(Person), entity_name("A_")), ("Person", "A_"))
        shape = Fetch(Person).shape().fetch
        self.assertEqual(
            [each.name for each in shape.columns], ["name", "class", "notes", "friends", "age"])
        with self.assertRaises(larder.InvalidError):
            entity_name(int)
        with self.assertRaises(larder.InvalidError):
            Fetch(Person, columns=["name"]).shape()

    def test_a_record_that_was_not_inserted_has_no_identifier(self):
        with self.assertRaises(larder.NotFoundError):
            ChangeSet().update(Person(name="x"), {})


class QueryTests(unittest.TestCase):
    def test_equal_shapes_have_equal_bytes(self):
        made = [Fetch("A", "b == %@", [n], sort=["b"]).request(4).shape for n in (1, 2)]
        self.assertEqual(made[0], made[1])

    def test_a_query_has_what_it_was_given(self):
        query = Fetch("A", sort=["a", SortKey("b", descending=True, nils="last")], limit=0,
                      columns={"x": "b * 2"}, variables={"v": [1]}, includes_subentities=False)
        shape, request = query.shape().fetch, query.request(4)
        self.assertEqual([(key.term.format, key.descending, key.nil_placement)
                          for key in shape.sort], [("a", False, 0), ("b", True, 2)])
        self.assertEqual((shape.columns[0].name, shape.selection), ("x", 3))
        self.assertTrue(shape.exclude_subentities and request.HasField("limit"))
        self.assertEqual(request.variables[0].argument.list.items[0].int_value, 1)

    def test_wrong_options_are_errors(self):
        for make in (
                lambda: Fetch("A", sort="name").shape(),
                lambda: Fetch("A", columns="name").shape(),
                lambda: Fetch("A", "x == %@", "text").request(),
                lambda: Fetch("A", limit=-1).request(),
                lambda: Fetch("A", sort=[SortKey("a", nils="middle")]).shape(),
                lambda: Aggregate("A", columns={"n": "total"}).shape(),
                lambda: ChangeSet(merge_policy="mine").message()):
            with self.assertRaises(larder.InvalidError):
                make()

    def test_an_aggregate_has_its_functions(self):
        shape = Aggregate("A", columns={
            "n": "count", "d": Function("stddev", "x", "x > 1")}, group_by=["y"]).shape()
        found = [(each.name, each.term.format, each.filter.format)
                 for each in shape.aggregate.columns]
        self.assertEqual(found, [("n", "", ""), ("d", "x", "x > 1")])


class ChangeTests(unittest.TestCase):
    def test_a_set_is_encoded_once_and_the_same(self):
        changes = ChangeSet(idempotency_key="k", upsert=True, merge_policy="storeWins")
        ann = changes.insert("A", {"name": "Ann"})
        changes.insert("B", {"a": ann, "list": [ann, ANN]})
        self.assertEqual(changes.message(), changes.message())
        self.assertEqual([c.object.temporary_name for c in changes.message().changes], ["t1", "t2"])

    def test_the_arguments_of_expressions_precede_those_of_values(self):
        changes = ChangeSet()
        changes.update_all("A", {"c": 9}, expressions={"b": "b + %@"}, where="d == %@",
                           arguments=[1, 2])
        objects = changes.message().changes[0].by_predicate
        self.assertEqual([(each.name, each.term.format) for each in objects.assignments],
                         [("b", "b + %@"), ("c", "%@")])
        self.assertEqual([each.value.int_value for each in objects.arguments], [1, 2, 9])
        with self.assertRaises(larder.InvalidError):
            changes.update_all("A", {"c": 9}, expressions={"c": "c"})

    def test_an_edit_has_one_position(self):
        self.assertEqual(Edit.move("list", [ANN], index=0).message().index, 0)
        self.assertEqual(Edit.add("list", [ANN], before=ANN).message().before.key, 1)
        with self.assertRaises(larder.InvalidError):
            Edit.add("list", [ANN], index=0, end="last").message()


if __name__ == "__main__":
    unittest.main()
