"""Both clients with a larderd, which LARDER_BIN_DIR or PATH has. Each test has a class of clients:
the one for asyncio is used through an event loop, so that both have the same tests."""

import asyncio
import datetime
import decimal
import os
import threading
import unittest
import uuid
from dataclasses import dataclass, field

import larder
from daemon import Daemon
from larder import (
    JSON, Aggregate, ChangeSet, Count, Edit, Fetch, Function, HistoryFilter, HistoryToken,
    Identifier, Json, Record, SortKey, Url, aio, new_idempotency_key)

SECONDS = 60


@dataclass(kw_only=True)
class Book(Record):
    title: str
    isbn: str | None = None
    pages: int = 0
    price: decimal.Decimal | None = None
    notes: JSON | None = None
    class_: str | None = None
    authorCount: int | None = field(default=None, metadata={"derived": True})
    authors: list[Identifier] = field(default_factory=list)


class Blocking:
    """The client with blocking calls."""

    def __init__(self, path, **options):
        self.client = larder.connect(path, timeout=SECONDS, **options)
        self.close = self.client.close

    def __getattr__(self, name):
        return getattr(self.client, name)

    @staticmethod
    def next(stream, timeout=SECONDS):
        return stream.next(timeout)

    @staticmethod
    def rows(stream):
        return list(stream)


class Asynchronous:
    """The client for asyncio, each call of which runs in a loop of its own."""

    def __init__(self, path, **options):
        self.loop = asyncio.new_event_loop()
        try:
            self.client = self.run(aio.connect(path, timeout=SECONDS, **options))
        except larder.LarderError:
            self.loop.close()
            raise

    def run(self, call):
        return self.loop.run_until_complete(call)

    def close(self):
        self.run(self.client.close())
        self.run(self.loop.shutdown_asyncgens())
        self.loop.close()

    def __getattr__(self, name):
        found = getattr(self.client, name)

        def call(*arguments, **options):
            made = found(*arguments, **options)
            return self.run(made) if asyncio.iscoroutine(made) else made
        return call if callable(found) else found

    def next(self, stream, timeout=SECONDS):
        return self.run(stream.next(timeout))

    def rows(self, stream):
        async def collected():
            return [row async for row in stream]
        return self.run(collected())


