"""Objects that work concurrently, each in a process of its own."""

import multiprocessing
import signal

from writer import Lost, Refused, Wrong

RESULT_SECONDS = 300


class Team:
    """Each member is in a process of its own and performs the actions that it is sent."""

    def __init__(self, members):
        self.members = []
        context = multiprocessing.get_context("fork")
        for member in members:
            ours, theirs = context.Pipe()
            others = [pipe for _, pipe in self.members] + [ours]
            process = context.Process(target=serve, args=(theirs, others, member), daemon=True)
            process.start()
            theirs.close()
            self.members.append((process, ours))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process, pipe in self.members:
            pipe.close()
            process.terminate()
            process.join()

    def begin(self, action, *arguments):
        for number in range(len(self.members)):
            self.send(number, action, *arguments)

    def send(self, number, action, *arguments):
        _, pipe = self.members[number]
        pipe.send((action, arguments))

    def result(self, number):
        """The result of one member's action. Raises its error."""
        answer = self.received(number)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def received(self, number):
        _, pipe = self.members[number]
        if not pipe.poll(RESULT_SECONDS):
            raise Wrong(f"a process did not reply within {RESULT_SECONDS} seconds")
        return pipe.recv()

    def results(self):
        """The result of each member's action. Raises the most severe error."""
        answers = [self.received(number) for number in range(len(self.members))]
        for kind in (Wrong, Lost, Refused):
            for answer in answers:
                if type(answer) is kind:
                    raise answer
        return answers

    def all(self, action, *arguments):
        self.begin(action, *arguments)
        return self.results()


def serve(pipe, others, member):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Inherited copies of the other ends would keep the pipes open after the test.
    for other in others:
        other.close()
    while True:
        try:
            action, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = getattr(member, action)(*arguments)
        except (Wrong, Refused) as error:
            answer = error
        except Exception as error:
            answer = Wrong(f"{type(member).__name__}: {error!r}")
        pipe.send(answer)
