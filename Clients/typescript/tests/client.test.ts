// The client with a larderd, also while it is killed and started again.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import test from "node:test";

import {
    ChangeSet, ConflictError, Decimal, HistoryToken, Json, NotFoundError, StoredDate, Url, Uuid,
    connect, newIdempotencyKey,
} from "../src/index.js";
import type {
    Client, GivenValue, HistoryPage, Identifier, Integer, LarderError, StoredObject,
} from "../src/index.js";
import { Daemon, PATIENCE, hasCode } from "./server.js";

interface Book extends StoredObject {
    title: string;
    isbn: string | null;
    pages: Integer;
    price: Decimal | null;
    published: StoredDate | null;
    rating: number | null;
    notes: unknown;
    readonly authorCount: Integer | null;
    authors?: readonly Identifier[];
}

interface Author extends StoredObject {
    name: string;
    publisher: Identifier | null;
    books?: readonly Identifier[];
}

interface Publisher extends StoredObject {
    name: string;
}

interface Entities {
    Book: Book;
    Author: Author;
    Publisher: Publisher;
}

const SCHEMA = new URL("../../tests/library.json", import.meta.url).pathname;
let daemon: Daemon;
let client: Client<Entities>;

before(async () => {
    daemon = await Daemon.start(SCHEMA);
    client = await connect<Entities>(daemon.path, {
        name: "test", author: "tester", timeout: PATIENCE, reconnectWait: PATIENCE });
});

after(async () => {
    client.close();
    await daemon.remove();
});

afterEach(async () => {
    const changes = new ChangeSet();
    for (const entity of ["Book", "Author", "Publisher"]) changes.deleteAll(entity);
    await client.save(changes);
});

/** The next item of a stream. */
async function next<Item>(stream: AsyncIterator<Item>): Promise<Item> {
    const { done, value } = await stream.next();
    assert(done !== true, "the stream has ended");
    return value as Item;
}

// Objects

test("an object is inserted, updated and deleted", async () => {
    const book = await client.insert("Book", { title: "Rain" });
    assert(book.entity === "Book" && book.store.equals(client.server.store));
    const row = await client.get<Book>(book);
    assert(row !== undefined);
    assert.deepEqual([row.title, row.pages, row["@id"], row["@version"], row.authors],
        ["Rain", 0, book, 1, []]);
    assert.equal(await client.update<Book>(book, { pages: 9 }, { ifVersion: 1 }), 2);
    await assert.rejects(client.update(book, { pages: 10 }, { ifVersion: 1 }), (error) => {
        assert(error instanceof ConflictError && error.code === "VERSION_CONFLICT");
        const [problem] = error.problems;
        assert.deepEqual([problem?.storedVersion, problem?.change], [2, 0]);
        assert.equal(problem?.conflicts[0]?.stored, 9);
        return true;
    });
    await client.delete(book);
    assert.equal(await client.get(book), undefined);
    await assert.rejects(client.delete(book), (error) =>
        error instanceof NotFoundError && error.code === "OBJECT_NOT_FOUND");
});

test("values of each type are read as they were written", async () => {
    const values: { [name: string]: GivenValue } = {
        title: "é\0", pages: 2n ** 63n - 1n, price: new Decimal("1.25"),
        published: new Date("2026-01-02T03:04:05.678Z"), cover: Uint8Array.of(0, 255),
        edition: Uuid.random(), link: new Url("https://example.org/a?b"), rating: 0.1,
        inPrint: false, notes: { a: [1, null, 2.5, "x"] }, class: null };
    const book = await client.insert("Book", values as never);
    const found = await client.get<{ [name: string]: unknown }>(book);
    for (const [name, value] of Object.entries(values)) {
        const read = found?.[name];
        if (value instanceof Date) assert.equal((read as Date).getTime(), value.getTime());
        else assert.deepEqual(read, value);
    }
    for (const [name, given, read] of [
        ["pages", 2n ** 53n - 1n, 2 ** 53 - 1], ["rating", 3, 3], ["price", 3, new Decimal(3)],
        ["price", 0.5, new Decimal("0.5")], ["notes", new Json([]), []], ["notes", [1], [1]],
        ["notes", new Json("text"), "text"], ["rating", 1e300, 1e300],
    ] as const) {
        await client.update(book, { [name]: given } as never);
        assert.deepEqual((await client.get<{ [name: string]: unknown }>(book))?.[name], read);
    }
    for (const [name, given] of [
        ["pages", 1.5], ["title", 5], ["price", "12"], ["edition", "x"], ["pages", 2 ** 60],
    ] as const) {
        await assert.rejects(
            client.update(book, { [name]: given } as never), hasCode("WRONG_TYPE"));
    }
});

