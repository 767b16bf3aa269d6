// The client with a server that violates the protocol, hangs, or closes the connection.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import {
    ChangeSet, IndeterminateError, LarderError, connect, newIdempotencyKey,
} from "../src/index.js";
import type { Client, Options } from "../src/index.js";
import * as messages from "../src/messages.js";
import { encode } from "../src/encoding.js";
import type { Draft, MessageType } from "../src/wire.js";
import { Random, damaged, newSeed, randomBytes, randomMessage } from "./random.js";
import {
    Impostor, PATIENCE, failed, framed, hasCode, reply, scratchFolder, until,
} from "./server.js";
import type { Answer } from "./server.js";

const ONCE: Options = { reconnectWait: 0, timeout: PATIENCE };
const AGAIN: Options = { reconnectWait: PATIENCE, timeout: PATIENCE };

const ping = (client: Client): Promise<void> => client.ping();
const fetch = (client: Client): Promise<unknown> => client.fetch("Book");
const insert = (client: Client): Promise<unknown> => client.insert("Book", { title: "x" });

/** Makes a call to a server that replies as given, and returns the requests. */
async function withServer(
    answer: Answer, body: (client: Client, server: Impostor) => Promise<void>,
    options: Options = ONCE, welcome: Draft<messages.WelcomeReply> = {},
): Promise<Impostor> {
    const server = await Impostor.start(answer, welcome);
    try {
        const client = await connect(server.path, options);
        try {
            await body(client, server);
        } finally {
            client.close();
        }
    } finally {
        await server.close();
    }
    return server;
}

/** Checks the error of a call. */
function fails(
    answer: Answer, call: (client: Client) => Promise<unknown>, code: string,
    options: Options = ONCE, welcome: Draft<messages.WelcomeReply> = {},
): Promise<Impostor> {
    return withServer(answer, (client) => assert.rejects(call(client), hasCode(code)), options,
        welcome);
}

function saved(id: bigint, key = 5n): Uint8Array {
    return reply(id, { case: "saved", value: { inserted: [
        { store: new Uint8Array(16), entity: "Book", name: { case: "key", value: key } }] } });
}

function batches(id: bigint, more: boolean, ...list: Draft<messages.Batch>[]): Uint8Array {
    return reply(id, { case: "batches", value: { batches: list, more } });
}

function joined(...parts: Uint8Array[]): Uint8Array {
    return Buffer.concat(parts);
}

test("replies that violate the protocol end the connection with their error", async () => {
    const pong = { case: "pong", value: {} } as const;
    const answers: [string, (id: bigint) => Uint8Array][] = [
        ["FRAME_TOO_LONG", () => Uint8Array.of(1, 0, 0, 1, 8, 2)],
        ["FRAME_TOO_LONG", () => Uint8Array.of(255, 255, 255, 255)],
        ["MALFORMED_FRAME", () => framed(Uint8Array.of(255, 255))],
        ["UNKNOWN_MESSAGE", () => framed(new Uint8Array())],
        ["UNKNOWN_MESSAGE", (id) => framed({ id })],
        ["MALFORMED_MESSAGE", (id) => reply(id + 1n, pong)],
        ["MALFORMED_MESSAGE", (id) => reply(id, { case: "saved", value: {} })],
        ["RESOURCE_EXHAUSTED", () => failed(0n, "RESOURCE_EXHAUSTED")],
        ["MALFORMED_MESSAGE", () => failed(99n, "MALFORMED_MESSAGE")]];
    for (const [code, answer] of answers) {
        await withServer(({ id }) => answer(id), async (client) => {
            await assert.rejects(ping(client), hasCode(code));
            // The connection is not used again.
            await assert.rejects(ping(client), hasCode(code));
        });
    }
    await fails(() => undefined, ping, "CONNECTION_FAILED");
});

test("replies are read in parts of any length", async () => {
    const bytes = (id: bigint): Uint8Array => joined(
        batches(id, true, { rowCount: 1, columns: [
            { name: "a", type: "BOOL", integers: BigInt64Array.of(1n) }] }),
        batches(id, false, { columns: [{ name: "a", type: "BOOL" }] }));
    for (let cut = 0; cut <= bytes(2n).length; cut += 1) {
        await withServer(({ id, body }, socket) => {
            if (body?.case !== "query") return new Uint8Array();
            socket.write(bytes(id).subarray(0, cut));
            setTimeout(() => socket.write(bytes(id).subarray(cut)), 0);
            return new Uint8Array();
        }, async (client) => assert.deepEqual(await client.fetch("Book"), [{ a: true }]));
    }
});

