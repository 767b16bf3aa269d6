// Values, identifiers and tokens: from JavaScript to the protocol and back.

import assert from "node:assert/strict";
import test from "node:test";

import {
    Decimal, HistoryToken, Identifier, Json, LarderError, StoredDate, TemporaryIdentifier, Url,
    Uuid,
} from "../src/index.js";
import type { GivenValue } from "../src/index.js";
import * as messages from "../src/messages.js";
import { dateOf, jsonText, secondsOf, valueMessage, valueOfMessage } from "../src/values.js";
import { decode } from "../src/decoding.js";
import { encode } from "../src/encoding.js";

const store = Uuid.parse("00112233-4455-6677-8899-AABBCCDDEEFF");
const book = new Identifier(store, "Book", 5);

function hasCode(...codes: string[]): (error: unknown) => boolean {
    return (error) => error instanceof LarderError && codes.includes(error.code);
}

/** A value as it is when it has been to the server. */
function returned(value: GivenValue): unknown {
    return valueOfMessage(decode(messages.Value, encode(messages.Value, valueMessage(value))));
}

test("a value of each type is converted and back", () => {
    const values: GivenValue[] = [
        null, true, false, 0, -1, 200, 2 ** 53 - 1, -(2 ** 53 - 1), 2n ** 53n, 2n ** 63n - 1n,
        -(2n ** 63n), 1.5, -0, 1e300, Infinity, "", "é\0\u{1F600}", new Decimal("-12.50"),
        store, new Url("https://example.org/?a=%20"), Uint8Array.of(0, 255), book, [],
        [book, book], { a: [1, null, 2.5, "x"], b: {} }, [1, 2], ["a"], new Date(0),
        new StoredDate(817543348.2476963)];
    for (const value of values) assert.deepEqual(
        returned(value), value instanceof Date ? dateOf(secondsOf(value)) : value);
    assert(Object.is(returned(-0), -0));
    // An integer is a number if that is exact.
    assert.equal(returned(5n), 5);
    assert.equal(returned(new Json("text")), "text");
    assert.deepEqual(returned(new Json([])), []);
});

test("values that no attribute can have are errors", () => {
    for (const value of [
        NaN, 2n ** 63n, -(2n ** 63n) - 1n, new Date(NaN), { a: NaN }, { b: [undefined] },
        { a: 1n }, { a: new Date(0) }, { a: new Map() }, { a: () => 1 }, [1, book]]) {
        assert.throws(() => valueMessage(value as GivenValue), hasCode("MALFORMED_VALUE"));
    }
    for (const value of [undefined, () => 1, Symbol("a"), new Map(), /a/, new (class A {})()]) {
        assert.throws(() => valueMessage(value as GivenValue), hasCode("WRONG_TYPE"));
    }
    const cycle: { [name: string]: unknown } = {};
    cycle["a"] = cycle;
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    for (const document of [cycle, deep]) {
        assert.throws(() => jsonText(document), hasCode("MALFORMED_VALUE"));
    }
});

test("an undefined property of a document is absent", () => {
    assert.equal(jsonText({ a: 1, b: undefined }), '{"a":1}');
});

test("decimal numbers are texts of at most 38 digits", () => {
    for (const [given, text] of [
        ["1E-7", "1e-7"], [12, "12"], [-0.5, "-0.5"], [2n ** 64n, "18446744073709551616"],
        ["000" + "9".repeat(38) + "000", "000" + "9".repeat(38) + "000"]] as const) {
        assert.equal(new Decimal(given).text, text);
    }
    for (const given of ["", ".5", "5.", "1e", "0x1", "١", "1\n", NaN, Infinity, "9".repeat(39),
        "1." + "0".repeat(38) + "1"]) {
        assert.throws(() => new Decimal(given), hasCode("MALFORMED_VALUE"));
    }
    assert(new Decimal("1.5").equals(new Decimal("1.5")) && !new Decimal(1).equals(1));
    assert.equal(new Decimal("1.5").valueOf() * 2, 3);
});