test("a date with more digits than those of JavaScript is written as it was read", async () => {
    const published = new StoredDate(817543348.2476963);
    const first = await client.insert("Book", { title: "a", published });
    await client.insert("Book", { title: "b", published: new StoredDate(817543348.2479) });
    const [row] = await client.fetch("Book", { sort: ["published", "title"], limit: 1 });
    assert(row?.published instanceof StoredDate);
    assert.equal(row.published.seconds, published.seconds);
    // A cursor, a comparison and a base value have the exact value.
    const rest = await client.fetch("Book", {
        sort: ["published", "title"], after: [row.published, row.title, row["@id"]] });
    assert.deepEqual(rest.map((each) => each.title), ["b"]);
    assert.equal(await client.count("Book", {
        where: "published == %@", arguments: [row.published] }), 1);
    await client.update<Book>(first, { title: "c" }, {
        base: { title: "a", published: row.published, pages: 0 } });
});

test("values that are undefined are absent", async () => {
    const book = await client.insert("Book", { title: "Rain", pages: 5 });
    await client.update<Book>(book, { title: "Snow", pages: undefined });
    const row = await client.get<Book>(book);
    assert.deepEqual([row?.title, row?.pages], ["Snow", 5]);
});

test("objects are read in the order of their identifiers, without deleted ones", async () => {
    const books = [];
    for (const title of ["a", "b", "c"]) books.push(await client.insert("Book", { title }));
    await client.delete(books[1]!);
    const [a, b, c] = books as [Identifier, Identifier, Identifier];
    const found = await client.getMany<Book>([c, b, a, c], ["title"]);
    assert.deepEqual(found.map((each) => each.title), ["c", "a", "c"]);
    assert.deepEqual(Object.keys(found[0]!).sort(), ["@id", "@version", "title"]);
});

// Queries

async function library(): Promise<{ ann: Identifier; bob: Identifier }> {
    const changes = new ChangeSet();
    const ann = changes.insert("Author", { name: "Ann" });
    const bob = changes.insert("Author", { name: "Bob" });
    for (const [title, pages, author] of [
        ["Rain", 100, ann], ["Snow", 200, ann], ["Wind", 300, bob], ["Sun", null, bob],
    ] as const) {
        changes.insert("Book", { title, pages: pages ?? 0, rating: pages, authors: [author] });
    }
    const saved = await client.save(changes);
    return { ann: saved.identifier(ann), bob: saved.identifier(bob) };
}

test("queries have each clause", async () => {
    await library();
    const titles = async (query: Parameters<typeof client.fetch>[1]): Promise<string[]> =>
        (await client.fetch("Book", query as object)).map((each) => each.title);
    assert.deepEqual(await titles({ where: "pages >= %@ AND title != %@", arguments: [200, "Sun"],
        sort: ["title"] }), ["Snow", "Wind"]);
    assert.deepEqual(await titles({ where: "title IN %@", arguments: [["Sun", "Rain"]],
        sort: [{ term: "title", descending: true }] }), ["Sun", "Rain"]);
    assert.deepEqual(await titles({ where: "title == $t", variables: { t: "Sun" } }), ["Sun"]);
    assert.deepEqual(await titles({ where: "ANY authors.name == 'Ann'", sort: ["pages"], limit: 1,
        offset: 1 }), ["Snow"]);
    assert.deepEqual(await titles({ sort: [{ term: "rating", nils: "last" }, "title"] }),
        ["Rain", "Snow", "Wind", "Sun"]);
    assert.equal(await client.count("Book", { where: "pages > %@", arguments: [100] }), 2);
    const columns = await client.fetch("Book", {
        columns: { t: "title", n: "pages * 2" }, sort: ["title"], limit: 1 });
    assert.deepEqual([columns[0]?.["t"], columns[0]?.["n"], columns[0]?.["@id"]?.entity],
        ["Rain", 200, "Book"]);
    assert.deepEqual(await client.fetch("Book", {
        columns: ["authors.@count"], distinct: true }), [{ "authors.@count": 1 }]);
    const identifiers = await client.fetch("Book", { columns: [] });
    assert.deepEqual(Object.keys(identifiers[0]!), ["@id", "@version"]);
    assert.deepEqual(await client.aggregate("Book", {
        groupBy: { author: "authors.@min.name" }, sort: ["author"], having: "books >= %@",
        arguments: [2], columns: {
            books: "count", longest: { name: "maximum", term: "pages" },
            long: { name: "count", where: "pages > 150" } } }), [
        { author: "Ann", books: 2, longest: 200, long: 1 },
        { author: "Bob", books: 2, longest: 300, long: 1 }]);
});

