"""A larderd in a scratch folder, and a server that replies as a test tells it."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from larder.frames import LENGTH_BYTES
from larder.v1 import larder_pb2

SCHEMA = pathlib.Path(__file__).with_name("library.json")
# For failures only: a busy machine needs a tenth.
SECONDS = 60


class Daemon:
    """A server with an empty store. LARDER_BIN_DIR, or PATH, has larderd."""

    def __init__(self, schema=SCHEMA):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.socket, self.schema = str(self.folder / "s"), schema
        self.process = None
        self.start()

    def start(self):
        program = os.path.join(os.environ.get("LARDER_BIN_DIR", ""), "larderd")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [program, "--store", self.folder / "test.store", "--schema", self.schema,
                 "--socket", self.socket], stderr=log, stdin=subprocess.DEVNULL)
        self.wait_until_ready()

    def wait_until_ready(self):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                if client.connect_ex(self.socket) == 0:
                    return
            time.sleep(0.01)
        raise RuntimeError(f"larderd did not start: {(self.folder / 'log').read_text()}")

    def kill(self):
        self.process.kill()
        self.process.wait(SECONDS)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder)


def welcome(**fields):
    """The reply to a handshake."""
    return larder_pb2.Envelope(id=1, welcome=larder_pb2.WelcomeReply(**{
        "protocol_version": 1, "store": bytes(16), "frame_bytes_max": 1 << 24,
        "requests_in_flight_max": 32} | fields))


def framed(content):
    content = content if isinstance(content, bytes) else content.SerializeToString()
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


class Impostor:
    """A server whose replies a test chooses: `reply` gets each request, and returns the bytes to
    send, or None to close the connection. The fields are those of the welcome."""

    def __init__(self, reply, **fields):
        self.folder = tempfile.mkdtemp()
        self.socket, self.reply = os.path.join(self.folder, "s"), reply
        self.requests, self._welcome = [], framed(welcome(**fields))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.socket)
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(SECONDS)
        self._listener.close()
        shutil.rmtree(self.folder)

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client, client.makefile("rb") as requests:
                try:
                    self._serve_connection(client, requests)
                except OSError:
                    pass

    def _serve_connection(self, client, requests):
        while header := requests.read(LENGTH_BYTES):
            content = requests.read(int.from_bytes(header, "big"))
            request = larder_pb2.Envelope.FromString(content)
            self.requests.append(request)
            sent = self._welcome if request.HasField("hello") else self.reply(request)
            if sent is None:
                return
            client.sendall(sent)
