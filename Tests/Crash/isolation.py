"""Client processes that read and write the same few objects. The history of their transactions must
be strictly serializable; see history.py.

In `Bank` a transaction moves money between accounts, and versions are those of the rows. In `Lists`
it appends to lists, and versions are the lengths of the lists, which do not depend on the store's
versions. A transaction reads with one request and writes with one change set that has the version
of every object read. In `Hotel` it books days of a room, under the condition that no booking has
these days; each day of a room is an object of the history, with version 1 once it is taken. The
planted errors are clients that omit a part of that; the checker must find
the anomaly that each causes.
"""

import collections
import random
import time

import raw_client
from daemon import Daemon, Failed
from history import DONE, REFUSED, UNKNOWN, Transaction, anomaly
from raw_client import Client, LarderError
from team import Team

CLIENTS = 4
OBJECTS = 6
BALANCE = 100
VERSION_CONFLICT, CONDITION_FAILED = 400, 401
RECONNECT_SECONDS = 30
ERROR_ATTEMPTS = 20
TRANSACTIONS = 200
ROOMS, DAYS_READ, DAYS_MAX = 2, 12, 3
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
        """The new properties by row index: a transfer between two accounts. Every row whose version
        increases gets the transaction's name."""
        (source, giver), (target, taker) = choice.sample(list(enumerate(rows)), 2)
        amount = choice.randint(0, giver["balance"])
        written = {index: {"writer": name} for index in range(len(rows))}
        written[source]["balance"] = giver["balance"] - amount
        written[target]["balance"] = taker["balance"] + amount
        return written

    @staticmethod
    def check_snapshot(rows):
        if len(rows) == OBJECTS and sum(row["balance"] for row in rows) != OBJECTS * BALANCE:
            return f"torn read: the balances are {[row['balance'] for row in rows]}"
        return None


class Lists:
    """Lists of the names of the transactions that appended to them."""

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
            index: {"elements": f"{rows[index]['elements']} {name}".strip()} for index in chosen}

    @staticmethod
    def check_snapshot(rows):
        return None


class Hotel:
    """Rooms and their bookings; no day of a room is taken twice."""

    entity = "Booking"

    @staticmethod
    def days(booking):
        return [(booking["room"], day) for day in range(booking["first"], booking["end"])]


# The parts that a client with a planted error omits, and the anomalies that this may cause.
PLANTED_ERRORS = {
    "updates without versions": (Bank, ("lost update", "torn read", "forked versions", "version ")),
    "reads in two requests": (Bank, ("torn read", "write skew")),
    "cached reads": (Bank, ("stale read", "torn read", "write skew")),
    "versions of written objects only": (Lists, ("write skew", "torn read")),
    "success before the reply": (Bank, ("stale read", "reordered", "torn read")),
    "bookings without a condition": (Hotel, ("lost update", "forked versions")),
}


class Player:
    """One client of a game."""

    def __init__(self, path, game, number, seed, planted=None):
        self.path, self.game, self.number, self.planted = path, game, number, planted
        self.choice = random.Random(f"{seed}/{number}")
        self.client, self.history, self.violations = None, [], []
        self.identifiers, self.cached = [], {}

    def play(self, count):
        for turn in range(count):
            name = f"{self.number}.{turn}"
            self.connect()
            try:
                if self.choice.random() < 0.4:
                    self.read_only(name, self.choice.choice([2, 3, OBJECTS]))
                else:
                    self.read_and_write(name)
            except (OSError, ConnectionError):
                self.client = None
        return self.history, self.violations

    def connect(self):
        deadline = time.monotonic() + RECONNECT_SECONDS
        while self.client is None:
            try:
                self.client = Client(self.path, name=f"player {self.number}")
                self.identifiers = self.read_identifiers()
            except (OSError, ConnectionError):
                self.client = None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def read_identifiers(self):
        return [row["@id"] for row in self.client.fetch(self.game.entity, sort=["number"])]

    def read(self, count):
        chosen = sorted(self.choice.sample(range(OBJECTS), count))
        if self.planted != "reads in two requests":
            return self.client.get(*[self.identifiers[each] for each in chosen])
        rows = []
        for each in chosen:
            rows += self.client.get(self.identifiers[each])
        return rows

    def read_only(self, name, count):
        began = time.monotonic_ns()
        rows = self.read(count)
        if self.planted == "cached reads":
            rows = [self.cached.setdefault(row["number"], row) for row in rows]
        if violation := self.game.check_snapshot(rows):
            self.violations.append(violation)
        self.record(name, began, rows)

    def read_and_write(self, name):
        began = time.monotonic_ns()
        rows = self.read(self.choice.choice([2, 3]))
        written = self.game.writes(rows, name, self.choice)
        changes = [self.update(row, written.get(index)) for index, row in enumerate(rows)]
        writes = {rows[index]["number"]: self.game.version(rows[index]) + 1 for index in written}
        outcome, ended = UNKNOWN, None
        try:
            request = self.client.send("save", raw_client.changes.ChangeSet(
                changes=[each for each in changes if each]))
            if self.planted == "success before the reply":
                ended = time.monotonic_ns()
            versions = list(self.client.receive(request).updated_versions)
            outcome = DONE
            if self.planted == "updates without versions":
                # Only the versions in the reply show the order.
                numbers = [row["number"] for row, each in zip(rows, changes) if each]
                given = dict(zip(numbers, versions))
                writes = {number: given[number] - 1 for number in writes}
        except LarderError as error:
            if error.code != VERSION_CONFLICT:
                raise
            outcome = REFUSED
        finally:
            self.record(name, began, rows, writes, outcome, ended)

    def update(self, row, properties):
        """An update of a row. An empty one checks the version of a row that was only read."""
        if properties is None and self.planted == "versions of written objects only":
            return None
        checked = {} if self.planted == "updates without versions" else {
            "if_version": row["@version"]}
        return self.client.change("UPDATE", row["@id"], properties or {}, **checked)

    def record(self, name, began, rows, writes={}, outcome=DONE, ended=None):
        self.history.append(Transaction(
            name, began, ended or time.monotonic_ns(),
            {row["number"]: self.game.version(row) for row in rows}, writes,
            frozenset(each for row in rows for each in self.game.seen(row)), outcome))