test("pages of a result continue after the last object", async () => {
    await client.insertMany("Book", Array.from({ length: 25 }, (_, n) => ({
        title: `t${n % 5}`, pages: n })));
    const seen: Integer[] = [];
    for (let after: readonly GivenValue[] = []; ;) {
        const page = await client.fetch("Book", { sort: ["title"], limit: 10, after });
        seen.push(...page.map((each) => each.pages));
        const last = page.at(-1);
        if (last === undefined) break;
        after = [last.title, last["@id"]];
    }
    assert.equal(new Set(seen).size, 25);
    assert.equal(seen.length, 25);
});

test("queries that are not valid are typed errors with a hint and a column", async () => {
    await assert.rejects(client.fetch("Book", { where: "titel == 1" }), (error) => {
        hasCode("UNKNOWN_PROPERTY")(error);
        const { hint, column, number } = error as LarderError;
        assert.deepEqual([hint, column, number], ['did you mean "title"?', 1, 300]);
        return true;
    });
    for (const [call, code] of [
        [client.fetch("Book", { where: "title ==" }), "MALFORMED_PREDICATE"],
        [client.fetch("Bok" as "Book"), "UNKNOWN_ENTITY"],
        [client.fetch("Book", { where: "title == %@", arguments: [] }), "MALFORMED_PREDICATE"],
        [client.stream("Book", { where: "pages == 'x'" }).next(), "WRONG_TYPE"],
        [client.observe("Book", { offset: 1 }).next(), "UNSUPPORTED"],
    ] as const) {
        await assert.rejects(call, hasCode(code));
    }
});

test("a stream reads a long result in parts, and frees its request when it is left", async () => {
    const rows = Array.from({ length: 9_000 }, (_, n) => ({
        title: `the title of book ${n}`, pages: n }));
    const inserted = await client.insertMany("Book", rows);
    assert.deepEqual([inserted.rowCount, inserted.identifiers.length], [9_000, 0]);
    const stream = client.stream("Book", { sort: ["pages"] });
    let count = 0;
    for await (const { pages } of stream) {
        assert.equal(pages, count);
        count += 1;
    }
    assert.equal(count, 9_000);
    assert(stream.partCount > 4);
    assert.equal((await stream.next()).done, true);
    // Each would leave a request in flight, if it were not ended.
    for (let round = 0; round < 50; round += 1) {
        for await (const _ of client.stream("Book")) break;
    }
    const closed = client.stream("Book");
    await closed.next();
    closed.close();
    assert.equal((await closed.next()).done, true);
    await assert.rejects((async () => {
        for await (const _ of client.stream("Book")) throw new Error("enough");
    })(), (error) => (error as Error).message === "enough");
    await client.ping();
});

test("many calls at the same time wait for each other where they have to", async () => {
    const books = await Promise.all(Array.from({ length: 200 }, (_, n) =>
        client.insert("Book", { title: "x", pages: n })));
    assert.equal(new Set(books.map(String)).size, 200);
    const streams = Array.from({ length: 20 }, () => client.stream("Book"));
    await Promise.all(streams.map((each) => each.next()));
    const found = await Promise.all(books.map((each) => client.get<Book>(each)));
    assert.deepEqual(found.map((each) => each?.pages), books.map((_, n) => n));
    for (const each of streams) each.close();
    // The writes were sent in the order of the calls.
    const keys = books.map((each) => Number(each.key));
    assert.deepEqual(keys, [...keys].sort((left, right) => left - right));
});

// Change sets

