"""Values, identifiers, rows and frames, without a server."""

import datetime
import decimal
import pickle
import random
import unittest
import uuid
from pathlib import Path

import larder
from larder import HistoryToken, Identifier, Json, LarderError, Url
from larder.errors import CODES, error_of_code
from larder.frames import decoded_frame, encoded_frame, envelope, frame_length, reply_body
from larder.rows import rows
from larder.v1 import batch_pb2, larder_pb2, value_pb2
from larder.values import EPOCH, argument, python_value, value

STORE = uuid.UUID("1B4E28BA-2FA1-41D2-883F-0016D3CCA427")
ANN = Identifier(STORE, "Student", 1)
SECOND = datetime.timedelta(seconds=1)
VERSION = Path(__file__).parents[3] / "Sources" / "LarderPrograms" / "Version.swift"


class ValueTests(unittest.TestCase):
    def test_each_type_is_the_same_after_a_round_trip(self):
        for python in (
                None, True, 0, -(2**63), 2**63 - 1, 0.1, float("inf"), "é\0😀", "", b"\0\xff",
                decimal.Decimal("-12.50"), decimal.Decimal("1E+5"), uuid.uuid4(), Url("a:b"), ANN,
                [ANN, Identifier(STORE, "Course", 7)], [], EPOCH - SECOND / 4,
                datetime.datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=datetime.UTC),
                {"a": [1, None, "x"]}, [1, {"b": 2.5}]):
            with self.subTest(python):
                self.assertEqual(python_value(value(python)), python)
                self.assertIs(type(python_value(value(python))), type(python))

    def test_documents_that_could_be_other_values_are_marked(self):
        for document in ([], "text", 5, None, True):
            self.assertEqual(value(Json(document)).WhichOneof("kind"), "json_value")
            self.assertEqual(python_value(value(Json(document))), document)

    def test_times_of_other_zones_are_the_same_moment(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        here = datetime.datetime(2026, 7, 1, 12, tzinfo=zone)
        self.assertEqual(python_value(value(here)), here)

    def test_a_list_argument_is_a_list_of_values(self):
        for given in ([1, None], (1, None)):
            self.assertEqual([python_value(v) for v in argument(given).list.items], [1, None])
        self.assertEqual(argument("ab").value.string_value, "ab")

    def test_values_that_no_attribute_has_are_errors(self):
        cyclic = []
        cyclic.append(cyclic)
        for python, name in (
                (2**63, "MALFORMED_VALUE"), (10**400, "MALFORMED_VALUE"),
                (decimal.Decimal("NaN"), "MALFORMED_VALUE"), ("\ud800", "MALFORMED_VALUE"),
                (decimal.Decimal("1." + 38 * "1"), "MALFORMED_VALUE"),
                (datetime.datetime(2026, 1, 1), "MALFORMED_VALUE"), (object(), "WRONG_TYPE"),
                (datetime.date(2026, 1, 1), "WRONG_TYPE"), ({1, 2}, "WRONG_TYPE"),
                ({"a": object()}, "MALFORMED_VALUE"), ([float("nan")], "MALFORMED_VALUE"),
                ([cyclic], "MALFORMED_VALUE")):
            with self.subTest(name=name), self.assertRaises(larder.InvalidError) as caught:
                value(python)
            self.assertEqual(caught.exception.name, name)

    def test_a_date_that_python_does_not_have_is_an_error_of_the_value(self):
        with self.assertRaises(larder.InvalidError):
            python_value(value_pb2.Value(date_value=1e15))

    def test_malformed_values_of_a_server_are_protocol_errors(self):
        for message in (
                value_pb2.Value(), value_pb2.Value(uuid_value=b"short"),
                value_pb2.Value(decimal_value="x"), value_pb2.Value(json_value="{"),
                value_pb2.Value(json_value="[" * 100_000),
                value_pb2.Value(object_value=value_pb2.Identifier(entity="A", key=1))):
            with self.assertRaises(larder.ProtocolError):
                python_value(message)


class IdentifierTests(unittest.TestCase):
    def test_an_identifier_is_the_same_after_a_round_trip(self):
        self.assertEqual(
            ANN.uri, "x-coredata://1B4E28BA-2FA1-41D2-883F-0016D3CCA427/Student/p1")
        self.assertEqual(Identifier.parse(ANN.uri), ANN)
        self.assertEqual(Identifier.parse(f"x-coredata://{STORE}/S/p{2**63 - 1}").key, 2**63 - 1)
        self.assertEqual({ANN: 1}[Identifier.parse(str(ANN))], 1)

    def test_malformed_uris_are_value_errors(self):
        for text in (
                "", "x", "x-coredata://", f"x-coredata://{STORE}/Student/p0",
                f"x-coredata://{STORE}/Student/p01", f"x-coredata://{STORE}/Student/p-1",
                f"x-coredata://{STORE}/Student/p{2**63}", f"x-coredata://{STORE}/Student/p1 ",
                f"x-coredata://{STORE}/1/p1", f"x-coredata://{STORE}/Student/p١",
                f"x-coredata://{STORE.hex}/Student/p1", f"x-coredata:///Student/tx",
                f"x-coredata://{STORE}/Student/p1\n", None, 5):
            with self.subTest(text), self.assertRaises(ValueError) as caught:
                Identifier.parse(text)
            self.assertIsInstance(caught.exception, larder.MalformedIdentifierError)
            self.assertEqual(caught.exception.code, 200)

    def test_a_token_is_the_same_after_a_round_trip(self):
        token = HistoryToken(STORE, -(2**63), 12)
        self.assertEqual(HistoryToken.parse(str(token)), token)
        for text in ("", f"{STORE}-e1", f"{STORE}-e1-n-1", f"{STORE}-e1-n{2**63}"):
            with self.subTest(text), self.assertRaises(larder.NotFoundError):
                HistoryToken.parse(text)


class RowTests(unittest.TestCase):
    def batch(self):
        batch = batch_pb2.Batch(row_count=3)
        batch.identity.entity = "Student"
        batch.identity.keys.extend([1, 2, 7])
        batch.identity.versions.extend([1, 1, 4])
        batch.columns.add(
            name="name", type="COLUMN_TYPE_STRING", heap=b"AnnBo", ends=[3, 3, 5], nulls=b"\2")
        batch.columns.add(
            name="year", type="COLUMN_TYPE_INT64", integers=[2001, 2002, 0], nulls=b"\4")
        batch.columns.add(
            name="friends", type="COLUMN_TYPE_OBJECTS", entity="Person", integers=[5, 6],
            ends=[0, 2, 2], subentities=["Tutor"], entity_indexes=[0, 1])
        return batch

    def test_the_batch_of_the_protocol_document_is_read(self):
        people = [Identifier(STORE, "Person", 5), Identifier(STORE, "Tutor", 6)]
        self.assertEqual(rows(self.batch(), STORE), [
            {"name": "Ann", "year": 2001, "friends": [], "@id": ANN, "@version": 1},
            {"name": None, "year": 2002, "friends": people,
             "@id": Identifier(STORE, "Student", 2), "@version": 1},
            {"name": "Bo", "year": None, "friends": [], "@id": Identifier(STORE, "Student", 7),
             "@version": 4}])

    def test_contradictions_are_protocol_errors_before_memory_is_taken(self):
        def changed(change):
            batch = self.batch()
            change(batch)
            return batch

        def too_many_rows(batch):
            batch.row_count = 2**32 - 1

        def rows_without_columns(batch):
            batch.Clear()
            batch.row_count = 2**32 - 1

        def unknown_type(batch):
            batch.columns[0].type = 99

        def unnamed_entity(batch):
            batch.identity.entity_indexes.extend([0, 0, 1])

        def set_ends(*ends):
            def change(batch):
                batch.columns[0].ends[:] = ends
            return change

        def no_utf8(batch):
            batch.columns[0].heap = b"\xff\xff\xff\xff\xff"

        for change in (
                too_many_rows, rows_without_columns, unknown_type, unnamed_entity, no_utf8,
                set_ends(3, 3), set_ends(3, 2, 5), set_ends(3, 3, 6), set_ends()):
            with self.subTest(change.__name__), self.assertRaises(larder.ProtocolError) as caught:
                rows(changed(change), STORE)
            self.assertIn("contradict", caught.exception.message)

    def test_random_damage_is_an_error_and_nothing_worse(self):
        choice, content = random.Random(5), self.batch().SerializeToString()
        outcomes = set()
        for _ in range(4_000):
            damaged = bytearray(content)
            for _ in range(choice.randint(1, 4)):
                damaged[choice.randrange(len(damaged))] = choice.randrange(256)
            reply = larder_pb2.Envelope(id=1).SerializeToString()
            # In field 31 a reply, and in its field 1 a batch.
            batches = b"\x0a" + length_of(damaged) + bytes(damaged)
            reply += b"\xfa\x01" + length_of(batches) + batches
            try:
                found = decoded_frame(reply)
                for batch in found.batches.batches:
                    rows(batch, STORE)
                outcomes.add("read")
            except LarderError as error:
                outcomes.add(error.name)
        self.assertEqual(outcomes, {"read", "MALFORMED_FRAME", "MALFORMED_MESSAGE"})


def length_of(content):
    """A length of less than 16,384 as protobuf encodes it."""
    return bytes([len(content) & 0x7F | 0x80, len(content) >> 7])


class FrameTests(unittest.TestCase):
    def test_a_ping_is_that_of_the_protocol_document(self):
        ping = envelope(1, "ping", larder_pb2.PingRequest())
        self.assertEqual(encoded_frame(ping, 100), bytes.fromhex("00000005 08018a0100"))

    def test_the_time_of_a_request_is_never_that_of_the_server(self):
        self.assertEqual(envelope(1, "ping", larder_pb2.PingRequest(), 0).timeout_milliseconds, 0)
        for seconds, wanted in ((0.0001, 1), (1.5, 1500), (1e12, 2**32 - 1)):
            request = envelope(1, "ping", larder_pb2.PingRequest(), seconds)
            self.assertEqual(request.timeout_milliseconds, wanted)

    def test_a_request_has_the_trace_of_the_with_statement_around_it(self):
        def sent():
            return envelope(1, "ping", larder_pb2.PingRequest()).trace
        with larder.trace("00-1f-2e-01"):
            with larder.trace("inner"):
                self.assertEqual(sent(), "inner")
            self.assertEqual(sent(), "00-1f-2e-01")
        self.assertEqual(sent(), "")

    def test_frames_that_are_too_long_are_errors(self):
        ping = envelope(1, "ping", larder_pb2.PingRequest())
        with self.assertRaises(larder.ProtocolError):
            encoded_frame(ping, 4)
        with self.assertRaises(larder.ProtocolError):
            frame_length(b"\xff\xff\xff\xff", 1 << 24)
        self.assertEqual(frame_length(b"\1\0\0\0", 1 << 24), 1 << 24)

    def test_unknown_and_unexpected_replies_are_errors(self):
        unknown = larder_pb2.Envelope(id=1).SerializeToString()
        for content in (unknown, b"\xff\xff"):
            with self.assertRaises(larder.ProtocolError):
                decoded_frame(content)
        pong = larder_pb2.Envelope(id=1, pong=larder_pb2.PongReply())
        self.assertEqual(reply_body(pong, "ping"), larder_pb2.PongReply())
        with self.assertRaises(larder.ProtocolError):
            reply_body(pong, "save")


class ErrorTests(unittest.TestCase):
    def test_the_class_is_that_of_the_hundreds_digit(self):
        classes = {
            1: larder.ProtocolError, 2: larder.NotFoundError, 3: larder.InvalidError,
            4: larder.ConflictError, 5: larder.RefusedError, 6: larder.TemporaryError,
            7: larder.ConnectionFailedError, 8: larder.StorageError}
        for name, code in CODES.items():
            if code:
                error = error_of_code(code, "text")
                self.assertIsInstance(error, classes[code // 100])
                self.assertEqual((error.name, error.code), (name, code))

    def test_unknown_numbers_have_a_class_too(self):
        self.assertIsInstance(error_of_code(699, "text"), larder.TemporaryError)
        self.assertEqual(error_of_code(699, "text").name, "699")
        self.assertIs(type(error_of_code(4_000_000_000, "text")), LarderError)

    def test_an_error_is_the_same_in_another_process(self):
        error = error_of_code(302, "text", hint="remedy", column=3)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy)), (larder.InvalidError, str(error)))
        self.assertEqual((copy.code, copy.hint, copy.column), (302, "remedy", 3))
        self.assertEqual(str(copy), "MALFORMED_PREDICATE: text")

    @unittest.skipUnless(VERSION.exists(), "not in the repository")
    def test_the_version_is_that_of_the_programs(self):
        self.assertIn(f'"{larder.__version__}"', VERSION.read_text())


if __name__ == "__main__":
    unittest.main()
