"""A larderd on a copy of a store, and what can be seen of it from outside."""

import os
import pathlib
import shutil
import socket
import subprocess
import threading
import time

from raw_client import Client
from processes import end_with_parent, wait_until
from wire import Closed, Connection, LarderError

READY_SECONDS = 30.0
STOP_SECONDS = 5.0
SAMPLE_SECONDS = 0.02
WATCHDOG_SECONDS = 10.0


class Server:
    """A process that serves a store. Use it in a `with` statement."""

    def __init__(
        self, programs: pathlib.Path, folder: pathlib.Path,
        environment: dict[str, str] | None = None
    ) -> None:
        self.folder, self.socket = folder, str(folder / "s")
        self.store = folder / "siege.store"
        self.memory_peak = self.anonymous_peak = self.log_peak = 0
        self.beats: list[float] = []
        self._ends = threading.Event()
        self._notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notifications.bind(str(folder / "n"))
        self._notifications.settimeout(0.2)
        command = [
            programs / "larderd", "--store", self.store, "--socket", self.socket,
            "--metrics-socket", folder / "m", "--mode", "0666",
            "--schema", pathlib.Path(__file__).with_name("siege.schema.json")]
        settings = {"NOTIFY_SOCKET": str(folder / "n"),
                    "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1_000_000)),
                    "SWIFT_BACKTRACE": "enable=no"}
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                command, env=os.environ | settings | (environment or {}), stderr=log,
                stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._sample, self._listen)]

    def __enter__(self) -> "Server":
        for thread in self._threads:
            thread.start()
        try:
            wait_until(self._is_ready, READY_SECONDS, "the start of larderd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        self._notifications.close()

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stops(self) -> bool:
        """Whether SIGTERM ends the process in time."""
        return self.stop_seconds(STOP_SECONDS) is not None

    def stop_seconds(self, seconds_max: float) -> float | None:
        """The time in which SIGTERM ends the process without an error; None if it does not."""
        began = time.monotonic()
        self.process.terminate()
        try:
            status = self.process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            return None
        return time.monotonic() - began if status == 0 else None

    def longest_pause(self, began: float, ended: float) -> float:
        """The longest time without WATCHDOG=1 in an interval that follows a first one."""
        moments = [each for each in self.beats if began <= each <= ended]
        before = [each for each in self.beats if each < began]
        moments = before[-1:] + moments + [ended]
        return max((b - a for a, b in zip(moments, moments[1:])), default=0.0)

    def last_log_lines(self) -> str:
        lines = (self.folder / "log").read_text(errors="replace").splitlines()
        return " | ".join(lines[-2:])

    def _is_ready(self) -> bool:
        if not self.is_alive:
            raise RuntimeError(f"larderd ended: {self.last_log_lines()}")
        try:
            Connection(self.socket, "siege").close()
        except (OSError, Closed, LarderError):
            return False
        return True

    def _sample(self) -> None:
        log = pathlib.Path(f"{self.store}-wal")
        while not self._ends.wait(SAMPLE_SECONDS):
            try:
                status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            except OSError:
                status = ""
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    self.memory_peak = max(self.memory_peak, int(line.split()[1]) << 10)
                elif line.startswith("RssAnon:"):
                    self.anonymous_peak = max(self.anonymous_peak, int(line.split()[1]) << 10)
            try:
                self.log_peak = max(self.log_peak, log.stat().st_size)
            except OSError:
                pass

    def _listen(self) -> None:
        while not self._ends.is_set():
            try:
                message = self._notifications.recv(4_096)
            except TimeoutError:
                continue
            if b"WATCHDOG=1" in message:
                self.beats.append(time.monotonic())


def build_store(programs: pathlib.Path, store: pathlib.Path, items: int) -> None:
    """Makes a store with this number of items, which the scenarios copy."""
    store.parent.mkdir()
    with Server(programs, store.parent) as server:
        client = Client(server.socket)
        client.insert_rows("Item", {
            "number": ("INT64", list(range(items))),
            "text": ("STRING", [f"Item {number} of the siege, Ärger, naïve {number * 7919}"
                                for number in range(items)])})
        client.close()
        if not server.stops():
            raise RuntimeError(f"larderd did not stop: {server.last_log_lines()}")


def copy_store(store: pathlib.Path, folder: pathlib.Path) -> None:
    shutil.copy(store, folder / "siege.store")
    # Otherwise it is written later, and delays the saves.
    os.sync()