test("a date that was read is written with its exact value until it is changed", () => {
    const seconds = 817543348.2476963;
    const date = dateOf(seconds);
    assert.equal(date.toISOString(), "2026-11-28T07:22:28.248Z");
    assert.equal(secondsOf(date), seconds);
    date.setTime(date.getTime() + 1);
    assert.equal(secondsOf(date), 817543348.249);
    assert.equal(secondsOf(new Date("2001-01-01T00:00:01.250Z")), 1.25);
    // The years of the store are more than those of Date.
    for (const given of [8.64e12 + 1e9, -1e300]) {
        assert.throws(() => dateOf(given), hasCode("MALFORMED_VALUE"));
    }
    for (const given of [NaN, Infinity]) {
        assert.throws(() => dateOf(given), hasCode("MALFORMED_MESSAGE"));
    }
});

test("values of the server that are not valid are errors", () => {
    const kinds: NonNullable<messages.Value["kind"]>[] = [
        { case: "decimalValue", value: "1,5" }, { case: "uuidValue", value: Uint8Array.of(1) },
        { case: "jsonValue", value: "{" }, { case: "jsonValue", value: "" },
        { case: "dateValue", value: NaN },
        { case: "objectValue", value: { store: store.bytes, entity: "Book" } },
        { case: "objectValue", value: {
            store: store.bytes, entity: "Book", name: { case: "key", value: 0n } } },
        { case: "objectValue", value: {
            store: Uint8Array.of(1), entity: "Book", name: { case: "key", value: 1n } } }];
    for (const kind of kinds) {
        assert.throws(() => valueOfMessage({ kind }), hasCode("MALFORMED_MESSAGE"));
    }
    assert.throws(() => valueOfMessage({}), hasCode("MALFORMED_MESSAGE"));
});

test("identifiers are texts, and equal if their texts are", () => {
    const uri = "x-coredata://00112233-4455-6677-8899-AABBCCDDEEFF/Book/p5";
    assert.equal(book.uri, uri);
    assert.equal(JSON.stringify(book), JSON.stringify(uri));
    assert(Identifier.parse(uri.toLowerCase().replace("book", "Book")).equals(book));
    assert.equal(Identifier.parse(uri.replace("p5", "p9223372036854775807")).key, 2n ** 63n - 1n);
    for (const text of [
        "", uri + "0000000000000000000", uri.replace("p5", "p0"), uri.replace("p5", "p05"),
        uri.replace("p5", "p9223372036854775808"), uri + "\n", uri.replace("Book", "Bo/ok"),
        uri.replace("00", "0g"), uri.slice(1), null, 5]) {
        assert.throws(() => Identifier.parse(text as string), hasCode("MALFORMED_IDENTIFIER"));
    }
    assert(!book.equals(new TemporaryIdentifier("Book", "t1")));
});

test("UUIDs are texts and bytes", () => {
    assert.equal(store.text, "00112233-4455-6677-8899-aabbccddeeff");
    assert.deepEqual(Uuid.fromBytes(store.bytes), store);
    assert(!Uuid.random().equals(Uuid.random()));
    assert.throws(() => Uuid.parse("00112233"), hasCode("MALFORMED_VALUE"));
    assert.throws(() => Uuid.fromBytes(Uint8Array.of(1)), hasCode("MALFORMED_VALUE"));
});

test("history tokens are texts", () => {
    const token = new HistoryToken(store, -(2n ** 63n), 7);
    const text = "00112233-4455-6677-8899-AABBCCDDEEFF-e-9223372036854775808-n7";
    assert.equal(String(token), text);
    assert(HistoryToken.parse(text).equals(token));
    for (const wrong of ["", text + "x", text.replace("n7", "n-7"), text.replace("e-", "e--"),
        text.replace("n7", "n9223372036854775808"), text.replace("808", "809"), undefined]) {
        assert.throws(() => HistoryToken.parse(wrong as string), hasCode("MALFORMED_TOKEN"));
    }
});