test("columns that contradict each other are an error, and end the connection", async () => {
    const server = await withServer(({ id }) => batches(id, false, { rowCount: 2 ** 32 - 1 }),
        async (client) => {
            await assert.rejects(fetch(client), hasCode("MALFORMED_MESSAGE"));
            await assert.rejects(client.count("Book"), hasCode("MALFORMED_MESSAGE"));
            await assert.rejects(client.stream("Book").next(), hasCode("MALFORMED_MESSAGE"));
        }, AGAIN);
    assert.equal(server.count("hello"), 3);
});

test("more replies than the credit are an error", async () => {
    await fails(({ id }) => joined(...Array.from({ length: 2_000 }, () => batches(id, true))),
        (client) => client.fetch("Book"), "MALFORMED_MESSAGE");
});

test("replies to a change set that do not fit to it are errors", async () => {
    await fails(({ id }) => reply(id, { case: "saved", value: {} }), insert, "MALFORMED_MESSAGE");
    await fails(({ id }) => saved(id, 0n), insert, "MALFORMED_MESSAGE");
    const long = (client: Client): Promise<unknown> =>
        client.insert("Book", { title: "x".repeat(5 << 20) });
    const capabilities = { capabilities: ["saveInParts"] };
    const part: Answer = ({ body }) => body?.case !== "savePart" ? new Uint8Array()
        : reply(body.value.requestId, { case: "saved", value: { partCount: 99n, more: true } });
    await fails(part, long, "MALFORMED_MESSAGE", ONCE, capabilities);
    await fails(part, long, "UNSUPPORTED");
    const many: Answer = ({ body }) => body?.case !== "savePart" ? new Uint8Array()
        : reply(body.value.requestId, { case: "saved", value: {
            more: true, updatedVersions: Array.from({ length: 9 }, () => 1n) } });
    await fails(many, long, "MALFORMED_MESSAGE", ONCE, capabilities);
});

test("keys of rows that were not sent are an error", async () => {
    const schema = JSON.stringify({ entities: [
        { name: "Book", attributes: [{ name: "title", type: "string" }] }] });
    await fails(({ id, body }) => {
        switch (body?.case) {
            case "schema": return reply(id, { case: "schemaText", value: { json: schema } });
            case "rows": return reply(body.value.requestId, { case: "inserted", value: {
                rowCount: 1n, batchCount: 1n, firstKeys: BigInt64Array.of(1n),
                keyCounts: Uint32Array.of(2 ** 32 - 1) } });
            default: return new Uint8Array();
        }
    }, (client) => client.insertMany("Book", [{ title: "a" }]), "MALFORMED_MESSAGE");
});

test("the schema is read once for each connection", async () => {
    let count = 0;
    const server = await withServer(({ id, body }) => {
        if (body?.case !== "schema") return undefined;
        count += 1;
        return reply(id, { case: "schemaText", value: { json: String(count) } });
    }, async (client) => {
        assert.equal(await client.schema(), "1");
        assert.equal(await client.schema(), "1");
        await assert.rejects(insert(client), hasCode("INDETERMINATE"));
        assert.equal(await client.schema(), "2");
        assert.equal(await client.schema(), "2");
    }, AGAIN);
    assert.equal(server.count("schema"), 2);
});

test("a history that is not valid is an error", async () => {
    const position = { store: new Uint8Array(16), epoch: 1n, number: 1n };
    const replies: Draft<messages.HistoryReply>[] = [
        {}, { position: { ...position, store: Uint8Array.of(1) } },
        { position, transactions: [{ number: 1n, runs: [{ entity: "Book", firstKey: 1n }] }] },
        { position, transactions: [{ number: 1n, time: NaN }] },
        { position, transactions: [{ number: 1n, tombstones: [{ values: [{ name: "a" }] }] }] }];
    for (const value of replies) {
        await fails(({ id }) => reply(id, { case: "transactions", value }),
            (client) => client.history(), "MALFORMED_MESSAGE");
    }
    // The second part is of another transaction.
    await fails(({ id }) => joined(...[1n, 2n].map((number) => reply(id, {
        case: "transactions", value: {
            position, transactions: [{ number }], partial: true, more: true } }))),
    (client) => client.history(), "MALFORMED_MESSAGE");
});

function randomReply(random: Random): never {
    const value = (type: MessageType<unknown>): unknown => randomMessage(type, random);
    return random.pick([
        { case: "batches", value: value(messages.BatchesReply) },
        { case: "saved", value: value(messages.SaveReply) },
        { case: "transactions", value: value(messages.HistoryReply) },
        { case: "observed", value: value(messages.ObserveReply) }]) as never;
}

