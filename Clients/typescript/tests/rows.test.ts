// Columns as rows, rows as columns, and the results of observed queries.

import assert from "node:assert/strict";
import test from "node:test";

import { Decimal, Identifier, LarderError, StoredDate, Url, Uuid } from "../src/index.js";
import type { Row, Value } from "../src/index.js";
import { InsertionProgress, propertyTypes } from "../src/insertion.js";
import { LiveRows } from "../src/live.js";
import * as messages from "../src/messages.js";
import { rowsOf } from "../src/rows.js";
import { decode } from "../src/decoding.js";
import { encode } from "../src/encoding.js";
import type { Draft } from "../src/wire.js";
import { Random, damaged, newSeed, randomBytes } from "./random.js";

const store = Uuid.parse("00112233-4455-6677-8899-aabbccddeeff");
const text = new TextEncoder();

function hasCode(...codes: string[]): (error: unknown) => boolean {
    return (error) => error instanceof LarderError && codes.includes(error.code);
}

/** The rows of a batch that was sent. */
function rows(batch: Draft<messages.Batch>): Row[] {
    return rowsOf(decode(messages.Batch, encode(messages.Batch, batch)), store);
}

function integers(...numbers: number[]): BigInt64Array {
    return BigInt64Array.from(numbers, BigInt);
}

test("the rows of the protocol's description are read", () => {
    const found = rows({
        rowCount: 3,
        identity: { entity: "Student", keys: integers(1, 2, 7), versions: integers(1, 1, 4) },
        columns: [
            { name: "name", type: "STRING", heap: text.encode("AnnBo"),
                ends: Uint32Array.of(3, 3, 5), nulls: Uint8Array.of(2) },
            { name: "birthOfYear", type: "INT64", integers: integers(2001, 2002, 0),
                nulls: Uint8Array.of(4) }] });
    assert.deepEqual(found, [
        { name: "Ann", birthOfYear: 2001, "@id": new Identifier(store, "Student", 1),
            "@version": 1 },
        { name: null, birthOfYear: 2002, "@id": new Identifier(store, "Student", 2),
            "@version": 1 },
        { name: "Bo", birthOfYear: null, "@id": new Identifier(store, "Student", 7),
            "@version": 4 }]);
});

test("a column of each type is read", () => {
    const heap = (value: string | Uint8Array): Draft<messages.Column> => {
        const bytes = typeof value === "string" ? text.encode(value) : value;
        return { heap: bytes, ends: Uint32Array.of(bytes.length) };
    };
    const columns: [messages.ColumnType, Draft<messages.Column>, Value][] = [
        ["BOOL", { integers: integers(1) }, true], ["INT16", { integers: integers(-5) }, -5],
        ["INT64", { integers: BigInt64Array.of(2n ** 53n) }, 2n ** 53n],
        ["DOUBLE", { doubles: Float64Array.of(1.5) }, 1.5],
        ["DATE", { doubles: Float64Array.of(1.25) }, new StoredDate(1.25)],
        ["STRING", heap("\uFEFFé\0"), "\uFEFFé\0"], ["URL", heap("a:b"), new Url("a:b")],
        ["DECIMAL", heap("-1.50"), new Decimal("-1.50")],
        ["JSON", heap('{"a":[1]}'), { a: [1] }], ["UUID", heap(store.bytes), store],
        ["DATA", heap(Uint8Array.of(0, 255)), Uint8Array.of(0, 255)],
        ["OBJECT", { entity: "Book", integers: integers(3) }, new Identifier(store, "Book", 3)],
        ["OBJECTS", { entity: "Book", integers: integers(3, 4), ends: Uint32Array.of(2),
            subentities: ["Novel"], entityIndexes: [0, 1] },
            [new Identifier(store, "Book", 3), new Identifier(store, "Novel", 4)]]];
    for (const [type, column, value] of columns) {
        const [row] = rows({ rowCount: 1, columns: [{ name: "__proto__", type, ...column }] });
        assert.deepEqual(Object.entries(row!), [["__proto__", value]], type);
    }
});