test("a change set is one transaction, and is applied once under its key", async () => {
    const changes = new ChangeSet({ idempotencyKey: newIdempotencyKey(), author: "import" });
    const ann = changes.insert("Author", { name: "Ann" });
    const book = changes.insert("Book", { title: "Rain", authors: [ann] });
    const first = await client.save(changes);
    assert.deepEqual(await client.save(changes), first);
    assert.equal(await client.count("Author"), 1);
    const author = first.identifier(ann);
    assert.deepEqual((await client.get<Book>(first.identifier(book)))?.authors, [author]);
    const other = new ChangeSet({ idempotencyKey: changes.options.idempotencyKey! });
    other.insert("Author", { name: "Bob" });
    await assert.rejects(client.save(other), hasCode("IDEMPOTENCY_MISMATCH"));
    assert.throws(() => first.identifier(other.insert("Author")), hasCode("OBJECT_NOT_FOUND"));
    const wrong = new ChangeSet();
    wrong.insert("Author", { name: "Cid" });
    wrong.insert("Book", {});
    wrong.insert("Book", { title: "x", pages: -1 });
    await assert.rejects(client.save(wrong), (error) => {
        const { problems } = error as LarderError;
        assert.deepEqual(problems.map((each) => [each.change, each.code, each.rule]), [
            [1, "MISSING_VALUE", "optional"], [2, "VALIDATION_FAILED", "minimum"]]);
        return true;
    });
    assert.equal(await client.count("Author"), 1);
    const [transaction] = (await client.history({
        after: client.server.token(Number(first.transaction) - 1), limit: 1 })).transactions;
    assert.deepEqual([transaction?.author, transaction?.client], ["import", "test"]);
});

test("the edits of a list keep those of others, and have a position", async () => {
    const { ann, bob } = await library();
    const cid = await client.insert("Author", { name: "Cid" });
    const book = await client.insert("Book", { title: "x", authors: [ann] });
    const authors = async (): Promise<readonly Identifier[] | undefined> =>
        (await client.get<Book>(book))?.authors;
    const edit = (edits: Parameters<typeof client.update>[2]): Promise<Integer> =>
        client.update(book, {}, edits);
    await edit({ edits: [{ kind: "add", relationship: "authors", objects: [bob], before: ann }] });
    await edit({ edits: [{ kind: "add", relationship: "authors", objects: [cid], index: 1 }] });
    assert.deepEqual(await authors(), [bob, cid, ann]);
    await edit({ edits: [
        { kind: "move", relationship: "authors", objects: [ann], end: "first" },
        { kind: "remove", relationship: "authors", objects: [bob] }] });
    assert.deepEqual(await authors(), [ann, cid]);
    await edit({ edits: [{ kind: "move", relationship: "authors", objects: [ann], after: cid }] });
    assert.deepEqual(await authors(), [cid, ann]);
    await assert.rejects(edit({ edits: [
        { kind: "add", relationship: "authors", objects: [bob], index: 0, end: "last" }] }),
    hasCode("INVALID_CHANGE_SET"));
});

test("conflicts are resolved by the policy, and upserts update", async () => {
    const book = await client.insert("Book", { title: "a", isbn: "1" });
    await client.update<Book>(book, { title: "b" });
    await assert.rejects(client.update<Book>(book, { title: "c" }, { base: { title: "a" } }),
        hasCode("VERSION_CONFLICT"));
    await client.update<Book>(book, { title: "c", pages: 5 }, {
        base: { title: "a", pages: 0 }, mergePolicy: "storeWins" });
    const merged = await client.get<Book>(book);
    assert.deepEqual([merged?.title, merged?.pages], ["b", 5]);
    await assert.rejects(client.insert("Book", { title: "x", isbn: "1" }),
        hasCode("UNIQUENESS_VIOLATED"));
    const same = await client.insert("Book", { title: "d", isbn: "1" }, { upsert: true });
    assert(same.equals(book));
});

test("changes by predicate apply to all objects that match", async () => {
    await library();
    const updated = await client.updateAll("Book", { rating: 5 }, {
        where: "pages >= %@", arguments: [200], expressions: { pages: "pages + 1" },
        wantsIdentifiers: true });
    assert.deepEqual([updated.count, updated.identifiers.length], [2, 2]);
    assert.equal(await client.count("Book", { where: "rating == 5 AND pages IN {201, 301}" }), 2);
    const first = await client.updateAll("Book", { title: "first" }, { sort: ["title"], limit: 1 });
    assert.equal(first.count, 1);
    assert.equal((await client.deleteAll("Book", { where: "pages > 0" })).count, 3);
    const changes = new ChangeSet();
    changes.expect(1, "Book");
    changes.unless("Book", { where: "title == %@", arguments: ["Sun"] });
    changes.insert("Book", { title: "never" });
    await assert.rejects(client.save(changes), (error) => {
        hasCode("CONDITION_FAILED")(error);
        const [problem] = (error as LarderError).problems;
        assert.deepEqual([problem?.condition, problem?.found], [1, 1]);
        return true;
    });
});

