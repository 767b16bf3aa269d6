// The encoding of messages: known bytes, random messages, and bytes that are not messages.

import assert from "node:assert/strict";
import test from "node:test";

import * as messages from "../src/messages.js";
import { MESSAGES_MAX, decode } from "../src/decoding.js";
import { encode, encodedText } from "../src/encoding.js";
import { WireError } from "../src/wire.js";
import type { Draft, MessageType } from "../src/wire.js";
import { Random, damaged, newSeed, randomBytes, randomMessage } from "./random.js";

const CASES = 3_000;
const types = Object.values(messages as { [name: string]: unknown }).filter(
    (each): each is MessageType<unknown> => (each as { kind?: string }).kind === "message");

function hex(bytes: Uint8Array): string {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

function isWireError(error: unknown): boolean {
    return error instanceof WireError;
}

test("the bytes of a message are those of the protocol's description", () => {
    const ping = encode(messages.Envelope, { id: 1n, body: { case: "ping", value: {} } });
    assert.equal(hex(ping), "08 01 8a 01 00");
    const column = encode(messages.Column, { integers: BigInt64Array.of(2001n, 2002n) });
    assert.equal(hex(column), "22 10 d1 07 00 00 00 00 00 00 d2 07 00 00 00 00 00 00");
    const value = (kind: NonNullable<messages.Value["kind"]>): string =>
        hex(encode(messages.Value, { kind }));
    assert.equal(value({ case: "intValue", value: -1n }), "18 01");
    assert.equal(value({ case: "intValue", value: -(2n ** 63n) }),
        "18 ff ff ff ff ff ff ff ff ff 01");
    assert.equal(value({ case: "boolValue", value: false }), "10 00");
    assert.equal(hex(encode(messages.HistoryTransaction, { number: -2n, process: -1 })),
        "08 fe ff ff ff ff ff ff ff ff 01 30 ff ff ff ff ff ff ff ff ff 01");
});

test("random messages of all types are decoded as they were encoded", () => {
    const random = new Random(newSeed());
    assert(types.length > 70);
    for (let count = 0; count < CASES; count += 1) {
        const type = random.pick(types);
        const bytes = encode(type, randomMessage(type, random) as Draft<unknown>);
        const found = decode(type, bytes);
        // A decoded message also has the defaults; both have the same bytes.
        assert.equal(hex(encode(type, found as Draft<unknown>)), hex(bytes), type.name);
        assert.deepEqual(decode(type, encode(type, found as Draft<unknown>)), found, type.name);
    }
});

test("a message that is cut off or damaged is an error or another message", () => {
    const random = new Random(newSeed());
    let errorCount = 0;
    for (let count = 0; count < CASES; count += 1) {
        const bytes = damaged(randomBytes(messages.Envelope, random), random);
        try {
            decode(messages.Envelope, bytes);
        } catch (error) {
            assert(isWireError(error), String(error));
            errorCount += 1;
        }
    }
    assert(errorCount > CASES / 10);
});

test("unknown fields are ignored, and unknown enumerators and groups are errors", () => {
    const unknown = [0x98, 0x06, 0x07, 0x9a, 0x06, 0x01, 0x00, 0x9d, 0x06, 0, 0, 0, 0, 0x99, 0x06,
        0, 0, 0, 0, 0, 0, 0, 0];
    assert.deepEqual(decode(messages.Statistic, Uint8Array.from(unknown)), { name: "" });
    for (const bytes of [
        [0x10, 0x63], // an enumerator
        [0x9b, 0x06], // a group
        [0x08, 0x00], // a text as a number
        [0x0a, 0x01, 0xff], // not UTF-8
        [0x0a, 0x05, 0x61], // cut off
        [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00], // too long
        [0x21, 0, 0, 0, 0, 0, 0, 0, 0], // a number that is not packed
        [0x22, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 0x22, 0x08, 0, 0, 0, 0, 0, 0, 0, 0], // in parts
        [0x22, 0x07, 0, 0, 0, 0, 0, 0, 0], // a part of a number
    ]) {
        assert.throws(() => decode(messages.Column, Uint8Array.from(bytes)), isWireError,
            hex(Uint8Array.from(bytes)));
    }
});

test("small numbers may be packed or not", () => {
    const packed = Uint8Array.of(0x22, 0x02, 0x01, 0x02);
    const single = Uint8Array.of(0x20, 0x01, 0x20, 0x02);
    for (const bytes of [packed, single]) {
        assert.deepEqual(decode(messages.SaveReply, bytes).merged, [1, 2]);
    }
});

test("the number of messages in a message is limited", () => {
    const bytes = new Uint8Array(2 * MESSAGES_MAX);
    for (let at = 0; at < bytes.length; at += 2) bytes[at] = 0x0a;
    const within = decode(messages.ValueList, bytes.subarray(0, 2 * (MESSAGES_MAX - 1)));
    assert.equal(within.items.length, MESSAGES_MAX - 1);
    assert.throws(() => decode(messages.ValueList, bytes), isWireError);
});

test("a text that is not of Unicode is an error", () => {
    for (const text of ["\ud800", "a\udc00b", "\udc00\ud800"]) {
        assert.throws(() => encodedText(text), isWireError);
    }
    assert.equal(encodedText("\u{1F600}").length, 4);
});