class ClientTests:
    kind = None

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.client = cls.kind(cls.daemon.socket, name="test", author="tester")

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.remove()

    def tearDown(self):
        changes = ChangeSet()
        for entity in ("Book", "Author", "Publisher"):
            changes.delete_all(entity)
        self.client.save(changes)

    def refused(self, kind, name, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.name, name)
        return caught.exception

    # Objects

    def test_an_object_is_inserted_updated_and_deleted(self):
        client = self.client
        book = client.insert("Book", {"title": "Rain"})
        self.assertEqual((book.entity, book.store), ("Book", client.server.store))
        row = client.get(book)
        self.assertEqual((row["title"], row["pages"], row["@id"], row["@version"]),
                         ("Rain", 0, book, 1))
        self.assertEqual(client.update(book, {"pages": 9}, if_version=1), 2)
        error = self.refused(larder.ConflictError, "VERSION_CONFLICT", client.update, book,
                             {"pages": 10}, if_version=1)
        self.assertEqual((error.problems[0].stored_version, error.problems[0].change), (2, 0))
        self.assertEqual(error.problems[0].conflicts[0].stored, 9)
        client.delete(book)
        self.assertIsNone(client.get(book))
        self.refused(larder.NotFoundError, "OBJECT_NOT_FOUND", client.delete, book)

    def test_values_of_each_type_are_read_as_they_were_written(self):
        values = {
            "title": "é\0", "pages": 2**63 - 1, "price": decimal.Decimal("1.25"),
            "published": datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.UTC),
            "cover": b"\0\xff", "edition": uuid.uuid4(), "link": Url("https://example.org/a?b"),
            "rating": 0.1, "inPrint": False, "notes": {"a": [1, None, 2.5, "x"]}, "class": None}
        row = self.client.get(self.client.insert("Book", values))
        self.assertEqual({name: row[name] for name in values}, values)
        for name, value in (("rating", 3), ("price", 3), ("notes", Json([])), ("notes", [1])):
            book = self.client.insert("Book", {"title": "x", name: value})
            wanted = value.document if isinstance(value, Json) else value
            self.assertEqual(self.client.get(book)[name], wanted)

    def test_errors_have_a_class_a_name_and_a_hint(self):
        client = self.client
        error = self.refused(larder.InvalidError, "UNKNOWN_PROPERTY", client.fetch, "Book",
                             "titel == %@", ["x"])
        self.assertEqual((error.hint, error.column), ('did you mean "title"?', 1))
        self.refused(larder.NotFoundError, "UNKNOWN_ENTITY", client.count, "Bok")
        self.refused(larder.InvalidError, "WRONG_TYPE", client.insert, "Book", {"title": 5})
        foreign = Identifier(uuid.uuid4(), "Book", 1)
        self.refused(larder.NotFoundError, "FOREIGN_IDENTIFIER", client.get, foreign)
        changes = ChangeSet()
        changes.insert("Book", {"title": "x", "pages": -1})
        changes.insert("Book", {})
        error = self.refused(larder.InvalidError, "VALIDATION_FAILED", client.save, changes)
        self.assertEqual([(p.change, p.name) for p in error.problems],
                         [(0, "VALIDATION_FAILED"), (1, "MISSING_VALUE")])

    def test_get_many_has_the_order_of_the_identifiers(self):
        books = [self.client.insert("Book", {"title": f"{n}"}) for n in range(3)]
        author = self.client.insert("Author", {"name": "Ann"})
        self.client.delete(books[1])
        wanted = [books[2], author, books[1], books[0], books[2]]
        found = self.client.get_many(wanted)
        self.assertEqual([row["@id"] for row in found], [books[2], author, books[0], books[2]])
        [row] = self.client.get_many([books[0]], ["title"])
        self.assertEqual(set(row), {"title", "@id", "@version"})

    # Queries

    def library(self):
        changes = ChangeSet()
        ann, bob = (changes.insert("Author", {"name": name}) for name in ("Ann", "Bob"))
        changes.insert("Book", {"title": "Rain", "pages": 100, "authors": [ann, bob]})
        changes.insert("Book", {"title": "Sun", "pages": 200, "authors": [ann]})
        changes.insert("Book", {"title": "Wind", "pages": 200})
        return self.client.save(changes).inserted

    def titles(self, *arguments, **options):
        return [row["title"] for row in self.client.fetch("Book", *arguments, **options)]

    def test_queries_find_objects(self):
        ann = self.library()[0]
        self.assertEqual(self.titles(sort=["title"]), ["Rain", "Sun", "Wind"])
        self.assertEqual(self.titles("pages IN %@ AND title != %@", [[200, None], "Sun"]), ["Wind"])
        self.assertEqual(self.titles("ANY authors == %@", [ann], sort=["title"]), ["Rain", "Sun"])
        self.assertEqual(self.titles("pages == $n", variables={"n": 100}), ["Rain"])
        order = [SortKey("pages", descending=True), "title"]
        self.assertEqual(self.titles(sort=order, limit=1, offset=1), ["Wind"])
        first = self.client.fetch("Book", sort=order, limit=1)[0]
        after = [first["pages"], first["title"], first["@id"]]
        self.assertEqual(self.titles(sort=order, after=after), ["Wind", "Rain"])
        columns = self.client.fetch("Book", sort=["title"], columns={"n": "authors.@count"})
        self.assertEqual([row["n"] for row in columns], [2, 1, 0])
        distinct = self.client.fetch("Book", columns=["pages"], distinct=True, sort=["pages"])
        self.assertEqual(distinct, [{"pages": 100}, {"pages": 200}])
        found = self.client.fetch("Work", columns=[], sort=["title"])
        self.assertEqual([row["@id"].entity for row in found], 3 * ["Book"])
        self.assertEqual(self.client.count("Book", "pages > %@", [100]), 2)
        self.assertEqual(self.client.count("Work", includes_subentities=False), 0)

    def test_aggregates_are_computed_for_groups(self):
        self.library()
        found = self.client.aggregate(
            "Book", {"n": "count", "first": Function("minimum", "title"),
                     "rainy": Function("count", where="title == 'Rain'")},
            group_by=["pages"], having="n >= %@", arguments=[1], sort=[SortKey("n")])
        self.assertEqual(found, [
            {"pages": 100, "n": 1, "first": "Rain", "rainy": 1},
            {"pages": 200, "n": 2, "first": "Sun", "rainy": 0}])

    def test_a_stream_can_be_read_and_left(self):
        rows = ({"title": f"{n:06}", "pages": n} for n in range(10_000))
        inserted = self.client.insert_many("Book", rows, wants_identifiers=True)
        self.assertEqual((inserted.row_count, len(set(inserted.identifiers))), (10_000, 10_000))
        self.assertEqual(self.client.get(inserted.identifiers[-1])["pages"], 9_999)
        query = Fetch("Book", sort=["title"])
        stream = self.client.stream(query)
        self.assertEqual([row["pages"] for row in self.client.rows(stream)], list(range(10_000)))
        self.assertGreater(stream.part_count, 2)
        self.assertIsNone(self.client.next(stream))
        for _ in range(2 * self.client.server.requests_in_flight_max):
            stream = self.client.stream(query)
            self.assertEqual(self.client.next(stream)["pages"], 0)
            stream.close()
            self.assertIsNone(self.client.next(stream))
        self.assertEqual(len(self.titles()), 10_000)

    def test_streams_that_are_not_closed_end_with_the_next_requests(self):
        # More than the credit of a stream.
        self.client.insert_many("Book", ({"title": 100 * f"{n:04}"} for n in range(2_000)))
        for _ in range(2 * self.client.server.requests_in_flight_max):
            self.client.next(self.client.stream(Fetch("Book")))
        self.client.next(self.client.observe(Count("Book")))
        self.client.ping()

    # Changes

    def test_a_change_set_is_applied_once_under_its_key(self):
        changes = ChangeSet(idempotency_key=new_idempotency_key())
        ann = changes.insert("Author", {"name": "Ann"})
        rain = changes.insert("Book", {"title": "Rain", "authors": [ann]})
        first = self.client.save(changes)
        self.assertEqual(self.client.save(changes), first)
        self.assertEqual(self.client.get(first[rain])["authors"], [first[ann]])
        self.assertEqual(self.client.count("Book"), 1)
        other = ChangeSet(idempotency_key=changes.idempotency_key)
        other.insert("Author", {"name": "Bob"})
        self.refused(larder.InvalidError, "IDEMPOTENCY_MISMATCH", self.client.save, other)

    def test_a_long_change_set_is_saved_in_parts(self):
        changes = ChangeSet(idempotency_key=new_idempotency_key())
        ann = changes.insert("Author", {"name": "Ann"})
        for n in range(2_500):
            changes.insert("Book", {"title": f"{n}", "cover": bytes(3_000), "authors": [ann]})
        result = self.client.save(changes)
        self.assertEqual(len(set(result.inserted)), 2_501)
        row = self.client.get_many([result.inserted[-1]], ["title", "authors"])[0]
        self.assertEqual((row["title"], row["authors"]), ("2499", [result[ann]]))
        self.assertEqual(self.client.save(changes), result)
        long = ChangeSet()
        long.insert("Book", {"title": "x", "cover": bytes(5 << 20)})
        long.insert("Book", {})
        error = self.refused(larder.InvalidError, "MISSING_VALUE", self.client.save, long)
        self.assertEqual(error.problems[0].change, 1)
        self.assertEqual(self.client.count("Book"), 2_500)

    def test_lists_are_edited_and_conditions_are_checked(self):
        ann, bob, rain = self.library()[:3]
        self.client.update(rain, edits=[Edit.move("authors", [bob], end="first")])
        self.assertEqual(self.client.get(rain)["authors"], [bob, ann])
        self.client.update(rain, edits=[Edit.remove("authors", [bob]),
                                        Edit.add("authors", [bob], after=ann)])
        self.assertEqual(self.client.get(rain)["authors"], [ann, bob])
        changes = ChangeSet()
        changes.unless("Book", "title == %@", ["Rain"])
        changes.insert("Book", {"title": "Rain"})
        error = self.refused(larder.ConflictError, "CONDITION_FAILED", self.client.save, changes)
        self.assertEqual((error.problems[0].condition, error.problems[0].found), (0, 1))

    def test_objects_that_match_are_changed_at_once(self):
        self.library()
        affected = self.client.update_all(
            "Book", {"class": "long"}, expressions={"pages": "pages + %@"}, where="pages >= %@",
            arguments=[200, 1], wants_identifiers=True)
        self.assertEqual((affected.count, len(affected.identifiers)), (2, 2))
        self.assertEqual(self.client.count("Book", "class == 'long' AND pages == 201"), 2)
        affected = self.client.delete_all("Book", sort=["title"], limit=1)
        self.assertEqual((affected.count, self.titles(sort=["title"])), (1, ["Sun", "Wind"]))

    def test_an_upsert_updates_the_object_with_the_unique_values(self):
        book = self.client.insert("Book", {"title": "Rain", "isbn": "1"})
        self.refused(larder.InvalidError, "UNIQUENESS_VIOLATED", self.client.insert, "Book",
                     {"title": "x", "isbn": "1"})
        again = self.client.insert("Book", {"title": "Sun", "isbn": "1"}, upsert=True)
        self.assertEqual((again, self.titles()), (book, ["Sun"]))

    def test_a_failed_stream_of_rows_stores_what_it_says(self):
        rows = [{"title": "x", "pages": n} for n in range(12_000)] + [{"title": "x", "pages": -1}]
        error = self.refused(larder.InvalidError, "VALIDATION_FAILED", self.client.insert_many,
                             "Book", rows, atomic=True)
        self.assertEqual((error.problems[0].change, self.client.count("Book")), (12_000, 0))
        self.refused(larder.InvalidError, "VALIDATION_FAILED", self.client.insert_many, "Book",
                     rows)
        self.assertEqual(self.client.count("Book"), 10_000)

        def broken():
            yield {"title": "x"}
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            self.client.insert_many("Book", broken(), atomic=True)
        self.assertEqual(self.client.count("Book"), 10_000)
        self.assertEqual(self.client.insert_many("Book", []).row_count, 0)

    def test_records_are_inserted_and_fetched(self):
        ann = self.library()[0]
        book = Book(title="Snow", pages=3, price=decimal.Decimal("0.5"), notes=[], class_="a",
                    authors=[ann])
        identifier = self.client.insert(book)
        found = self.client.get(identifier, Book)
        self.assertEqual((found.identifier, found.version), (identifier, 1))
        self.assertEqual((found.notes, found.class_, found.authors), ([], "a", [ann]))
        self.assertEqual(found.authorCount, 1)
        self.assertEqual(self.client.fetch(Book, "title == 'Snow'"), [found])
        self.client.update(found, {"title": "Ice"}, if_version=found.version)
        self.assertEqual([b.title for b in self.client.fetch(Book, "ANY authors == %@", [ann],
                                                             sort=["title"])],
                         ["Ice", "Rain", "Sun"])
        more = [Book(title=f"{n}", authors=[ann], notes=n) for n in range(3)]
        self.assertEqual(self.client.insert_many(Book, more, atomic=True).row_count, 3)
        self.assertEqual(self.client.count(Book, "authorCount == 1"), 5)
        changes = ChangeSet()
        changes.insert(Book(title="y"))
        changes.delete(found)
        self.assertEqual(self.client.save(changes).deleted_count, 1)

    # Live queries and the history

    def test_a_live_query_reports_each_change(self):
        client = self.client
        live = client.observe(Fetch("Book", "pages > 0", sort=["title"]))
        result = client.next(live)
        self.assertEqual((result.rows, result.inserted), ([], None))
        rain = client.insert("Book", {"title": "Rain", "pages": 1})
        client.next(live)
        client.insert("Book", {"title": "Hail", "pages": 1})
        result = client.next(live)
        self.assertEqual([row["title"] for row in result.rows], ["Hail", "Rain"])
        self.assertEqual((result.inserted, result.moved), ([0], []))
        client.update(rain, {"title": "Air"})
        result = client.next(live)
        self.assertEqual([row["title"] for row in result.rows], ["Air", "Hail"])
        client.update(rain, {"pages": 0})
        result = client.next(live)
        self.assertEqual((len(result.rows), result.deleted), (1, [0]))
        with self.assertRaises(larder.TemporaryError):
            client.next(live, timeout=0.05)
        live.close()
        self.assertIsNone(client.next(live))

    def test_a_live_query_has_sections_records_and_values(self):
        client = self.client
        self.library()
        live = client.observe(Fetch(Book, sort=["title"]), sectioned_by=SortKey(
            "pages", descending=True))
        result = client.next(live)
        found = [(s.value, [book.title for book in s.rows]) for s in result.sections]
        self.assertEqual(found, [(200, ["Sun", "Wind"]), (100, ["Rain"])])
        client.insert(Book(title="Fog", pages=100))
        result = client.next(live)
        self.assertEqual([book.title for book in result.sections[1].rows], ["Fog", "Rain"])
        live.close()
        counts = client.observe(Count("Book"))
        groups = client.observe(Aggregate("Book", columns={"n": "count"}, group_by=["pages"]))
        self.assertEqual(client.next(counts).rows, [{"count": 4}])
        self.assertEqual(len(client.next(groups).rows), 2)
        client.insert("Book", {"title": "x", "pages": 300})
        self.assertEqual(client.next(counts).rows, [{"count": 5}])
        self.assertEqual(len(client.next(groups).rows), 3)
        counts.close()
        groups.close()
        bad = client.observe(Fetch("Book", "nothing == 1"))
        with self.assertRaises(larder.InvalidError):
            client.next(bad)
        self.assertIsNone(client.next(bad))

    def test_the_history_has_each_transaction(self):
        client = self.client
        start = client.current_token()
        author = client.insert("Author", {"name": "Ann"})
        client.update(author, {"name": "Anna"})
        client.delete(author)
        page = client.history(after=start)
        self.assertEqual(page.position, client.server.token(start.number + 3))
        self.assertEqual([[c.kind for c in t.changes] for t in page.transactions],
                         [["inserted"], ["updated"], ["deleted"]])
        last = page.transactions[-1]
        self.assertEqual((last.client, last.author, last.process), ("test", "tester", os.getpid()))
        self.assertEqual(last.tombstones[0].values, {"name": "Anna"})
        self.assertEqual(last.tombstones[0].identifier, author)
        chosen = client.history(HistoryFilter(kinds=["updated"]), after=start)
        self.assertEqual([t.changes[0].properties for t in chosen.transactions], [("name",)])
        newest = client.history(newest_first=True, limit=1).transactions
        self.assertEqual([t.number for t in newest], [start.number + 3])
        future = HistoryToken(start.store, start.epoch, start.number + 100)
        self.refused(larder.NotFoundError, "FUTURE_TOKEN", client.history, after=future)

    def test_a_feed_continues_after_the_server_was_killed(self):
        client = self.client
        start = client.current_token()
        feed, live = client.follow(start), client.observe(Fetch("Author", sort=["name"]))
        self.assertTrue(client.next(feed).is_current)
        self.assertEqual(client.next(live).rows, [])
        client.insert("Author", {"name": "Ann"})
        self.assertEqual(len(client.next(feed).transactions), 1)
        self.assertEqual(len(client.next(live).rows), 1)
        self.daemon.kill()
        self.daemon.start()
        client.insert("Author", {"name": "Bob"})
        transactions = []
        while not transactions:
            transactions += client.next(feed).transactions
        self.assertEqual(transactions[0].changes[0].kind, "inserted")
        names = []
        while names != ["Ann", "Bob"]:
            names = [row["name"] for row in client.next(live).rows]
        feed.close()
        live.close()

    def test_calls_wait_for_a_server_that_restarts(self):
        book = self.client.insert("Book", {"title": "Rain"})
        self.daemon.stop()
        restart = threading.Thread(target=self.daemon.start)
        restart.start()
        self.assertEqual(self.client.get(book)["title"], "Rain")
        restart.join(SECONDS)
        self.client.ping()

    def test_a_client_of_another_schema_is_refused(self):
        self.refused(larder.InvalidError, "SCHEMA_MISMATCH", self.kind, self.daemon.socket,
                     schema_version="7.0.0")