class Guest(Player):
    """One client of the game `Hotel`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.next_days = [0] * ROOMS  # for each room, the day after the last booking

    def read_identifiers(self):
        return []

    def read_only(self, name, _):
        self.taken_days(name, self.choice.randrange(ROOMS))

    def taken_days(self, name, room):
        """Some days of a room, read with one query."""
        start = max(0, self.next_days[room] - DAYS_READ // 2)
        days = [(room, day) for day in range(start, start + DAYS_READ)]
        began = time.monotonic_ns()
        found = self.client.fetch(Hotel.entity, *self.overlapping(room, start, start + DAYS_READ))
        writers = {day: each["writer"] for each in found for day in Hotel.days(each)}
        seen = frozenset((day, 1, writers[day]) for day in days if day in writers)
        self.history.append(Transaction(
            name, began, time.monotonic_ns(), {day: int(day in writers) for day in days}, {}, seen))
        return {day for _, day in writers}

    @staticmethod
    def overlapping(room, first, end):
        return "room == %@ AND first < %@ AND end > %@", [room, end, first]

    def read_and_write(self, name):
        room = self.choice.randrange(ROOMS)
        taken = self.taken_days(f"{name} read", room)
        self.next_days[room] = max([self.next_days[room], *(day + 1 for day in taken)])
        first = max(0, self.next_days[room] + self.choice.choice([-1, 0, 0, 1]))
        booking = {
            "room": room, "first": first, "end": first + self.choice.randint(1, DAYS_MAX),
            "writer": name}
        overlapping = self.overlapping(room, first, booking["end"])
        free = raw_client.condition(0, Hotel.entity, *overlapping)
        conditions = [free] if self.planted != "bookings without a condition" else []
        days = Hotel.days(booking)
        if not conditions and not taken.isdisjoint(day for _, day in days):
            return
        target = raw_client.values.Identifier(entity=Hotel.entity, temporary_name="t:new")
        began, outcome = time.monotonic_ns(), UNKNOWN
        try:
            self.client.save(
                self.client.change("INSERT", target, booking), conditions=conditions)
            outcome = DONE
        except LarderError as error:
            if error.code != CONDITION_FAILED:
                raise
            outcome = REFUSED
            # Bookings are never removed.
            if self.client.count(Hotel.entity, *overlapping) == 0:
                self.violations.append(f"{name} was refused, but no booking has its days")
        finally:
            self.history.append(Transaction(
                name, began, time.monotonic_ns(), dict.fromkeys(days, 0), dict.fromkeys(days, 1),
                frozenset(), outcome))


def games(folder, rounds, seed, choice):
    """Plays rounds of all games with SIGKILL in between, and a game with each planted error."""
    folder.mkdir()
    daemon, counts = Daemon(folder), collections.Counter()
    try:
        for _ in range(rounds):
            for game in (Bank, Lists, Hotel):
                history, violation = play(daemon, game, choice.getrandbits(32), kills=KILLS)
                if violation:
                    raise Failed(f"{game.entity}: {violation}")
                counts.update(each.outcome for each in history)
        for planted, (game, names) in PLANTED_ERRORS.items():
            find_planted(daemon, planted, game, names, choice)
    finally:
        daemon.kill()
    return (
        f"{rounds} games of each kind, {counts[DONE]} transactions done, {counts[REFUSED]} "
        f"refused, {counts[UNKNOWN]} without a reply, all serializable; "
        f"{len(PLANTED_ERRORS)} planted errors found")


def find_planted(daemon, planted, game, names, choice):
    found = None
    for _ in range(ERROR_ATTEMPTS):
        _, found = play(daemon, game, choice.getrandbits(32), planted=planted)
        if found:
            break
    if not found or not found.startswith(names):
        raise Failed(f"planted {planted}, found {found}")


def play(daemon, game, seed, kills=0, planted=None):
    """Plays a game on a new store: its history, and an anomaly or None."""
    daemon.kill()
    daemon.remove_store()
    start(daemon)
    setup = Client(daemon.socket)
    for number in range(OBJECTS if game is not Hotel else 0):
        setup.insert(game.entity, **game.initial(number))
    setup.close()
    player = Guest if game is Hotel else Player
    players = [player(daemon.socket, game, each, seed, planted) for each in range(CLIENTS)]
    with Team(players) as team:
        team.begin("play", TRANSACTIONS)
        choice = random.Random(seed)
        for _ in range(kills):
            time.sleep(choice.uniform(0.05, 0.5))
            daemon.kill()
            start(daemon)
        results = team.results()
    last = player(daemon.socket, game, "end", seed)
    last.connect()
    last.read_only("end", OBJECTS)
    results.append((last.history, last.violations))
    history = sum((transactions for transactions, _ in results), [])
    violations = sum((violations for _, violations in results), [])
    return history, violations[0] if violations else anomaly(history)


def start(daemon):
    if not daemon.start():
        raise Failed(f"larderd does not start: {daemon.last_log_lines()}")
