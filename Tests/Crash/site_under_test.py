"""A daemon and its writers, in a scratch folder of their own."""

from daemon import Daemon, Failed
from team import Team

WRITERS = 4
DEPTH_MAX = 6


class Site:
    """A daemon, its writers, and the choices of one part of the test."""

    def __init__(self, folder, seed, choice, synchronous="full"):
        folder.mkdir()
        self.choice, self.daemon = choice, Daemon(folder, synchronous)
        self.team = Team(WRITERS, seed)
        self.acknowledged = self.starts_died = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.kill()
        self.team.end()

    def begin_store(self):
        self.daemon.kill()
        self.daemon.remove_store()
        self.team.forget()

    def begin_writing(self, depth=None):
        depth = depth or self.choice.randint(1, DEPTH_MAX)
        self.team.begin("write_until_death", self.daemon.socket, depth)

    def end_writing(self):
        self.acknowledged += sum(self.team.results())

    def die_at(self, disk):
        """Starts on a disk that will end the process, checks, and writes until it has."""
        if self.daemon.start(disk):
            self.team.check(self.daemon.socket)
            # Where a save may be refused, what follows waits for its answer.
            self.begin_writing(depth=1 if "error_at" in disk else None)
            self.end_writing()
        else:
            self.starts_died += 1
        if self.daemon.wait() != -9:
            raise Failed(f"larderd ended by itself: {self.daemon.last_words()}")
        self.daemon.check_file()

    def check(self):
        if not self.daemon.start():
            raise Failed(f"larderd does not start: {self.daemon.last_words()}")
        self.team.check(self.daemon.socket)