test("random replies end a call with a result or a typed error", async () => {
    const random = new Random(newSeed());
    const calls = [fetch, ping, insert, (client: Client) => client.history(),
        (client: Client) => client.observe("Book").next(),
        (client: Client) => client.count("Book")];
    for (let count = 0; count < 400; count += 1) {
        await withServer(({ id, body }) => {
            if (body?.case === "cancel" || body?.case === "credit") return new Uint8Array();
            const content = random.below(2) === 0
                ? damaged(randomBytes(messages.Envelope, random), random)
                : encode(messages.Envelope, { id, body: randomReply(random) });
            // The connection ends, so that no call waits.
            return joined(framed(content), Uint8Array.of(255, 255, 255, 255));
        }, async (client) => {
            try {
                await random.pick(calls)(client);
            } catch (error) {
                assert(error instanceof LarderError, String((error as Error).stack));
            }
        });
    }
});

test("a write without a key is not sent twice, and its lost reply is indeterminate", async () => {
    const server = await fails(({ body }) => body?.case === "save" ? undefined : new Uint8Array(),
        insert, "INDETERMINATE", AGAIN);
    assert.equal(server.count("save"), 1);
    await fails(() => framed(Uint8Array.of(255, 255)), insert, "INDETERMINATE");
});

test("a write with a key is sent again, with the same bytes", async () => {
    let count = 0;
    const server = await withServer(({ id }) => {
        count += 1;
        return count === 1 ? undefined : count === 2 ? failed(id, "UNAVAILABLE") : saved(id);
    }, async (client) => {
        const changes = new ChangeSet({ idempotencyKey: newIdempotencyKey() });
        const book = changes.insert("Book", { title: "x" });
        const result = await client.save(changes);
        assert.equal(result.identifier(book).key, 5);
    }, AGAIN);
    const sets = server.requests.flatMap(({ body }) => body?.case === "save" ? [body.value] : []);
    assert.equal(sets.length, 3);
    for (const each of sets) assert.deepEqual(each, sets[0]);
});

test("a write that a server refused because it stops is sent again", async () => {
    let count = 0;
    await withServer(({ id }) => {
        count += 1;
        return count === 1 ? failed(0n, "UNAVAILABLE") : saved(id);
    }, async (client) => { await insert(client); }, AGAIN);
});

test("an error after a lost reply says whether the write was executed", async () => {
    for (const [code, expected] of [
        ["VALIDATION_FAILED", "VALIDATION_FAILED"], ["TIMEOUT", "INDETERMINATE"]] as const) {
        let count = 0;
        await fails(({ id }) => {
            count += 1;
            return count === 1 ? undefined : failed(id, code);
        }, (client) => client.insert("Book", {}, { idempotencyKey: "k" }), expected, AGAIN);
    }
});

test("a read is repeated over a new connection, and for an expired snapshot", async () => {
    let count = 0;
    await withServer(({ id }) => {
        count += 1;
        return count === 1 ? undefined : count === 2 ? failed(id, "UNAVAILABLE")
            : count === 3 ? failed(id, "SNAPSHOT_EXPIRED")
            : batches(id, false, { columns: [{ name: "a", type: "BOOL" }] });
    }, async (client) => assert.deepEqual(await client.fetch("Book"), []), AGAIN);
    assert.equal(count, 4);
    await fails(({ id }) => failed(id, "SNAPSHOT_EXPIRED"), fetch, "SNAPSHOT_EXPIRED", AGAIN);
});

test("each request of a call has its trace", async () => {
    const traces: string[] = [];
    await withServer((request) => {
        traces.push(request.trace);
        return failed(request.id, "INVALID_QUERY");
    }, async (client) => {
        const options = { trace: "00-1f-2e-01" };
        const calls = [
            client.ping(options), client.fetch("Book", options), client.insert("Book", {}, options),
            client.schema(options), client.observe("Book", options).next(),
            client.follow(options).next(), client.ping()];
        const results = await Promise.allSettled(calls);
        assert(results.every((each) => each.status === "rejected"));
    });
    assert.deepEqual(traces.sort(), ["", ...Array<string>(6).fill("00-1f-2e-01")]);
});

