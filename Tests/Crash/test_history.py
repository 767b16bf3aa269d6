"""The checker finds each anomaly, and accepts histories without one."""

import dataclasses
import os
import random
import unittest

from history import REFUSED, UNKNOWN, Transaction, anomaly


def done(name, began, ended, reads={}, writes={}, **others):
    return Transaction(name, began, ended, dict(reads), dict(writes), **others)


class Histories(unittest.TestCase):
    def finds(self, anomaly_name, *transactions):
        found = anomaly(transactions)
        self.assertIsNotNone(found, "no anomaly was found")
        self.assertTrue(found.startswith(anomaly_name), found)

    def accepts(self, *transactions):
        self.assertIsNone(anomaly(transactions))

    def test_transactions_one_after_the_other(self):
        self.accepts(
            done("a", 1, 2, {"x": 0}, {"x": 1}), done("b", 3, 4, {"x": 1}, {"x": 2}),
            done("c", 5, 6, {"x": 2}))

    def test_concurrent_transactions_may_be_in_either_order(self):
        writer = done("a", 1, 9, {"x": 0}, {"x": 1})
        self.accepts(writer, done("b", 2, 3, {"x": 0}))
        self.accepts(writer, done("b", 2, 3, {"x": 1}))

    def test_lost_update(self):
        self.finds(
            "lost update", done("a", 1, 9, {"x": 0}, {"x": 1}), done("b", 2, 8, {"x": 0}, {"x": 2}))

    def test_two_transactions_that_wrote_the_same_version(self):
        self.finds(
            "lost update", done("a", 1, 9, {"x": 0}, {"x": 1}), done("b", 2, 8, {"x": 0}, {"x": 1}))

    def test_torn_read(self):
        self.finds(
            "torn read", done("a", 1, 9, {}, {"x": 1, "y": 1}), done("b", 2, 8, {"x": 1, "y": 0}))

    def test_write_skew(self):
        self.finds(
            "write skew", done("a", 1, 9, {"x": 0, "y": 0}, {"x": 1}),
            done("b", 2, 8, {"x": 0, "y": 0}, {"y": 1}))

    def test_long_fork(self):
        self.finds(
            "write skew or long fork", done("a", 1, 9, {}, {"x": 1}), done("b", 1, 9, {}, {"y": 1}),
            done("c", 1, 9, {"x": 1, "y": 0}), done("d", 1, 9, {"x": 0, "y": 1}))

    def test_stale_read(self):
        self.finds("stale read", done("a", 1, 2, {}, {"x": 1}), done("b", 3, 4, {"x": 0}))

    def test_a_read_older_than_another_client_s(self):
        self.finds(
            "stale read", done("a", 1, 9, {}, {"x": 1}), done("b", 2, 3, {"x": 1}),
            done("c", 4, 5, {"x": 0}))

    def test_reordered_writes(self):
        self.finds("reordered", done("a", 1, 2, {}, {"x": 2}), done("b", 3, 4, {}, {"x": 1}))

    def test_a_read_from_the_future(self):
        self.finds("reordered", done("a", 1, 2, {"x": 1}), done("b", 3, 4, {}, {"x": 1}))

    def test_circular_writes_and_reads(self):
        self.finds(
            "circular writes", done("a", 1, 9, {}, {"x": 1, "y": 2}),
            done("b", 1, 9, {}, {"x": 2, "y": 1}))
        self.finds(
            "circular reads", done("a", 1, 9, {"y": 1}, {"x": 1}),
            done("b", 1, 9, {"x": 1}, {"y": 1}))

    def test_aborted_read(self):
        refused = done("a", 1, 2, {"x": 0}, {"x": 1}, outcome=REFUSED)
        seen = frozenset({("x", 1, "a")})
        self.finds("aborted read", refused, done("b", 3, 4, {"x": 1}, seen=seen))
        self.finds("aborted read", done("b", 3, 4, {"x": 1}, seen=seen))

    def test_forked_versions(self):
        self.finds(
            "forked versions", done("a", 1, 9, {}, {"x": 1}), done("b", 1, 9, {}, {"x": 2}),
            done("c", 1, 9, {"x": 1}, seen=frozenset({("x", 1, "b")})))

    def test_a_version_without_a_writer(self):
        self.finds("version 1 of x", done("a", 1, 2, {}, {"x": 2}))

    def test_a_write_of_unknown_outcome_that_was_read_committed_as_a_whole(self):
        unknown = done("a", 1, 2, {"x": 0}, {"x": 1, "y": 1}, outcome=UNKNOWN)
        seen = frozenset({("x", 1, "a")})
        self.accepts(unknown, done("b", 3, 4, {"x": 0}), done("c", 5, 6, {"x": 1}, seen=seen))
        self.accepts(unknown, done("b", 3, 4, {"x": 0}))
        self.finds("torn read", unknown, done("c", 5, 6, {"x": 1, "y": 0}, seen=seen))

    def test_random_histories_and_each_with_one_read_changed(self):
        seed = int(os.environ.get("LARDER_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}")
        choice = random.Random(seed)
        for _ in range(200):
            history = serial_history(choice)
            self.assertIsNone(anomaly(history))
            self.assertIsNotNone(anomaly(with_an_older_read(choice, history)))


def serial_history(choice):
    """Transactions that take effect at one instant each, observed in intervals that overlap."""
    versions, history = {thing: 0 for thing in "wxyz"}, []
    for instant in range(1, 60):
        things = choice.sample(sorted(versions), choice.randint(1, 3))
        reads = {thing: versions[thing] for thing in things}
        writes = {thing: versions[thing] + 1 for thing in things if choice.random() < 0.4}
        versions |= writes
        began = instant * 10 - choice.randrange(30)
        ended = instant * 10 + choice.randrange(30)
        history.append(done(f"t{instant}", began, ended, reads, writes))
    return history


def with_an_older_read(choice, history):
    """Changes the read of one transaction, which wrote what it read, to the version before."""
    candidates = [
        (each, thing) for each in history for thing in each.writes if each.reads[thing] > 0]
    changed, thing = choice.choice(candidates)
    reads = changed.reads | {thing: changed.reads[thing] - 1}
    return [
        dataclasses.replace(each, reads=reads) if each is changed else each for each in history]


if __name__ == "__main__":
    unittest.main()