test("a long change set is sent in parts", async () => {
    const changes = new ChangeSet({ idempotencyKey: newIdempotencyKey() });
    const made = Array.from({ length: 25_000 }, (_, n) =>
        changes.insert("Book", { title: `a title of some length, and the number ${n}` }));
    const saved = await client.save(changes);
    assert.equal(saved.inserted.length, 25_000);
    const last = await client.get<Book>(saved.identifier(made.at(-1)!));
    assert.equal(last?.title, "a title of some length, and the number 24999");
    assert.deepEqual(await client.save(changes), saved);
    assert.equal(await client.count("Book"), 25_000);
});

// Insert streams

test("a stream of rows is stored in parts or as one transaction", async () => {
    async function* rows(): AsyncGenerator<{ title: string; pages: number }> {
        for (let n = 0; n < 12_000; n += 1) yield { title: `book ${n}`, pages: n };
    }
    const inserted = await client.insertMany("Book", rows(), { wantsIdentifiers: true });
    assert.deepEqual([inserted.rowCount, inserted.identifiers.length], [12_000, 12_000]);
    assert.equal((await client.get<Book>(inserted.identifiers[11_999]!))?.pages, 11_999);
    await client.deleteAll("Book");
    const bad = Array.from({ length: 6_000 }, (_, n) => ({
        title: "x", pages: n === 5_900 ? -1 : n }));
    await assert.rejects(client.insertMany("Book", bad, { atomic: true }), (error) => {
        hasCode("VALIDATION_FAILED")(error);
        assert.equal((error as LarderError).problems[0]?.change, 5_900);
        return true;
    });
    assert.equal(await client.count("Book"), 0);
    await assert.rejects(client.insertMany("Book", bad), hasCode("VALIDATION_FAILED"));
    assert.equal(await client.count("Book"), 5_000);
    const none = await client.insertMany("Book", []);
    assert.deepEqual([none.rowCount, none.transaction], [0, 0]);
    await assert.rejects(client.insertMany("Book", (function* () {
        yield { title: "x" };
        throw new Error("enough");
    })(), { atomic: true }), (error) => (error as Error).message === "enough");
    assert.equal(await client.count("Book"), 5_000);
});

test("rows with relationships and unique values", async () => {
    const ann = await client.insert("Author", { name: "Ann" });
    await client.insertMany("Book", [
        { title: "a", isbn: "1", authors: [ann], published: new Date(0), price: 5 },
        { title: "b", isbn: "2", authors: [], published: null, price: new Decimal("0.50") }]);
    await client.insertMany("Book", [{ title: "c", isbn: "2" }], { upsert: true });
    const found = await client.fetch("Book", { sort: ["isbn"] });
    assert.deepEqual(found.map((each) => [each.title, String(each.price), each.authorCount]),
        [["a", "5", 1], ["c", "0.5", 0]]);
    const aborted = new AbortController();
    await assert.rejects(client.insertMany("Book", (function* () {
        yield { title: "d" };
        aborted.abort();
        for (let n = 0; n < 5_000; n += 1) yield { title: "d" };
    })(), { signal: aborted.signal, atomic: true }), hasCode("INDETERMINATE", "CANCELLED"));
    assert.equal(await client.count("Book"), 2);
});

// Live queries and the history

test("an observed query reports each change with the indexes of the rows", async () => {
    const { ann } = await library();
    const live = client.observe("Book", { where: "pages > 0", sort: ["pages"] });
    const first = await next(live);
    assert.deepEqual(first.rows.map((each) => each.title), ["Rain", "Snow", "Wind"]);
    assert.equal(first.differences, undefined);
    const rain = first.rows[0]!["@id"];
    await client.update<Book>(rain, { pages: 400 });
    const second = await next(live);
    assert.deepEqual(second.rows.map((each) => each.pages), [200, 300, 400]);
    assert.deepEqual(second.differences, {
        inserted: [], deleted: [], updated: [], moved: [{ from: 0, to: 2 }] });
    await client.delete(rain);
    assert.deepEqual((await next(live)).differences?.deleted, [2]);
    live.close();
    const sections = client.observe("Book", { sectionedBy: "authorCount", sort: ["title"] });
    await client.update<Author>(ann, { books: [] });
    let found = await next(sections);
    while (found.sections.length < 2) found = await next(sections);
    assert.deepEqual(found.sections.map((each) => [each.value, each.rows.map((row) => row.title)]),
        [[0, ["Snow"]], [1, ["Sun", "Wind"]]]);
    sections.close();
});