test("columns that contradict each other are errors", () => {
    const batches: Draft<messages.Batch>[] = [
        { rowCount: 2 ** 32 - 1 }, { rowCount: 1, columns: [{ name: "a" }] },
        { rowCount: 2, columns: [{ type: "BOOL", integers: integers(1) }] },
        { rowCount: 1, columns: [{ type: "STRING" }] },
        { rowCount: 1, columns: [{ type: "STRING", ends: Uint32Array.of(1) }] },
        { rowCount: 2, columns: [{ type: "DATA", heap: new Uint8Array(2),
            ends: Uint32Array.of(2, 1) }] },
        { rowCount: 1, columns: [{ type: "STRING", heap: Uint8Array.of(0xff),
            ends: Uint32Array.of(1) }] },
        { rowCount: 1, columns: [{ type: "UUID", heap: new Uint8Array(15),
            ends: Uint32Array.of(15) }] },
        { rowCount: 1, columns: [{ type: "DECIMAL", ends: Uint32Array.of(0) }] },
        { rowCount: 1, columns: [{ type: "OBJECTS", ends: Uint32Array.of(1) }] },
        { rowCount: 1, columns: [{ type: "OBJECT", integers: integers(1), entityIndexes: [1] }] },
        { rowCount: 1, columns: [{ type: "OBJECT", integers: integers(1),
            entityIndexes: [0, 0] }] },
        { rowCount: 1, identity: { keys: integers(1) } },
        { rowCount: 0, identity: { keys: integers(1), versions: integers(1) } }];
    for (const batch of batches) {
        assert.throws(() => rows(batch), hasCode("MALFORMED_MESSAGE"),
            String(batches.indexOf(batch)));
    }
});

test("random and damaged batches are rows or errors of the server", () => {
    const random = new Random(newSeed());
    for (let count = 0; count < 5_000; count += 1) {
        const bytes = damaged(randomBytes(messages.Batch, random), random);
        let batch;
        try {
            batch = decode(messages.Batch, bytes);
        } catch {
            continue;
        }
        try {
            rowsOf(batch, store);
        } catch (error) {
            assert(hasCode("MALFORMED_MESSAGE", "MALFORMED_VALUE")(error), String(error));
        }
    }
});

const schema = JSON.stringify({ entities: [
    { name: "Medium", attributes: [
        ...["bool", "int16", "int64", "float", "double", "decimal", "string", "date", "uuid", "url",
            "data", "json"].map((type) => ({ name: type, type }))] },
    { name: "Book", parent: "Medium", relationships: [
        { name: "one", destination: "Medium" },
        { name: "many", destination: "Medium", toMany: true }] }] });

test("rows become columns that are read as the same rows", () => {
    const progress = new InsertionProgress("Book", propertyTypes(schema, "Book"), store);
    const book = new Identifier(store, "Book", 1);
    const medium = new Identifier(store, "Medium", 2);
    const first = {
        bool: true, int16: -1, int64: 2n ** 63n - 1n, float: 0.5, double: 0.1,
        decimal: new Decimal("1.50"), string: "é", date: new StoredDate(1.5), uuid: store,
        url: new Url("a:b"), data: Uint8Array.of(1, 2), json: { a: 1 }, one: book,
        many: [book, medium] };
    const nothing = Object.fromEntries(Object.keys(first).map((name) => [name, null]));
    const third = { ...first, string: "", data: new Uint8Array(), many: [], one: medium, json: [] };
    for (const row of [first, nothing, third]) progress.append(row);
    const part = progress.nextPart(9n, true);
    assert(part.batch !== undefined && part.last === true && part.requestId === 9n);
    assert.deepEqual(rows(part.batch), [first, nothing, third]);
});