test("a server that does not reply is a timeout", async () => {
    const silent: Answer = () => new Uint8Array();
    await Promise.all([
        fails(silent, ping, "TIMEOUT", { ...ONCE, timeout: 20 }),
        fails(silent, insert, "INDETERMINATE", { ...ONCE, timeout: 20 }),
        fails(() => Uint8Array.of(0, 0), ping, "TIMEOUT", { ...ONCE, timeout: 20 })]);
});

test("a server that does not come back is an error in time", async () => {
    const server = await Impostor.start(() => undefined);
    const client = await connect(server.path, { reconnectWait: 100, timeout: PATIENCE });
    await server.close();
    await assert.rejects(ping(client), hasCode("CONNECTION_FAILED"));
    await assert.rejects(client.observe("Book").next(), hasCode("CONNECTION_FAILED"));
    const signal = AbortSignal.timeout(20);
    await assert.rejects(client.ping({ signal }), hasCode("CANCELLED", "CONNECTION_FAILED"));
    client.close();
    await assert.rejects(ping(client), hasCode("CONNECTION_FAILED"));
});

test("handshakes that are not valid are errors", async () => {
    const welcome = { protocolVersion: 1, store: new Uint8Array(16) };
    const frames: [string, (id: bigint) => Uint8Array][] = [
        ["MALFORMED_MESSAGE", (id) => reply(id, { case: "welcome", value: {
            ...welcome, store: Uint8Array.of(1) } })],
        ["MALFORMED_MESSAGE", (id) => reply(id, { case: "welcome", value: {
            ...welcome, protocolVersion: 2 } })],
        ["FRAME_TOO_LONG", (id) => reply(id, { case: "welcome", value: {
            ...welcome, serverName: "x".repeat(64 << 10) } })],
        ["SCHEMA_MISMATCH", (id) => failed(id, "SCHEMA_MISMATCH")],
        ["CONNECTION_FAILED", () => new Uint8Array()]];
    for (const [code, frame] of frames) {
        const server = await Impostor.start(() => undefined);
        server.welcome = frame;
        await assert.rejects(
            connect(server.path, { connectTimeout: code === "CONNECTION_FAILED" ? 50 : PATIENCE }),
            hasCode(code));
        const controller = new AbortController();
        server.welcome = () => {
            controller.abort(new Error("enough"));
            return new Uint8Array();
        };
        await assert.rejects(connect(server.path, { signal: controller.signal }),
            hasCode("CANCELLED"));
        await server.close();
    }
});

test("paths without a server are errors at once", async () => {
    // A number is not a port.
    for (const path of ["/nowhere/s", "x".repeat(200), "", "80", "a\0b"]) {
        await assert.rejects(connect(path), hasCode("CONNECTION_FAILED"));
    }
});

test("without a path the only socket is used", async () => {
    const before = process.env["XDG_RUNTIME_DIR"];
    const folder = scratchFolder();
    mkdirSync(join(folder, "larder"), { recursive: true });
    const server = await Impostor.start(({ id }) => reply(id, { case: "pong", value: {} }));
    try {
        process.env["XDG_RUNTIME_DIR"] = folder;
        symlinkSync(server.path, join(folder, "larder", "a.sock"));
        const client = await connect();
        await client.ping();
        client.close();
        symlinkSync(server.path, join(folder, "larder", "b.sock"));
        await assert.rejects(connect(), (error) =>
            hasCode("CONNECTION_FAILED")(error) && /a\.sock, b\.sock/.test(String(error)));
    } finally {
        if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
        else process.env["XDG_RUNTIME_DIR"] = before;
        await server.close();
    }
});

test("closing a client ends calls and streams that wait", async () => {
    await withServer(() => new Uint8Array(), async (client, server) => {
        const calls = [ping(client), client.observe("Book").next(), client.follow().next()];
        await until(() => server.requests.length === 4);
        client.close();
        for (const each of calls) await assert.rejects(each, hasCode("CONNECTION_FAILED"));
        await assert.rejects(client.stream("Book").next(), hasCode("CONNECTION_FAILED"));
    }, AGAIN);
});

test("a request beyond the limit of the server waits until another one ends", async () => {
    let pings = 0;
    await withServer(({ id, body }) => {
        if (body?.case === "cancel") return failed(body.value.requestId, "CANCELLED");
        pings += 1;
        return pings === 1 ? new Uint8Array() : reply(id, { case: "pong", value: {} });
    }, async (client, server) => {
        const controller = new AbortController();
        const first = client.ping({ signal: controller.signal });
        await until(() => server.count("ping") === 1);
        await assert.rejects(client.ping({ timeout: 20 }), (error) =>
            hasCode("TIMEOUT")(error) && /too many requests/.test(String(error)));
        const second = client.ping();
        controller.abort();
        await assert.rejects(first, hasCode("CANCELLED"));
        await second;
    }, ONCE, { requestsInFlightMax: 2 });
});

