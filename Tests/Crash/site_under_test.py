"""A daemon and its writers in a scratch folder."""

import signal

from daemon import STORAGE_STATUS, Daemon, Failed
from team import Team
from writer import Writer, Wrong

WRITERS = 4
DEPTH_MAX = 6


class Site:
    """A daemon, its writers, and the choices of one part of the test."""

    def __init__(self, folder, seed, choice, synchronous="full"):
        folder.mkdir()
        self.choice, self.daemon = choice, Daemon(folder, synchronous)
        self.team = Team([Writer(number, seed) for number in range(WRITERS)])
        self.owners = {}
        self.acknowledged = self.repeated = self.failed_starts = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.daemon.kill()
        self.team.__exit__(*error)

    def begin_store(self):
        self.daemon.kill()
        self.daemon.remove_store()
        self.team.all("forget")
        self.owners = {}

    def begin_writing(self, depth=None):
        depth = depth or self.choice.randint(1, DEPTH_MAX)
        self.team.begin("write_until_disconnected", self.daemon.socket, depth)

    def end_writing(self):
        self.acknowledged += sum(self.team.results())

    def crash_at(self, disk):
        """Starts on a disk that will end the process, verifies the store, and writes until then."""
        is_ready = self.daemon.start(disk)
        if is_ready:
            self.verify()
            # If a save may be refused, the next one has to wait for its reply.
            self.begin_writing(depth=1 if "error_at" in disk else None)
            self.end_writing()
        else:
            self.failed_starts += 1
        status = self.daemon.wait()
        # A failed sync during the start may end the process before the power fails.
        is_refused = not is_ready and "error_at" in disk and status == STORAGE_STATUS
        if status != -signal.SIGKILL and not is_refused:
            raise Failed(
                f"larderd ended without a crash of the disk: {self.daemon.last_log_lines()}")
        self.daemon.check_file()

    def check(self, repeats=False):
        """Starts the daemon and verifies the store, optionally after each writer has repeated the
        change sets that had no reply."""
        if not self.daemon.start():
            raise Failed(f"larderd does not start: {self.daemon.last_log_lines()}")
        if repeats:
            self.repeated += sum(self.team.all("repeat", self.daemon.socket))
        self.verify()

    def verify(self, after_crash=True):
        """Each writer verifies its own objects; together they detect a reused key."""
        for claimed in self.team.all("check", self.daemon.socket, after_crash):
            for key, owner in claimed.items():
                first = self.owners.setdefault(key, owner)
                if first != owner:
                    raise Wrong(
                        f"{key} belonged to {first} (writer, basket, item) and now to {owner}")
