"""Four processes write, others follow the history, and larderd is killed and started again.

Each reader must get every acknowledged commit exactly once and in order, although it disconnects,
stops reading and resumes at random times, also at positions that it had long before.
"""

import random
import sqlite3
import time

import raw_client
from daemon import Daemon, Failed
from raw_client import Client, changes, histories, larder, value, values
from team import Team
from writer import Wrong

WRITERS = 4
READERS = 6
DEPTH = 64
CREDIT = 16
RECONNECT_SECONDS = 60
KILL_SECONDS = (0.02, 0.8)
PAUSE_SECONDS_MAX = 0.5
# The transactions that a reader repeats from an earlier position.
REPEATED_MAX = 500
END = "end"


def connected(path, name):
    """A connection, as soon as the server can be reached."""
    deadline = time.monotonic() + RECONNECT_SECONDS
    while True:
        try:
            return Client(path, name=name)
        except (OSError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def insert(number, author):
    """A change set that inserts one object."""
    identifier = values.Identifier(entity="Register", temporary_name="r")
    properties = [
        changes.PropertyValue(name="number", value=value(number)),
        changes.PropertyValue(name="elements", value=value(author))]
    return changes.ChangeSet(
        changes=[changes.Change(
            kind=changes.CHANGE_KIND_INSERT, object=identifier, values=properties)],
        author=author)


class Writer:
    def __init__(self, number):
        self.number, self.sent = number, 0
        # The transaction of each acknowledged author.
        self.acknowledged = {}

    def write(self, path, count):
        """Saves until this number of saves have been acknowledged."""
        while len(self.acknowledged) < count:
            try:
                self.write_over(connected(path, f"writer {self.number}"), count)
            except (OSError, ConnectionError):
                pass
            except raw_client.LarderError as error:
                # The server is not ready or has ended.
                if error.code != 601:
                    raise Wrong(f"a save was refused with {error}") from None
        return self.acknowledged

    def write_over(self, client, count):
        waiting = []
        try:
            while len(self.acknowledged) < count:
                while len(waiting) < DEPTH and len(waiting) + len(self.acknowledged) < count:
                    self.sent += 1
                    author = f"{self.number}-{self.sent}"
                    change_set = insert(self.number * 10**9 + self.sent, author)
                    waiting.append((author, client.send("save", change_set)))
                author, request = waiting.pop(0)
                self.acknowledged[author] = client.receive(request).transaction
        finally:
            client.close()


class Reader:
    def __init__(self, number, seed):
        self.number, self.choice = number, random.Random(f"{seed}/reader {number}")
        # Numbers and authors, in the order in which they arrived.
        self.log = []
        self.token = None
        self.connections = self.repeated = 0

    def read(self, path):
        """Follows the history from its beginning to the last transaction."""
        while not self.log or self.log[-1][1] != END:
            self.connections += 1
            try:
                client = connected(path, f"reader {self.number}")
                try:
                    if self.log and self.choice.random() < 0.2:
                        self.repeat(client)
                    self.follow(client)
                finally:
                    client.close()
            except (OSError, ConnectionError):
                pass
            except raw_client.LarderError as error:
                if error.code != 601:
                    raise Wrong(f"the feed ended with {error}") from None
                time.sleep(0.01)
        return self.log, self.connections, self.repeated

    def follow(self, client):
        if self.token is None:
            welcome = client.welcome
            self.token = histories.HistoryToken(store=welcome.store, epoch=welcome.history_epoch)
        for reply in replies(client, self.token, self.choice, self.choice.random() < 0.5):
            received = complete(reply)
            numbers = [number for number, _ in received]
            last = self.log[-1][0] if self.log else 0
            if numbers != sorted(set(numbers)) or numbers and numbers[0] <= last:
                raise Wrong(f"after {last} the feed has {numbers[:10]}")
            self.log += received
            self.token = reply.position
            if self.log and self.log[-1][1] == END:
                return
            chance = self.choice.random()
            if chance < 0.01:
                time.sleep(self.choice.uniform(0, PAUSE_SECONDS_MAX))
            elif chance < 0.02:
                return

    def repeat(self, client):
        """Reads again from a random earlier position, and must get the same."""
        start = self.choice.randrange(len(self.log))
        expected = self.log[start:start + REPEATED_MAX]
        token = histories.HistoryToken()
        token.CopyFrom(self.token)
        token.number = self.log[start - 1][0] if start else 0
        found = []
        for reply in replies(client, token, self.choice, cancels=True):
            found += complete(reply)
            if len(found) >= len(expected):
                break
        if found[:len(expected)] != expected:
            differing = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
            raise Wrong(f"from {token.number} the feed differs from before in {differing[:5]}")
        self.repeated += len(expected)


def complete(reply):
    """The numbers and authors of the transactions of a reply. One that the next reply continues,
    under the same number, is counted there."""
    found = [(each.number, each.author) for each in reply.transactions]
    return found[:-1] if reply.partial else found


def replies(client, token, choice, cancels):
    """The replies of a feed, which is cancelled when the loop ends, or left to the end of the
    connection."""
    credit = choice.randint(1, CREDIT)
    request = client.send(
        "history", larder.HistoryRequest(after=token, follow=True, credit=credit), timeout=0)
    is_open = True
    try:
        while True:
            reply = client.receive(request)
            if not reply.more:
                is_open = False
                raise Wrong("a feed ended by itself")
            yield reply
            client.send("credit", larder.CreditRequest(request_id=request, batches=1))
    finally:
        if is_open and cancels:
            cancel(client, request)


def cancel(client, request):
    """Cancels a stream and reads the replies that were on their way."""
    try:
        client.send("cancel", larder.CancelRequest(request_id=request))
        while True:
            client.receive(request)
    except raw_client.LarderError as error:
        if error.code not in (602, 601):
            raise Wrong(f"a cancelled feed ended with {error}") from None
    except (OSError, ConnectionError):
        pass


def feed(folder, commits, seed, choice):
    """`commits` acknowledged commits, and every reader has each of them."""
    folder.mkdir()
    daemon = Daemon(folder)
    writers = Team([Writer(number) for number in range(WRITERS)])
    readers = Team([Reader(number, seed) for number in range(READERS)])
    kills = 0
    try:
        with writers, readers:
            if not daemon.start():
                raise Failed(f"larderd ended: {daemon.last_log_lines()}")
            writers.begin("write", daemon.socket, commits // WRITERS)
            readers.begin("read", daemon.socket)
            while not all(pipe.poll() for _, pipe in writers.members):
                time.sleep(choice.uniform(*KILL_SECONDS))
                if choice.random() < 0.7:
                    daemon.kill()
                else:
                    daemon.stop()
                kills += 1
                if not daemon.start():
                    raise Failed(f"larderd ended: {daemon.last_log_lines()}")
            acknowledged = {}
            for each in writers.results():
                acknowledged |= each
            client = connected(daemon.socket, "end")
            client.call("save", insert(WRITERS * 10**9, END))
            client.close()
            results = readers.results()
            daemon.stop()
        check(daemon.store, acknowledged, [log for log, _, _ in results])
    finally:
        daemon.kill()
    return (
        f"{len(acknowledged)} acknowledged commits, each once and in order at {READERS} readers, "
        f"with {sum(count for _, count, _ in results)} connections and {kills} ends of larderd; "
        f"{sum(count for _, _, count in results)} transactions read again")


def check(store, acknowledged, logs):
    connection = sqlite3.connect(store)
    stored = connection.execute("SELECT number, author FROM _transaction ORDER BY number").fetchall()
    connection.close()
    by_author = {author: number for number, author in stored}
    if len(by_author) != len(stored):
        raise Wrong("a save was applied twice")
    for author, number in acknowledged.items():
        if by_author.get(author) != number:
            raise Wrong(f"{author} was acknowledged as {number}, and is {by_author.get(author)}")
    for number, log in enumerate(logs):
        if log != stored:
            differing = next(
                (pair for pair in zip(log, stored) if pair[0] != pair[1]), "their lengths")
            raise Wrong(f"reader {number} differs from the history in {differing}")
