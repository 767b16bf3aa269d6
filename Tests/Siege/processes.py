"""Child processes: under another user, with a result, and ended with this process."""

import ctypes
import multiprocessing
import os
import pathlib
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

# The measure is what the server grants, not how fast an attacker burns a processor.
ATTACKER_NICE = 10
SERVER_USER = 0
HONEST_USER = 65_001
MONITOR_USER = 65_002
ATTACKER_USER = 65_003
# The monitor's own delays would count as the server's.
MONITOR_PRIORITY = 1

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def end_with_parent() -> None:
    """Kills this process when its parent ends, however that ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def lower_priority(nice: int) -> None:
    """Lowers the priority of this process, however many threads it starts.

    Each of 200 threads with a nice value has a weight of its own, and together they have that of
    several threads of the server. The kernel divides the processors between sessions first, as
    systemd lets it divide them between services and users.
    """
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    os.setsid()
    try:
        pathlib.Path("/proc/self/autogroup").write_text(str(nice))
    except OSError:
        # The kernel has no groups of sessions, or they are turned off.
        pass


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


class Child:
    """A function that runs in a process of its own."""

    _context = multiprocessing.get_context("fork")

    def __init__(
        self, function: Callable[..., Any], *arguments: Any, user: int, nice: int = 0,
        realtime: bool = False
    ) -> None:
        self.name = function.__name__
        self._pipe, theirs = self._context.Pipe(duplex=False)
        self._process = self._context.Process(
            target=self._run, args=(theirs, function, arguments, user, nice, realtime), daemon=True)
        self._process.start()
        theirs.close()

    @staticmethod
    def _run(pipe: Any, function: Callable, arguments: tuple, user: int, nice: int,
             realtime: bool) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if nice:
            lower_priority(nice)
        if realtime:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(MONITOR_PRIORITY))
            except OSError:
                pass
        become(user)
        end_with_parent()
        try:
            answer = function(*arguments)
        except Exception:
            answer = RuntimeError(traceback.format_exc())
        pipe.send(answer)

    def result(self, seconds: float) -> Any:
        """The function's result; None if it has none after this time. Raises its error."""
        try:
            answer = self._pipe.recv() if self._pipe.poll(max(0, seconds)) else None
        except EOFError:
            answer = None
        if isinstance(answer, RuntimeError):
            raise answer
        return answer

    def kill(self) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join(5)
        self._pipe.close()


def stop_on_signals() -> None:
    """SIGINT, SIGTERM and SIGHUP end this process in the usual way, so that it cleans up."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} seconds")
        time.sleep(0.01)
