"""A daemon and its writers, in a scratch folder of their own."""

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
        self.acknowledged = self.repeated = self.starts_died = 0

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
        self.team.begin("write_until_death", self.daemon.socket, depth)

    def end_writing(self):
        self.acknowledged += sum(self.team.results())

    def die_at(self, disk):
        """Starts on a disk that will end the process, checks, and writes until it has."""
        serves = self.daemon.start(disk)
        if serves:
            self.look()
            # Where a save may be refused, what follows waits for its answer.
            self.begin_writing(depth=1 if "error_at" in disk else None)
            self.end_writing()
        else:
            self.starts_died += 1
        status = self.daemon.wait()
        # A sync that fails during the start refuses it, before the power fails.
        is_refused = not serves and "error_at" in disk and status == STORAGE_STATUS
        if status != -signal.SIGKILL and not is_refused:
            raise Failed(f"larderd ended by itself: {self.daemon.last_words()}")
        self.daemon.check_file()

    def check(self, repeats=False):
        """Starts and looks, perhaps after each writer has sent again what was not answered."""
        if not self.daemon.start():
            raise Failed(f"larderd does not start: {self.daemon.last_words()}")
        if repeats:
            self.repeated += sum(self.team.all("repeat", self.daemon.socket))
        self.look()

    def look(self, after_crash=True):
        """Each writer looks at its own; together they see whether a key ever named two objects."""
        for claimed in self.team.all("check", self.daemon.socket, after_crash):
            for key, owner in claimed.items():
                first = self.owners.setdefault(key, owner)
                if first != owner:
                    raise Wrong(f"{key} was {first}'s (writer, basket, item) and is {owner}'s")
