// The result of an observed query, to which the replies of the server are applied.

import { failure, violation } from "./errors.js";
import { tokenOfMessage } from "./history.js";
import type { HistoryToken } from "./history.js";
import type { Uuid } from "./identifiers.js";
import type * as messages from "./messages.js";
import { allRows, rowsOf } from "./rows.js";
import type { Row } from "./rows.js";
import type { Value } from "./values.js";

/** The most rows of an observed fetch, as in the server. */
const ROWS_MAX = 1_000_000;

/** Successive rows with the same value of the section's key; nil is a value, too. */
export interface Section<Item> {
    readonly value: Value;
    readonly rows: readonly Item[];
}

/** How the rows of a result differ from those before. */
export interface Differences {
    /** The indexes of the new rows, ascending. */
    readonly inserted: readonly number[];
    /** The indexes before of the rows that are gone, ascending. */
    readonly deleted: readonly number[];
    /** The indexes of rows with new values, ascending. */
    readonly updated: readonly number[];
    /** The indexes of rows with another position among those that stay. */
    readonly moved: readonly { readonly from: number; readonly to: number }[];
}

/** All rows of an observed query at one moment. */
export interface LiveResult<Item> {
    readonly rows: readonly Item[];
    /** Empty unless the query is divided into sections. */
    readonly sections: readonly Section<Item>[];
    /** The position in the history to which the result belongs. */
    readonly position: HistoryToken;
    /** Absent if the differences are unknown: in the first result, after a lost connection, for a
     * slow client, and for queries other than fetches of objects. */
    readonly differences?: Differences;
}

/** The rows with the keys of their sections, and those of a whole result that is arriving. */
export class LiveRows {
    private rows: Row[] = [];
    private keys: Value[] = [];
    private begun: { rows: Row[]; keys: Value[] } | undefined;
    private hasResult = false;

    constructor(private readonly isSectioned: boolean) {}

    /** The result after a reply; undefined while a whole result is incomplete. */
    apply(reply: messages.ObserveReply, store: Uuid): LiveResult<Row> | undefined {
        const received = allRows(reply.rows, store);
        const keys = this.sectionKeys(reply, received.length, store);
        const position = tokenOfMessage(reply.position);
        if (reply.begins) this.begun = { rows: [], keys: [] };
        const begun = this.begun;
        if (begun === undefined) {
            if (!this.hasResult) throw violation("a change before the first result");
            const differences = this.change(reply, received, keys);
            return { ...this.result(), position, differences };
        }
        for (const row of received) begun.rows.push(row);
        for (const key of keys) begun.keys.push(key);
        if (begun.rows.length > ROWS_MAX) {
            throw failure("RESOURCE_EXHAUSTED", `an observed query has over ${ROWS_MAX} rows`);
        }
        if (!reply.ends) return undefined;
        ({ rows: this.rows, keys: this.keys } = begun);
        this.begun = undefined;
        this.hasResult = true;
        return { ...this.result(), position };
    }

    private sectionKeys(reply: messages.ObserveReply, rowCount: number, store: Uuid): Value[] {
        if (!this.isSectioned) return [];
        const { sections } = reply;
        if (sections !== undefined && sections.columns.length !== 1) {
            throw violation("sections of several columns");
        }
        const name = sections?.columns[0]!.name ?? "";
        const found = sections === undefined ? []
            : rowsOf(sections, store).map((row) => row[name]!);
        if (found.length !== rowCount) throw violation("another number of sections than of rows");
        return found;
    }

    private change(reply: messages.ObserveReply, received: Row[], keys: Value[]): Differences {
        const { newIndexes, oldIndexes, deleted, moved } = reply;
        const count = this.rows.length;
        const kept = oldIndexes.filter((index) => index > 0).map((index) => index - 1);
        const removed = new Set([...kept, ...deleted]);
        const total = count - removed.size + received.length;
        const isValid = [newIndexes, oldIndexes, moved].every(
                (list) => list.length === received.length)
            && removed.size === kept.length + deleted.length
            && kept.every((index) => index < count) && deleted.every((index) => index < count)
            && isAscending(newIndexes) && isAscending(deleted)
            && (newIndexes.at(-1) ?? 0) < Math.max(1, total) && total <= ROWS_MAX;
        if (!isValid) throw violation("indexes that contradict the result");
        this.rows = replaced(this.rows, removed, newIndexes, received);
        if (this.isSectioned) this.keys = replaced(this.keys, removed, newIndexes, keys);
        return {
            inserted: newIndexes.filter((_, row) => oldIndexes[row] === 0), deleted,
            updated: newIndexes.filter((_, row) => oldIndexes[row]! > 0 && !moved[row]!),
            moved: newIndexes.flatMap((to, row) => {
                const from = oldIndexes[row]! - 1;
                return from >= 0 && moved[row]! ? [{ from, to }] : [];
            }) };
    }

    private result(): { rows: Row[]; sections: Section<Row>[] } {
        const sections: { value: Value; rows: Row[] }[] = [];
        let key = "";
        this.keys.forEach((value, index) => {
            const text = keyText(value);
            if (sections.length === 0 || text !== key) sections.push({ value, rows: [] });
            key = text;
            sections.at(-1)!.rows.push(this.rows[index]!);
        });
        return { rows: [...this.rows], sections };
    }
}

/** A text by which the keys of two sections are compared. */
function keyText(value: Value): string {
    if (value instanceof Uint8Array) return `bytes ${value.join()}`;
    if (value instanceof Date) return `date ${(value as Date & { seconds: number }).seconds}`;
    if (typeof value === "object") return `object ${JSON.stringify(value)}`;
    return `${typeof value} ${String(value)}`;
}

function isAscending(indexes: readonly number[]): boolean {
    return indexes.every((index, at) => at === 0 || indexes[at - 1]! < index);
}

/** The items without those at some indexes, and with others at their new indexes. */
function replaced<Item>(
    items: readonly Item[], removed: ReadonlySet<number>, indexes: readonly number[],
    inserted: readonly Item[],
): Item[] {
    const kept = items.filter((_, index) => !removed.has(index));
    const made: Item[] = [];
    let next = 0;
    indexes.forEach((index, at) => {
        while (made.length < index) made.push(kept[next++]!);
        made.push(inserted[at]!);
    });
    while (next < kept.length) made.push(kept[next++]!);
    return made;
}