test("observed counts, aggregates and columns are sent again", async () => {
    const counts = client.observeCount("Book", { where: "pages > 1" });
    const longest = client.observeAggregate("Book", {
        columns: { most: { name: "maximum", term: "pages" } } });
    const titles = client.observe("Book", { columns: ["title"], distinct: true });
    assert.equal(await next(counts), 0);
    assert.equal((await next(longest)).rows[0]?.["most"], null);
    assert.deepEqual((await next(titles)).rows, []);
    await client.insert("Book", { title: "a", pages: 5 });
    assert.equal(await next(counts), 1);
    assert.equal((await next(longest)).rows[0]?.["most"], 5);
    assert.deepEqual((await next(titles)).rows, [{ title: "a" }]);
    for (const each of [counts, longest, titles]) each.close();
});

test("the history has each transaction, and is followed in order", async () => {
    const start = await client.currentToken();
    const ann = await client.insert("Author", { name: "Ann" });
    await client.update<Author>(ann, { name: "Anna" });
    await client.delete(ann);
    const { transactions, position, isCurrent } = await client.history({ after: start });
    assert.deepEqual(transactions.flatMap((each) => each.changes.map(
        ({ kind, properties }) => [kind, properties])),
    [["inserted", []], ["updated", ["name"]], ["deleted", []]]);
    assert.deepEqual(transactions[2]?.tombstones, [{ identifier: ann, values: { name: "Anna" } }]);
    assert(isCurrent && transactions[0]?.author === "tester");
    const newest = await client.history({ newestFirst: true, limit: 1 });
    assert.equal(newest.transactions[0]?.number, transactions[2]?.number);
    const filtered = await client.history({
        after: start, kinds: ["updated"], entities: ["Author"], includesChanges: false });
    assert.deepEqual(filtered.transactions.map((each) => each.number), [transactions[1]?.number]);
    const nothing = await client.history({ after: start, authors: ["nobody"] });
    assert.deepEqual(nothing.transactions, []);
    const text = String(position);
    const feed = client.follow({ after: HistoryToken.parse(text) });
    const book = await client.insert("Book", { title: "x" });
    const page = await next(feed);
    assert.equal(page.transactions[0]?.changes[0]?.firstKey, book.key);
    feed.close();
    for (const [token, code] of [
        [new HistoryToken(Uuid.random(), position.epoch, 1), "FOREIGN_TOKEN"],
        [client.server.token(1e12), "FUTURE_TOKEN"]] as const) {
        await assert.rejects(client.history({ after: token }), hasCode(code));
        await assert.rejects(client.follow({ after: token }).next(), hasCode(code));
    }
});

test("a follower and an observer continue after the server was killed", async () => {
    const start = await client.currentToken();
    const feed = client.follow({ after: start });
    const live = client.observe("Book", { sort: ["title"] });
    const unread = client.stream("Book");
    await client.insert("Book", { title: "a" });
    const numbers: Integer[] = [];
    const read = async (count: number): Promise<void> => {
        while (numbers.length < count) {
            const page: HistoryPage = await next(feed);
            numbers.push(...page.transactions.map((each) => each.number));
        }
    };
    await read(1);
    assert.deepEqual((await next(live)).rows.map((each) => each.title), ["a"]);
    await next(unread);
    await daemon.end("SIGKILL");
    const waiting = client.insert("Book", { title: "b" }, { idempotencyKey: newIdempotencyKey() });
    await daemon.start();
    await waiting;
    let result = await next(live);
    // The state before the insert may be reported, too.
    while (result.rows.length < 2) result = await next(live);
    assert.deepEqual(result.rows.map((each) => each.title), ["a", "b"]);
    await read(2);
    assert(numbers[0]! < numbers[1]!);
    feed.close();
    live.close();
    unread.close();
    // A graceful end, without anything under way, is not noticed by later calls.
    await daemon.end("SIGTERM");
    await daemon.start();
    assert.equal(await client.count("Book"), 2);
});

test("a program can require a schema", async () => {
    const { schemaVersion, schemaFingerprint, isReadOnly, protocolVersion } = client.server;
    assert.deepEqual([schemaVersion, isReadOnly, protocolVersion], ["1.0.0", false, 1]);
    const same = await connect(daemon.path, { schemaVersion, schemaFingerprint });
    assert.equal(JSON.parse(await same.schema()).version, "1.0.0");
    same.close();
    await assert.rejects(connect(daemon.path, { schemaVersion: "2.0.0" }),
        hasCode("SCHEMA_MISMATCH"));
});
