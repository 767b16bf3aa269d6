"""Client processes that read and write the same few objects, and whether what they saw could have
come from doing it one after the other; see history.py.

In `bank` a transaction moves money between accounts, and versions are the rows'. In `lists` it
appends to lists, and versions are the lists' lengths, so the store's word for them is not needed. A
transaction reads with one request and writes with one change set that names the version of
everything read. The planted faults are clients that leave a part of that out: the checker must find
what comes of each.
"""

import collections
import random
import time

import larder_client
from daemon import Daemon, Failed
from history import DONE, REFUSED, UNKNOWN, Transaction, anomaly
from larder_client import Client, LarderError
from team import Team

CLIENTS = 4
OBJECTS = 6
BALANCE = 100
VERSION_CONFLICT = 400
RECONNECT_SECONDS = 30
FAULT_ATTEMPTS = 20
TRANSACTIONS = 200
KILLS = 3


class Bank:
    """Accounts; the sum of their balances never changes."""

    entity = "Account"

    @staticmethod
    def initial(number):
        return {"number": number, "balance": BALANCE, "writer": ""}

    @staticmethod
    def version(row):
        return row["@version"] - 1

    @staticmethod
    def seen(row):
        number, version = row["number"], row["@version"] - 1
        return [(number, version, row["writer"])] if version else []

    @staticmethod
    def writes(rows, name, choice):
        """The new properties of each row, by its place: a transfer between two accounts. Its name
        goes into every row whose version it raises."""
        (source, giver), (target, taker) = choice.sample(list(enumerate(rows)), 2)
        amount = choice.randint(0, giver["balance"])
        written = {place: {"writer": name} for place in range(len(rows))}
        written[source]["balance"] = giver["balance"] - amount
        written[target]["balance"] = taker["balance"] + amount
        return written

    @staticmethod
    def check_snapshot(rows):
        if len(rows) == OBJECTS and sum(row["balance"] for row in rows) != OBJECTS * BALANCE:
            return f"torn read: the balances are {[row['balance'] for row in rows]}"
        return None


class Lists:
    """Lists of the names of those who appended."""

    entity = "Register"

    @staticmethod
    def initial(number):
        return {"number": number, "elements": ""}

    @staticmethod
    def version(row):
        return len(row["elements"].split())

    @staticmethod
    def seen(row):
        return [
            (row["number"], version, name)
            for version, name in enumerate(row["elements"].split(), 1)]

    @staticmethod
    def writes(rows, name, choice):
        chosen = choice.sample(range(len(rows)), choice.randint(1, len(rows) - 1))
        return {
            place: {"elements": f"{rows[place]['elements']} {name}".strip()} for place in chosen}

    @staticmethod
    def check_snapshot(rows):
        return None


# What a faulty client leaves out, and the anomalies that may come of it.
FAULTS = {
    "updates without versions": (Bank, ("lost update", "torn read", "forked versions", "version ")),
    "reads in two requests": (Bank, ("torn read", "write skew")),
    "remembered reads": (Bank, ("stale read", "torn read", "write skew")),
    "versions of written objects only": (Lists, ("write skew", "torn read")),
    "answers before they are there": (Bank, ("stale read", "reordered", "torn read")),
}


