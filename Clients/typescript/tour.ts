#!/usr/bin/env node
// A tour of the client: tour.js SOCKET [follow].
//
// The server must have the schema ../school.json, and an empty store for the whole tour. With
// `follow` it prints each transaction after the current one, until there is no server for 5
// seconds.

import { ChangeSet, LarderError, connect, newIdempotencyKey } from "./src/index.js";
import type { Client, HistoryToken, Identifier, Transaction } from "./src/index.js";

const MANY = 3_000;
const FOLLOW_WAIT = 5_000;

/** One line with the changes of a transaction, each a run of consecutive keys. */
function described({ number, changes }: Transaction): string {
    const parts = changes.map(({ kind, entity, firstKey, lastKey, properties }) => {
        const last = lastKey > firstKey ? `-p${lastKey}` : "";
        const named = properties.length > 0 ? ` (${properties.join(", ")})` : "";
        return `${kind} ${entity}/p${firstKey}${last}${named}`;
    });
    return `transaction ${number}: ${parts.join("; ")}`;
}

/** A course with two students, one of whom is new. It is built once, with its key, and can then be
 * sent any number of times. */
function lesson(ann: Identifier): ChangeSet {
    const changes = new ChangeSet({ idempotencyKey: newIdempotencyKey(), author: "tour" });
    const bob = changes.insert("Student", { name: "Bob", birthOfYear: 2002 });
    changes.insert("Course", { title: "Maths", students: [ann, bob] });
    return changes;
}

/** More students than fit into one reply. */
function crowd(): ChangeSet {
    const changes = new ChangeSet({ idempotencyKey: newIdempotencyKey() });
    for (let n = 0; n < MANY; n += 1) {
        const name = `Student ${String(n).padStart(4, "0")} of the school`;
        changes.insert("Student", { name, birthOfYear: 1900 + (n % 100) });
    }
    return changes;
}

async function objects(client: Client): Promise<Identifier> {
    const ann = await client.insert("Student", { name: "Ann", birthOfYear: 2001 });
    console.log(`inserted ${ann.uri}`);
    const row = await client.get(ann);
    console.log(`got ${row?.["name"]}, born in ${row?.["birthOfYear"]}, `
        + `version ${row?.["@version"]}`);
    const changes = lesson(ann);
    // The writes of a connection are applied in the order in which they are sent.
    const [, first] = await Promise.all([
        client.insert("Student", { name: "Cid", birthOfYear: 2003 }), client.save(changes)]);
    console.log(`saved ${first.inserted.length} objects in transaction ${first.transaction}`);
    const again = await client.save(changes);
    const isSame = JSON.stringify(again) === JSON.stringify(first);
    console.log(`sent again: ${isSame ? "the same reply" : "another reply"}`);
    return ann;
}

async function queries(client: Client): Promise<void> {
    const found = await client.fetch("Student", {
        where: "birthOfYear >= %@ AND name != %@", arguments: [2001, "Zoe"], sort: ["name"],
        columns: { name: "name", year: "birthOfYear", course: "courses.@min.title" } });
    for (const row of found) {
        console.log(`${row["name"]}, born in ${row["year"]}, course: ${row["course"] ?? "none"}`);
    }
    await client.save(crowd());
    const query = { where: "name BEGINSWITH %@", arguments: ["Student "], sort: ["name"] };
    const students = client.stream("Student", query);
    const names: string[] = [];
    for await (const row of students) names.push(String(row["name"]));
    const parts = students.partCount > 1 ? "several parts" : "one part";
    console.log(`fetched ${names.length} students in ${parts}, `
        + `from ${names[0]} to ${names.at(-1)}`);
    let count = 0;
    for await (const _ of client.stream("Student", query)) {
        count += 1;
        if (count === 100) break;
    }
    console.log(`left a result after ${count < MANY ? "some" : "all"} of its rows`);
}

async function refusals(client: Client): Promise<void> {
    const calls = [
        () => client.fetch("Student", { where: "nam == %@", arguments: ["Ann"] }),
        () => client.insert("Course", { title: "Maths" }),
    ];
    for (const call of calls) {
        try {
            await call();
        } catch (error) {
            if (!(error instanceof LarderError)) throw error;
            console.log(`error[${error.code}]: ${error.message}`);
            if (error.hint !== "") console.log(`  hint: ${error.hint}`);
        }
    }
}

/** The transactions since the start, and then one that is committed meanwhile. */
async function history(client: Client, start: HistoryToken, ann: Identifier): Promise<void> {
    const feed = client.follow({ after: start });
    let hasChanged = false;
    for await (const { transactions, position } of feed) {
        for (const each of transactions) console.log(described(each));
        if (hasChanged) break;
        if (Number(position.number) < Number(start.number) + 4) continue;
        await client.update(ann, { name: "Anna" });
        hasChanged = true;
    }
    await client.delete(ann);
    const left = await client.getMany([ann]);
    console.log(`found ${left.length} objects after the deletion`);
}

async function tour(path: string): Promise<void> {
    const client = await connect(path, { name: "tour" });
    try {
        const { protocolVersion, schemaVersion } = client.server;
        console.log(`connected: protocol ${protocolVersion}, schema ${schemaVersion}`);
        const start = await client.currentToken();
        const ann = await objects(client);
        await queries(client);
        await refusals(client);
        await history(client, start, ann);
    } finally {
        client.close();
    }
}

async function follow(path: string): Promise<void> {
    const client = await connect(path, { name: "tour", reconnectWait: FOLLOW_WAIT });
    try {
        const start = await client.currentToken();
        console.log(`following after transaction ${start.number}`);
        for await (const { transactions } of client.follow({ after: start })) {
            for (const each of transactions) console.log(described(each));
        }
    } finally {
        client.close();
    }
}

async function main(words: readonly string[]): Promise<number> {
    const [path, mode] = words;
    if (path === undefined || words.length > 2 || (mode !== undefined && mode !== "follow")) {
        console.error("usage: tour.js SOCKET [follow]");
        return 64;
    }
    try {
        await (mode === undefined ? tour(path) : follow(path));
        return 0;
    } catch (error) {
        if (!(error instanceof LarderError)) throw error;
        console.error(`tour: error[${error.code}]: ${error.message}`);
        return 1;
    }
}

process.exitCode = await main(process.argv.slice(2));