class BlockingTests(ClientTests, unittest.TestCase):
    kind = Blocking

    def test_threads_share_a_client(self):
        client, failures = self.client.client, []
        live = client.observe(Count("Book"))
        self.assertEqual(next(live).rows, [{"count": 0}])

        def work(number):
            try:
                for n in range(10):
                    book = client.insert("Book", {"title": f"{number}-{n}"})
                    if client.get(book)["title"] != f"{number}-{n}":
                        failures.append(book)
                    client.fetch("Book", limit=50)
            except Exception as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        self.assertEqual((failures, client.count("Book")), ([], 200))
        count = 0
        while count < 200:
            count = live.next(SECONDS).rows[0]["count"]
        # Another thread ends a loop that waits.
        threading.Timer(0.05, live.close).start()
        self.assertEqual(list(live), [])

    def test_a_forked_process_has_a_connection_of_its_own(self):
        self.client.ping()
        child = os.fork()
        if child == 0:
            try:
                self.client.client.insert("Book", {"title": "child"})
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.client.count("Book", "title == 'child'"), 1)


class AsynchronousTests(ClientTests, unittest.TestCase):
    kind = Asynchronous

    def test_tasks_share_a_client(self):
        client = self.client.client

        async def work(number):
            book = await client.insert("Book", {"title": f"{number}"})
            return (await client.get(book))["title"]

        async def works():
            return await asyncio.gather(*(work(n) for n in range(200)))
        self.assertEqual(self.client.run(works()), [f"{n}" for n in range(200)])

    def test_rows_may_arrive_asynchronously(self):
        async def rows():
            for n in range(12):
                await asyncio.sleep(0)
                yield {"title": f"{n}"}
        self.assertEqual(self.client.insert_many("Book", rows()).row_count, 12)

    def test_a_cancelled_task_leaves_the_connection_usable(self):
        client = self.client.client

        async def cancelled():
            task = asyncio.create_task(client.fetch("Book"))
            live = client.observe(Count("Book"))
            waiting = asyncio.create_task(live.next())
            await waiting
            waiting = asyncio.create_task(live.next())
            await asyncio.sleep(0)
            for each in (task, waiting):
                each.cancel()
            await asyncio.wait([task, waiting])
            live.close()
            await client.ping()
        self.client.run(cancelled())


if __name__ == "__main__":
    unittest.main()
