"""Both clients with a server that violates the protocol, hangs or closes the connection."""

import asyncio
import os
import socket
import tempfile
import threading
import time
import unittest

import larder
from daemon import Impostor, framed
from larder import Fetch, aio
from larder.v1 import larder_pb2

SECONDS = 30
OPTIONS = {"timeout": SECONDS, "reconnect_wait": 0}


def blocking(path, call, **options):
    with larder.connect(path, **OPTIONS | options) as client:
        return call(client)


def asynchronous(path, call, **options):
    async def run():
        async with await aio.connect(path, **OPTIONS | options) as client:
            return await call(client)
    return asyncio.run(run())


CLIENTS = (blocking, asynchronous)


def ping(client):
    return client.ping()


def insert(client):
    return client.insert("Book", {"title": "x"})


def fetch(client):
    return client.fetch("Book")


def insert_with_key(client):
    return client.insert("Book", {"title": "x"}, idempotency_key="k")


class HostileTests(unittest.TestCase):
    def outcome(self, client, reply, call, welcome=None, **options):
        with Impostor(reply, **welcome or {}) as server:
            try:
                return client(server.socket, call, **options), server.requests
            except larder.LarderError as error:
                return error, server.requests

    def assert_fails(self, reply, call, *names, **options):
        for client in CLIENTS:
            with self.subTest(client.__name__):
                found, _ = self.outcome(client, reply, call, **options)
                self.assertIsInstance(found, larder.LarderError)
                self.assertIn(found.name, names)

    def test_violations_end_the_connection_with_their_error(self):
        pong = larder_pb2.PongReply()
        for reply, name in (
                (lambda request: b"\xff\xff\xff\xff", "FRAME_TOO_LONG"),
                (lambda request: framed(b"\xff\xff"), "MALFORMED_FRAME"),
                (lambda request: framed(larder_pb2.Envelope(id=request.id)), "UNKNOWN_MESSAGE"),
                (lambda request: framed(larder_pb2.Envelope(id=99, pong=pong)),
                 "MALFORMED_MESSAGE"),
                (lambda request: framed(larder_pb2.Envelope(
                    id=request.id, saved=larder_pb2.SaveReply())), "MALFORMED_MESSAGE")):
            self.assert_fails(reply, ping, name)

    def test_a_write_whose_reply_is_malformed_is_indeterminate(self):
        self.assert_fails(lambda request: framed(b"\xff\xff"), insert, "INDETERMINATE")

    def test_an_error_of_the_connection_is_reported(self):
        failed = larder_pb2.ErrorReply(code=500, message="too much")
        self.assert_fails(
            lambda request: framed(larder_pb2.Envelope(id=0, failed=failed)), fetch,
            "RESOURCE_EXHAUSTED")

    def test_a_save_with_another_number_of_objects_is_an_error(self):
        self.assert_fails(
            lambda request: framed(larder_pb2.Envelope(
                id=request.id, saved=larder_pb2.SaveReply())), insert, "MALFORMED_MESSAGE")

    def test_impossible_replies_to_the_parts_of_a_save_are_errors(self):
        def reply(request):
            if request.HasField("save_in_parts"):
                return b""
            saved = larder_pb2.SaveReply(part_count=99, more=True)
            return framed(larder_pb2.Envelope(id=request.save_part.request_id, saved=saved))
        self.assert_fails(
            reply, lambda one: one.insert("Book", {"title": (5 << 20) * "x"}),
            "MALFORMED_MESSAGE", welcome={"capabilities": ["saveInParts"]})
        self.assert_fails(
            reply, lambda one: one.insert("Book", {"title": (5 << 20) * "x"}), "UNSUPPORTED")

    def test_more_replies_than_the_credit_are_an_error(self):
        def reply(request):
            batches = larder_pb2.BatchesReply(more=True)
            return 2_000 * framed(larder_pb2.Envelope(id=request.id, batches=batches))

        def leave(client):
            return client.stream(Fetch("Book")).next()
        self.assert_fails(reply, leave, "MALFORMED_MESSAGE")

    def test_a_lost_reply_is_indeterminate_for_a_write_and_sent_again_with_a_key(self):
        for client in CLIENTS:
            with self.subTest(client.__name__):
                error, requests = self.outcome(client, lambda request: None, insert)
                self.assertIsInstance(error, larder.IndeterminateError)
                self.assertEqual([r.WhichOneof("body") for r in requests], ["hello", "save"])
                answers = []

                def reply(request):
                    answers.append(request)
                    if len(answers) < 3:
                        return None
                    saved = larder_pb2.SaveReply()
                    saved.inserted.add(store=bytes(16), entity="Book", key=5)
                    return framed(larder_pb2.Envelope(id=request.id, saved=saved))
                found, _ = self.outcome(client, reply, insert_with_key, reconnect_wait=SECONDS)
                self.assertEqual((found.key, len(answers)), (5, 3))
                self.assertEqual({bytes(a.save.SerializeToString()) for a in answers},
                                 {answers[0].save.SerializeToString()})

    def test_a_read_is_repeated_until_there_is_a_reply(self):
        for client in CLIENTS:
            with self.subTest(client.__name__):
                attempts = []

                def reply(request):
                    attempts.append(request)
                    if len(attempts) == 1:
                        return None
                    if len(attempts) == 2:
                        failed = larder_pb2.ErrorReply(code=601, message="recovering")
                        return framed(larder_pb2.Envelope(id=request.id, failed=failed))
                    return framed(larder_pb2.Envelope(id=request.id, pong=larder_pb2.PongReply()))
                found, _ = self.outcome(client, reply, ping, reconnect_wait=SECONDS)
                self.assertEqual((found, len(attempts)), (None, 3))

    def test_a_server_that_does_not_reply_is_a_timeout(self):
        import larder.aio.session
        import larder.session
        for module in (larder.session, larder.aio.session):
            module.SLACK_SECONDS = 0.05
        try:
            self.assert_fails(lambda request: b"", ping, "TIMEOUT", timeout=0.1)
            self.assert_fails(lambda request: b"", insert, "INDETERMINATE", timeout=0.1)
            self.assert_fails(lambda request: b"\0\0", ping, "TIMEOUT", timeout=0.1)
        finally:
            for module in (larder.session, larder.aio.session):
                module.SLACK_SECONDS = 5.0

    def test_a_handshake_without_a_reply_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(
                socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            path = os.path.join(folder, "s")
            listener.bind(path)
            listener.listen()
            for client in CLIENTS:
                began = time.monotonic()
                with self.assertRaises(larder.ConnectionFailedError):
                    client(path, ping, connect_timeout=0.2)
                self.assertLess(time.monotonic() - began, SECONDS)

    def test_a_welcome_without_a_store_is_an_error(self):
        self.assert_fails(
            lambda request: None, ping, "MALFORMED_MESSAGE", welcome={"store": b"short"})

    def test_a_path_without_a_server_is_an_error_at_once(self):
        for client in CLIENTS:
            for path in ("/nowhere/s", "\0x", "x" * 200):
                with self.assertRaises(larder.ConnectionFailedError):
                    client(path, ping)

    def test_closing_a_client_ends_waiting_calls(self):
        with Impostor(lambda request: b"") as server:
            client = larder.connect(server.socket, **OPTIONS)
            caught = []

            def wait():
                try:
                    client.ping()
                except larder.LarderError as error:
                    caught.append(error.name)
            thread = threading.Thread(target=wait)
            thread.start()
            while len(server.requests) < 2:
                time.sleep(0.001)
            client.close()
            thread.join(SECONDS)
            self.assertEqual(caught, ["CONNECTION_FAILED"])
            with self.assertRaises(larder.ConnectionFailedError):
                client.ping()

    def test_a_request_beyond_the_limit_of_the_server_waits_and_times_out(self):
        with Impostor(lambda request: b"", requests_in_flight_max=2) as server, larder.connect(
                server.socket, **OPTIONS) as client:
            stream = client.stream(Fetch("Book"))
            with self.assertRaises(larder.TemporaryError):
                stream.next(timeout=0.05)
            with self.assertRaises(larder.TemporaryError) as caught:
                client.ping(timeout=0.05)
            self.assertIn("too many requests", caught.exception.message)
            stream.close()

    def test_a_set_that_is_too_long_is_not_sent(self):
        for client in CLIENTS:
            error, requests = self.outcome(
                client, lambda request: None,
                lambda one: one.insert("Book", {"title": 200 * "x"}),
                welcome={"frame_bytes_max": 100})
            self.assertEqual((error.name, len(requests)), ("FRAME_TOO_LONG", 1))


if __name__ == "__main__":
    unittest.main()