test("rows that do not fit are errors with their index", () => {
    const book = new Identifier(Uuid.random(), "Book", 1);
    const wrong: [{ [name: string]: never }, string][] = [
        [{ int64: "1" as never }, "WRONG_TYPE"], [{ int64: 1.5 as never }, "MALFORMED_VALUE"],
        [{ int64: 2n ** 63n as never }, "MALFORMED_VALUE"], [{ bool: 1 as never }, "WRONG_TYPE"],
        [{ string: "\ud800" as never }, "MALFORMED_VALUE"],
        [{ json: 1n as never }, "MALFORMED_VALUE"],
        [{ one: book as never }, "FOREIGN_IDENTIFIER"], [{ many: [1] as never }, "WRONG_TYPE"],
        [{ date: "2001" as never }, "WRONG_TYPE"], [{ uuid: "" as never }, "WRONG_TYPE"],
        [{ titel: null as never }, "UNKNOWN_PROPERTY"]];
    for (const [row, code] of wrong) {
        const progress = new InsertionProgress("Book", propertyTypes(schema, "Book"), store);
        assert.throws(() => progress.append(row), hasCode(code), code);
    }
    const progress = new InsertionProgress("Book", propertyTypes(schema, "Book"), store);
    progress.append({ string: "a" });
    assert.throws(() => progress.append({ string: 1 }), (error) =>
        (error as Error).message.startsWith("row 1: string is of the type string"));
    for (const row of [{}, { string: "a", bool: true }, { bool: true }]) {
        assert.throws(() => progress.append(row), hasCode("MISSING_VALUE"));
    }
    assert.throws(() => propertyTypes(schema, "Bok"), hasCode("UNKNOWN_ENTITY"));
    assert.throws(() => propertyTypes("[]", "Book"), hasCode("MALFORMED_MESSAGE"));
    const cycle = JSON.stringify({ entities: [{ name: "A", parent: "A" }] });
    assert.equal(propertyTypes(cycle, "A").size, 0);
});

// Observed queries

const position = { store: store.bytes, epoch: 1n, number: 1n };

function reply(fields: Draft<messages.ObserveReply>): messages.ObserveReply {
    return decode(messages.ObserveReply, encode(messages.ObserveReply, { position, ...fields }));
}

function batchOf(...keys: number[]): Draft<messages.Batch> {
    return { rowCount: keys.length, columns: [
        { name: "n", type: "INT64", integers: integers(...keys) }] };
}

function numbers(items: readonly Row[] | undefined): Value[] | undefined {
    return items?.map((row) => row["n"]!);
}

test("a change of a result is applied as the protocol describes", () => {
    const live = new LiveRows(false);
    assert.equal(live.apply(reply({ begins: true, rows: [batchOf(1, 2)] }), store), undefined);
    const whole = live.apply(reply({ ends: true, rows: [batchOf(3, 4)] }), store);
    assert.deepEqual(numbers(whole?.rows), [1, 2, 3, 4]);
    assert.equal(whole?.differences, undefined);
    const changed = live.apply(reply({
        rows: [batchOf(3, 5, 40)], newIndexes: [0, 2, 3], oldIndexes: [3, 0, 4],
        moved: [true, false, false], deleted: [1] }), store);
    assert.deepEqual(numbers(changed?.rows), [3, 1, 5, 40]);
    assert.deepEqual(changed?.differences, {
        inserted: [2], deleted: [1], updated: [3], moved: [{ from: 2, to: 0 }] });
});

test("random changes of a result lead to the rows of a model", () => {
    const random = new Random(newSeed());
    for (let round = 0; round < 300; round += 1) {
        const live = new LiveRows(false);
        let model = Array.from({ length: random.below(8) }, () => random.below(1_000));
        live.apply(reply({ begins: true, ends: true, rows: [batchOf(...model)] }), store);
        for (let step = 0; step < 5; step += 1) {
            const deleted = [...model.keys()].filter(() => random.below(4) === 0);
            const taken = [...model.keys()].filter(
                (index) => !deleted.includes(index) && random.below(3) === 0);
            const kept = model.filter(
                (_, index) => !deleted.includes(index) && !taken.includes(index));
            const given = [...taken.map((index) => index + 1),
                ...Array.from({ length: random.below(3) }, () => 0)];
            const total = kept.length + given.length;
            const places = [...Array(total).keys()];
            while (places.length > given.length) places.splice(random.below(places.length), 1);
            const values = given.map(() => random.below(1_000));
            const rest = [...kept];
            model = Array.from({ length: total }, (_, index) => {
                const at = places.indexOf(index);
                return at < 0 ? rest.shift()! : values[at]!;
            });
            const result = live.apply(reply({
                rows: values.length > 0 ? [batchOf(...values)] : [], newIndexes: places,
                oldIndexes: given, moved: given.map(() => false), deleted }), store);
            assert.deepEqual(numbers(result?.rows), model);
        }
    }
});