test("a signal ends a call; a write that was sent is indeterminate", async () => {
    await withServer(() => new Uint8Array(), async (client, server) => {
        const reason = new Error("enough");
        const aborted = new AbortController();
        aborted.abort(reason);
        const { signal } = aborted;
        for (const call of [
            client.ping({ signal }), client.insert("Book", {}, { signal }),
            client.stream("Book", { signal }).next(), client.follow({ signal }).next()]) {
            await assert.rejects(call, (error) =>
                hasCode("CANCELLED")(error) && (error as { cause: unknown }).cause === reason);
        }
        assert.equal(server.requests.length, 1);
        for (const [kind, call, code] of [
            ["query", (each: AbortSignal) => client.fetch("Book", { signal: each }), "CANCELLED"],
            ["observe", (each: AbortSignal) => client.observe("Book", { signal: each }).next(),
                "CANCELLED"],
            ["save", (each: AbortSignal) => client.insert("Book", {}, { signal: each }),
                "INDETERMINATE"]] as const) {
            const controller = new AbortController();
            const found = call(controller.signal);
            const cancelled = server.count("cancel");
            await until(() => server.count(kind) === 1);
            controller.abort(reason);
            await assert.rejects(found, (error) =>
                hasCode(code)(error) && (error as { cause: unknown }).cause === reason);
            await until(() => server.count("cancel") === cancelled + 1);
        }
    });
});

test("a server that does not read is an error, and memory is bounded", async () => {
    await withServer((_, socket) => {
        socket.pause();
        return new Uint8Array();
    }, async (client) => {
        const title = "x".repeat(8 << 20);
        const calls = [1, 2, 3].map(() => client.updateAll(
            "Book", { title }, { timeout: 200 }));
        for (const each of calls) {
            await assert.rejects(each, hasCode("INDETERMINATE", "CONNECTION_FAILED"));
        }
    });
});

test("a request that is too long, or not of Unicode, is not sent", async () => {
    const server = await withServer(() => undefined, async (client) => {
        await assert.rejects(client.insert("Book", { title: "x".repeat(200) }),
            (error) => hasCode("FRAME_TOO_LONG")(error) && !(error instanceof IndeterminateError));
        await assert.rejects(client.insert("Book", { title: "\ud800" }),
            hasCode("MALFORMED_VALUE"));
        await assert.rejects(client.fetch("Book", { where: "title == '\ud800'" }),
            hasCode("MALFORMED_VALUE"));
    }, ONCE, { frameBytesMax: 100 });
    assert.equal(server.requests.length, 1);
});

test("arguments of wrong types are errors before anything is sent", async () => {
    const server = await withServer(() => undefined, async (client) => {
        const wrong: [Promise<unknown>, string][] = [
            [client.get("x-coredata://" as never), "WRONG_TYPE"],
            [client.update("x" as never, {}), "WRONG_TYPE"],
            [client.delete(null as never), "WRONG_TYPE"],
            [client.fetch("Book", { arguments: "Ann" as never }), "WRONG_TYPE"],
            [client.fetch("Book", { sort: "title" as never }), "WRONG_TYPE"],
            [client.fetch("Book", { columns: "title" as never }), "WRONG_TYPE"],
            [client.fetch("Book", { limit: -1 }), "MALFORMED_VALUE"],
            [client.fetch("Book", { offset: 1.5 }), "MALFORMED_VALUE"],
            [client.fetch("Book", { sort: [{ term: "a", nils: "none" as never }] }),
                "UNSUPPORTED"],
            [client.aggregate("Book", { columns: { a: "sums" as never } }), "UNSUPPORTED"],
            [client.aggregate("Book", { columns: { a: "constructor" as never } }),
                "UNSUPPORTED"],
            [client.history({ kinds: ["unspecified" as never] }), "UNSUPPORTED"],
            [client.history({ since: new Date(NaN) }), "MALFORMED_VALUE"],
            [client.insert("Book", {}, { mergePolicy: "never" } as never), "UNSUPPORTED"],
            [client.updateAll("Book", { a: 1 }, { expressions: { a: "a" } }),
                "INVALID_CHANGE_SET"]];
        for (const [call, code] of wrong) await assert.rejects(call, hasCode(code));
    });
    assert.equal(server.requests.length, 1);
});
