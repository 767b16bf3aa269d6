"""Writers in processes of their own, and what they know together."""

import multiprocessing

from writer import Lost, Refused, Writer, Wrong

RESULT_SECONDS = 120


class Team:
    """Several writers, each in a process, that do what they are told at the same time."""

    def __init__(self, count, seed):
        self.members = []
        context = multiprocessing.get_context("fork")
        for number in range(count):
            ours, theirs = context.Pipe()
            others = [pipe for _, pipe in self.members] + [ours]
            process = context.Process(
                target=serve, args=(theirs, others, number, seed), daemon=True)
            process.start()
            theirs.close()
            self.members.append((process, ours))
        self.owners = {}

    def begin(self, action, *arguments):
        for _, pipe in self.members:
            pipe.send((action, arguments))

    def results(self):
        """What each returned. Raises the worst of what went wrong."""
        answers = []
        for _, pipe in self.members:
            if not pipe.poll(RESULT_SECONDS):
                raise Wrong(f"a writer had no answer within {RESULT_SECONDS} seconds")
            answers.append(pipe.recv())
        for kind in (Wrong, Lost, Refused):
            for answer in answers:
                if type(answer) is kind:
                    raise answer
        return answers

    def all(self, action, *arguments):
        self.begin(action, *arguments)
        return self.results()

    def check(self, path, after_crash=True):
        """Each looks at its own; together they see whether a key ever named two objects."""
        for claimed in self.all("check", path, after_crash):
            for key, owner in claimed.items():
                first = self.owners.setdefault(key, owner)
                if first != owner:
                    raise Wrong(f"{key} was {first}'s (writer, basket, item) and is {owner}'s")

    def forget(self):
        """For a new store."""
        self.all("forget")
        self.owners = {}

    def end(self):
        for process, pipe in self.members:
            pipe.close()
            process.join()


def serve(pipe, others, number, seed):
    # Copies of the other ends would keep the pipes open when the test ends.
    for other in others:
        other.close()
    writer = Writer(number, seed)
    while True:
        try:
            action, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = getattr(writer, action)(*arguments)
        except (Wrong, Refused) as error:
            answer = error
        except Exception as error:
            answer = Wrong(f"writer {number}: {error!r}")
        pipe.send(answer)