class Player:
    """One client of a game."""

    def __init__(self, path, game, number, seed, fault=None):
        self.path, self.game, self.number, self.fault = path, game, number, fault
        self.choice = random.Random(f"{seed}/{number}")
        self.client, self.history, self.complaints = None, [], []
        self.identifiers, self.remembered = [], {}

    def play(self, count):
        for turn in range(count):
            name = f"{self.number}.{turn}"
            self.connect()
            try:
                if self.choice.random() < 0.4:
                    self.look(name, self.choice.choice([2, 3, OBJECTS]))
                else:
                    self.change(name)
            except (OSError, ConnectionError):
                self.client = None
        return self.history, self.complaints

    def connect(self):
        deadline = time.monotonic() + RECONNECT_SECONDS
        while self.client is None:
            try:
                self.client = Client(self.path, name=f"player {self.number}")
                found = self.client.fetch(self.game.entity, sort=["number"])
                self.identifiers = [row["@id"] for row in found]
            except (OSError, ConnectionError):
                self.client = None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def read(self, count):
        chosen = sorted(self.choice.sample(range(OBJECTS), count))
        if self.fault != "reads in two requests":
            return self.client.get(*[self.identifiers[each] for each in chosen])
        rows = []
        for each in chosen:
            rows += self.client.get(self.identifiers[each])
        return rows

    def look(self, name, count):
        began = time.monotonic_ns()
        rows = self.read(count)
        if self.fault == "remembered reads":
            rows = [self.remembered.setdefault(row["number"], row) for row in rows]
        if complaint := self.game.check_snapshot(rows):
            self.complaints.append(complaint)
        self.note(name, began, rows)

    def change(self, name):
        began = time.monotonic_ns()
        rows = self.read(self.choice.choice([2, 3]))
        written = self.game.writes(rows, name, self.choice)
        changes = [self.update(row, written.get(place)) for place, row in enumerate(rows)]
        writes = {rows[place]["number"]: self.game.version(rows[place]) + 1 for place in written}
        outcome, ended = UNKNOWN, None
        try:
            request = self.client.send("save", larder_client.changes.ChangeSet(
                changes=[each for each in changes if each]))
            if self.fault == "answers before they are there":
                ended = time.monotonic_ns()
            versions = list(self.client.receive(request).updated_versions)
            outcome = DONE
            if self.fault == "updates without versions":
                # What the store says is then all that is known of the order.
                numbers = [row["number"] for row, each in zip(rows, changes) if each]
                given = dict(zip(numbers, versions))
                writes = {number: given[number] - 1 for number in writes}
        except LarderError as error:
            if error.code != VERSION_CONFLICT:
                raise
            outcome = REFUSED
        finally:
            self.note(name, began, rows, writes, outcome, ended)

    def update(self, row, properties):
        """What was only read is updated too, with nothing, so that its version is looked at."""
        if properties is None and self.fault == "versions of written objects only":
            return None
        checked = {} if self.fault == "updates without versions" else {
            "if_version": row["@version"]}
        return self.client.change("UPDATE", row["@id"], properties or {}, **checked)

    def note(self, name, began, rows, writes={}, outcome=DONE, ended=None):
        self.history.append(Transaction(
            name, began, ended or time.monotonic_ns(),
            {row["number"]: self.game.version(row) for row in rows}, writes,
            frozenset(each for row in rows for each in self.game.seen(row)), outcome))


def games(folder, rounds, seed, choice):
    """Rounds of both games with kills in between, and a game with each planted fault."""
    folder.mkdir()
    daemon, counts = Daemon(folder), collections.Counter()
    try:
        for _ in range(rounds):
            for game in (Bank, Lists):
                history, fault = play(daemon, game, choice.getrandbits(32), kills=KILLS)
                if fault:
                    raise Failed(f"{game.entity}: {fault}")
                counts.update(each.outcome for each in history)
        for fault, (game, names) in FAULTS.items():
            look_for(daemon, fault, game, names, choice)
    finally:
        daemon.kill()
    return (
        f"{rounds} games of each kind, {counts[DONE]} transactions done, {counts[REFUSED]} "
        f"refused, {counts[UNKNOWN]} unanswered, all serializable; "
        f"{len(FAULTS)} planted faults found")


def look_for(daemon, fault, game, names, choice):
    found = None
    for _ in range(FAULT_ATTEMPTS):
        _, found = play(daemon, game, choice.getrandbits(32), fault=fault)
        if found:
            break
    if not found or not found.startswith(names):
        raise Failed(f"planted {fault}, and what was found is {found}")


def play(daemon, game, seed, kills=0, fault=None):
    """A game on a new store: its history, and what is wrong with it."""
    daemon.kill()
    daemon.remove_store()
    start(daemon)
    setup = Client(daemon.socket)
    for number in range(OBJECTS):
        setup.insert(game.entity, **game.initial(number))
    setup.close()
    players = [Player(daemon.socket, game, each, seed, fault) for each in range(CLIENTS)]
    with Team(players) as team:
        team.begin("play", TRANSACTIONS)
        choice = random.Random(seed)
        for _ in range(kills):
            time.sleep(choice.uniform(0.05, 0.5))
            daemon.kill()
            start(daemon)
        results = team.results()
    last = Player(daemon.socket, game, "end", seed)
    last.connect()
    last.look("end", OBJECTS)
    results.append((last.history, last.complaints))
    history = sum((transactions for transactions, _ in results), [])
    complaints = sum((complaints for _, complaints in results), [])
    return history, complaints[0] if complaints else anomaly(history)


def start(daemon):
    if not daemon.start():
        raise Failed(f"larderd does not start: {daemon.last_words()}")
