// Rows in the protocol's columns, which are checked before they are used.

import { violation } from "./errors.js";
import type { LarderError } from "./errors.js";
import { Identifier, integerOf } from "./identifiers.js";
import type { Integer, Uuid } from "./identifiers.js";
import type * as messages from "./messages.js";
import { Url, dateOf, decimalOf, jsonOf, uuidOf } from "./values.js";
import type { Value } from "./values.js";
import { decodedText } from "./decoding.js";
import { WireError } from "./wire.js";

/** An object or a row of a result: values by the names of properties or columns. */
export interface Row {
    readonly [name: string]: Value;
}

/** An object with its identifier and its version. */
export interface StoredObject {
    readonly "@id": Identifier;
    /** Incremented by each save that changes the object. */
    readonly "@version": Integer;
}

function contradiction(found: string): LarderError {
    return violation(`columns that contradict each other: ${found}`);
}

/** Reads the value of a row. */
type ReadValue = (row: number) => Value;

/** The keys of an identity or of a column of objects, and their entities. */
interface Keys {
    readonly entity: string;
    readonly subentities: readonly string[];
    readonly entityIndexes: readonly number[];
}

function identifiersOf(
    named: Keys, keys: BigInt64Array, store: Uuid,
): (index: number) => Identifier {
    const { entity, subentities, entityIndexes } = named;
    const isSingle = entityIndexes.length === 0;
    if (!isSingle && entityIndexes.length !== keys.length) {
        throw contradiction("another number of entities than of keys");
    }
    if (entityIndexes.some((index) => index > subentities.length)) {
        throw contradiction("an object of an unknown entity");
    }
    return (index) => {
        const number = isSingle ? 0 : entityIndexes[index]!;
        return new Identifier(
            store, number === 0 ? entity : subentities[number - 1]!, integerOf(keys[index]!));
    };
}

/** Checks the ends of the rows in a heap or list. */
function checkEnds(ends: Uint32Array, length: number): void {
    let before = 0;
    for (const end of ends) {
        if (end < before || end > length) throw contradiction("the ends of rows that do not exist");
        before = end;
    }
}

/** Reads texts. Most have only ASCII, of which the heap is made a text once. */
function textsIn(heap: Uint8Array, ends: Uint32Array): (row: number) => string {
    const bytes = Buffer.from(heap.buffer, heap.byteOffset, heap.byteLength);
    const isAscii = heap.every((byte) => byte < 0x80);
    return (row) => {
        const start = row === 0 ? 0 : ends[row - 1]!;
        const end = ends[row]!;
        return isAscii ? bytes.toString("latin1", start, end)
            : decodedText(heap.subarray(start, end));
    };
}

function heapValues(column: messages.Column): ReadValue {
    const { heap, ends } = column;
    checkEnds(ends, heap.length);
    if (column.type === "UUID" || column.type === "DATA") {
        const part = (row: number): Uint8Array =>
            heap.slice(row === 0 ? 0 : ends[row - 1]!, ends[row]!);
        return column.type === "DATA" ? part : (row) => uuidOf(part(row));
    }
    const text = textsIn(heap, ends);
    switch (column.type) {
        case "URL": return (row) => new Url(text(row));
        case "JSON": return (row) => jsonOf(text(row));
        case "DECIMAL": return (row) => decimalOf(text(row));
        default: return text;
    }
}

function objectLists(column: messages.Column, store: Uuid): ReadValue {
    const { integers, ends } = column;
    checkEnds(ends, integers.length);
    const identifier = identifiersOf(column, integers, store);
    return (row) => {
        const start = row === 0 ? 0 : ends[row - 1]!;
        return Array.from({ length: ends[row]! - start }, (_, index) => identifier(start + index));
    };
}

/** The values of a column before nil, and their number. */
function columnValues(column: messages.Column, store: Uuid): [ReadValue, number] {
    const { integers, doubles, ends } = column;
    switch (column.type) {
        case "UNSPECIFIED": throw contradiction("a column without a type");
        case "BOOL": return [(row) => integers[row] !== 0n, integers.length];
        case "INT16": case "INT32": case "INT64":
            return [(row) => integerOf(integers[row]!), integers.length];
        case "OBJECT": return [identifiersOf(column, integers, store), integers.length];
        case "OBJECTS": return [objectLists(column, store), ends.length];
        case "FLOAT": case "DOUBLE": return [(row) => doubles[row]!, doubles.length];
        case "DATE": return [(row) => dateOf(doubles[row]!), doubles.length];
        default: return [heapValues(column), ends.length];
    }
}

function readerOf(column: messages.Column, rowCount: number, store: Uuid): ReadValue {
    const [value, length] = columnValues(column, store);
    if (length !== rowCount) {
        throw contradiction("a column with another number of rows than its batch");
    }
    const { nulls } = column;
    if (nulls.length === 0) return value;
    return (row) => ((nulls[row >> 3] ?? 0) >> (row & 7)) & 1 ? null : value(row);
}

/** The rows of a batch. A batch whose columns contradict each other is an error. */
export function rowsOf(batch: messages.Batch, store: Uuid): Row[] {
    const { rowCount, identity } = batch;
    const columns = batch.columns.map(
        (column): [string, ReadValue] => [column.name, readerOf(column, rowCount, store)]);
    if (identity !== undefined) {
        const { keys, versions } = identity;
        if (keys.length !== rowCount || versions.length !== rowCount) {
            throw contradiction("another number of identifiers than of rows");
        }
        columns.push(["@id", identifiersOf(identity, keys, store)]);
        columns.push(["@version", (row) => integerOf(versions[row]!)]);
    }
    if (columns.length === 0 && rowCount > 0) throw contradiction("rows without columns");
    try {
        return Array.from({ length: rowCount }, (_, row) => Object.fromEntries(
            columns.map(([name, value]) => [name, value(row)])));
    } catch (error) {
        throw error instanceof WireError ? contradiction("a text that is not UTF-8") : error;
    }
}

/** The rows of several batches. */
export function allRows(batches: readonly messages.Batch[], store: Uuid): Row[] {
    return batches.flatMap((batch) => rowsOf(batch, store));
}