test("changes that contradict the result are errors", () => {
    const wrong: Draft<messages.ObserveReply>[] = [
        { deleted: [2] }, { deleted: [1, 0] }, { deleted: [0, 0] }, { rows: [batchOf(9)] },
        { rows: [batchOf(9)], newIndexes: [3], oldIndexes: [0], moved: [false] },
        { rows: [batchOf(9)], newIndexes: [2 ** 32 - 1], oldIndexes: [0], moved: [false] },
        { rows: [batchOf(9)], newIndexes: [0], oldIndexes: [3], moved: [false] },
        { rows: [batchOf(9)], newIndexes: [0], oldIndexes: [1], moved: [false], deleted: [0] },
        { rows: [batchOf(9)], newIndexes: [0], oldIndexes: [0] },
        { rows: [batchOf(8, 9)], newIndexes: [1, 1], oldIndexes: [0, 0], moved: [false, false] },
        { rows: [batchOf(8, 9)], newIndexes: [0, 1], oldIndexes: [1, 1], moved: [false, false] },
        { position: { store: Uint8Array.of(1) } }, { position: { ...position, number: -1n } }];
    for (const fields of wrong) {
        const live = new LiveRows(false);
        assert.throws(() => live.apply(reply({}), store), hasCode("MALFORMED_MESSAGE"));
        live.apply(reply({ begins: true, ends: true, rows: [batchOf(1, 2)] }), store);
        assert.throws(() => live.apply(reply(fields), store), hasCode("MALFORMED_MESSAGE"),
            String(wrong.indexOf(fields)));
    }
});

test("the rows of a result have sections, of which nil is one", () => {
    const sections = (...names: (string | null)[]): Draft<messages.Batch> => {
        let end = 0;
        return { rowCount: names.length, columns: [{
            name: "s", type: "STRING", heap: text.encode(names.join("")),
            ends: Uint32Array.from(names, (name) => (end += name?.length ?? 0)),
            nulls: Uint8Array.of(names.reduce(
                (bits, name, row) => bits | (name === null ? 1 << row : 0), 0)) }] };
    };
    const live = new LiveRows(true);
    const first = live.apply(reply({ begins: true, ends: true, rows: [batchOf(1, 2, 3)],
        sections: sections(null, "b", "b") }), store);
    assert.deepEqual(first?.sections.map((each) => [each.value, numbers(each.rows)]),
        [[null, [1]], ["b", [2, 3]]]);
    const next = live.apply(reply({ rows: [batchOf(9)], newIndexes: [0], oldIndexes: [0],
        moved: [false], sections: sections("a") }), store);
    assert.deepEqual(next?.sections.map((each) => [each.value, numbers(each.rows)]),
        [["a", [9]], [null, [1]], ["b", [2, 3]]]);
    for (const fields of [{}, { sections: sections("a", "b") },
        { sections: { rowCount: 1, columns: [] } }]) {
        assert.throws(() => live.apply(reply({ rows: [batchOf(9)], newIndexes: [0],
            oldIndexes: [0], moved: [false], ...fields }), store), hasCode("MALFORMED_MESSAGE"));
    }
});

test("a whole result is not longer than the server allows", () => {
    const live = new LiveRows(false);
    const part: messages.ObserveReply = reply({ begins: true, rows: [
        { rowCount: 250_000, columns: [
            { name: "n", type: "BOOL", integers: new BigInt64Array(250_000) }] }] });
    live.apply(part, store);
    const next = { ...part, begins: false };
    for (let count = 0; count < 3; count += 1) live.apply(next, store);
    assert.throws(() => live.apply(next, store), hasCode("RESOURCE_EXHAUSTED"));
});
