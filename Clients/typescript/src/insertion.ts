// Streams of new objects: rows of values as columns of the protocol.

import type { Values } from "./changes.js";
import { PARTS_MAX } from "./changes.js";
import { LarderError, errorOfNumber, failure, violation } from "./errors.js";
import { Identifier, Uuid, int64, integerOf } from "./identifiers.js";
import type { Integer } from "./identifiers.js";
import * as messages from "./messages.js";
import { Decimal, Json, Url, jsonText, secondsOf, typeName, wrongType } from "./values.js";
import { encodedText } from "./encoding.js";
import type { Draft } from "./wire.js";

const ROWS_MAX = 5_000;
/** The values of a part of the stream, in bytes; a single row may be longer. */
const BYTES_MAX = 1 << 20;

/** The result of a stream of new objects. */
export interface InsertedRows {
    readonly rowCount: number;
    /** In the order of the rows; empty unless they were wanted. */
    readonly identifiers: readonly Identifier[];
    /** The number of the last transaction; 0 without rows. */
    readonly transaction: Integer;
}

/** A column type, and for relationships the entity of the objects. */
interface PropertyType {
    readonly column: messages.ColumnType;
    readonly destination: string;
}

interface SchemaEntity {
    readonly name: string;
    readonly parent?: string;
    readonly attributes?: readonly { readonly name: string; readonly type: string }[];
    readonly relationships?: readonly {
        readonly name: string; readonly destination: string; readonly toMany?: boolean }[];
}

function entitiesOf(schema: string): Map<string, SchemaEntity> {
    try {
        const { entities } = JSON.parse(schema) as { entities: SchemaEntity[] };
        return new Map(entities.map((each) => [each.name, each]));
    } catch {
        throw violation("a malformed schema");
    }
}

/** The types of the properties of an entity, with those that it inherits. */
export function propertyTypes(schema: string, entity: string): Map<string, PropertyType> {
    const named = entitiesOf(schema);
    if (!named.has(entity)) {
        throw failure("UNKNOWN_ENTITY", `the schema has no entity ${entity}`);
    }
    const found = new Map<string, PropertyType>();
    for (let each = named.get(entity); each !== undefined; each = named.get(each.parent ?? "")) {
        named.delete(each.name);
        for (const { name, type } of each.attributes ?? []) {
            found.set(name, {
                column: type.toUpperCase() as messages.ColumnType, destination: "" });
        }
        for (const { name, toMany, destination } of each.relationships ?? []) {
            found.set(name, { column: toMany === true ? "OBJECTS" : "OBJECT", destination });
        }
    }
    return found;
}

/** A value that a column has: of numbers, of bytes, of one object or of several. */
type Item = bigint | number | Uint8Array | Identifier | readonly Identifier[];

/** The item of a value; undefined if it does not have the column's type. */
function itemOf(column: messages.ColumnType, value: unknown): Item | undefined {
    switch (column) {
        case "BOOL": return typeof value === "boolean" ? BigInt(value) : undefined;
        case "INT16": case "INT32": case "INT64":
            return typeof value === "number" || typeof value === "bigint"
                ? int64(value) : undefined;
        case "FLOAT": case "DOUBLE":
            return typeof value === "number" ? value
                : typeof value === "bigint" ? Number(value) : undefined;
        case "DATE": return value instanceof Date ? secondsOf(value) : undefined;
        case "STRING": return typeof value === "string" ? encodedText(value) : undefined;
        case "URL": return value instanceof Url ? encodedText(value.text) : undefined;
        case "JSON": return encodedText(value instanceof Json ? value.text : jsonText(value));
        case "DECIMAL":
            if (value instanceof Decimal) return encodedText(value.text);
            return typeof value === "number" || typeof value === "bigint"
                ? encodedText(new Decimal(value).text) : undefined;
        case "UUID": return value instanceof Uuid ? value.bytes : undefined;
        case "DATA": return value instanceof Uint8Array ? value : undefined;
        case "OBJECT": return value instanceof Identifier ? value : undefined;
        case "OBJECTS":
            return Array.isArray(value) && value.every((each) => each instanceof Identifier)
                ? value as Identifier[] : undefined;
        default: throw failure("UNSUPPORTED", `the type ${column} is not one of this client`);
    }
}

/** The offsets at which parts of these lengths end. */
function endsOf(lengths: readonly number[]): Uint32Array {
    let end = 0;
    return Uint32Array.from(lengths, (length) => (end += length));
}

/** One column of the rows of a part. */
class ColumnBuilder {
    private items: (Item | null)[] = [];
    size = 0;

    constructor(
        readonly name: string, private readonly type: PropertyType, private readonly store: Uuid,
    ) {}

    /** Adds the value of a row; an error if it does not have the property's type. */
    append(value: unknown): void {
        const item = value === null || value === undefined ? null : itemOf(this.type.column, value);
        if (item === undefined) {
            throw wrongType(`${this.name} is of the type ${this.type.column.toLowerCase()}, `
                + `and the value is ${typeName(value)}`);
        }
        for (const each of this.objects(item)) {
            if (!each.store.equals(this.store)) {
                throw failure("FOREIGN_IDENTIFIER", `${each.uri} belongs to another store`);
            }
        }
        this.items.push(item);
        this.size += 8;
        this.size += item instanceof Uint8Array ? item.length : 8 * this.objects(item).length;
    }

    /** The column in the protocol. The rows are removed. */
    take(): Draft<messages.Column> {
        const { items } = this;
        const { column } = this.type;
        this.items = [];
        this.size = 0;
        const made = { name: this.name, type: column, nulls: nullsOf(items) };
        switch (column) {
            case "BOOL": case "INT16": case "INT32": case "INT64":
                return { ...made, integers: BigInt64Array.from(items, (each) =>
                    (each ?? 0n) as bigint) };
            case "FLOAT": case "DOUBLE": case "DATE":
                return { ...made, doubles: Float64Array.from(items, (each) =>
                    (each ?? 0) as number) };
            case "OBJECT": case "OBJECTS": return { ...made, ...this.objectColumn(items) };
            default: {
                const parts = items.map((each) => (each ?? new Uint8Array()) as Uint8Array);
                return {
                    ...made, heap: Buffer.concat(parts),
                    ends: endsOf(parts.map((part) => part.length)) };
            }
        }
    }

    private objectColumn(items: readonly (Item | null)[]): Draft<messages.Column> {
        const entity = this.type.destination;
        const lists = items.map((each) => this.objects(each));
        const isList = this.type.column === "OBJECTS";
        // A nil row of single objects has the key 0.
        const listed: (Identifier | null)[] = isList ? lists.flat()
            : lists.map((each) => each[0] ?? null);
        const subentities = [...new Set(listed.map((each) => each?.entity ?? entity))]
            .filter((each) => each !== entity).sort();
        return {
            entity, subentities,
            ends: isList ? endsOf(lists.map((each) => each.length)) : undefined,
            integers: BigInt64Array.from(listed, (each) => int64(each?.key ?? 0)),
            entityIndexes: subentities.length === 0 ? []
                : listed.map((each) => subentities.indexOf(each?.entity ?? entity) + 1) };
    }

    private objects(item: Item | null): readonly Identifier[] {
        return item instanceof Identifier ? [item]
            : Array.isArray(item) ? item as Identifier[] : [];
    }
}

function nullsOf(items: readonly (Item | null)[]): Uint8Array {
    const nulls = new Uint8Array(Math.ceil(items.length / 8));
    items.forEach((item, row) => {
        if (item === null) nulls[row >> 3] |= 1 << (row & 7);
    });
    return nulls.some((byte) => byte !== 0) ? nulls : new Uint8Array();
}

/** The rows of an insert stream, which are sent in parts, and the replies so far. */
export class InsertionProgress {
    private columns: ColumnBuilder[] = [];
    private rowCount = 0;
    private sentRows = 0;
    private sentParts = 0;
    private processedParts = 0;
    private acknowledged = 0;
    private transaction: Integer = 0;
    private readonly identifiers: Identifier[] = [];
    isComplete = false;

    constructor(
        private readonly entity: string, private readonly types: Map<string, PropertyType>,
        private readonly store: Uuid,
    ) {}

    /** Adds a row; an error names its index in the stream. */
    append(row: Values): void {
        const index = this.sentRows + this.rowCount;
        const names = Object.keys(row);
        if (index === 0) this.columns = names.map((name) => this.column(name));
        if (names.length !== this.columns.length
            || !this.columns.every((column) => Object.hasOwn(row, column.name))) {
            const first = this.columns.map((each) => each.name).join(", ");
            throw failure(
                "MISSING_VALUE", `row ${index} has other properties than the first row: ${first}`,
                { hint: "give all rows the same properties, with null where there is no value" });
        }
        try {
            for (const column of this.columns) column.append(row[column.name]);
        } catch (error) {
            if (!(error instanceof Error)) throw error;
            throw error instanceof LarderError
                ? errorOfNumber(error.number, `row ${index}: ${error.message}`, error)
                : failure("MALFORMED_VALUE", `row ${index}: ${error.message}`, { cause: error });
        }
        this.rowCount += 1;
    }

    /** Whether the rows are to be sent. */
    get isFull(): boolean {
        return this.rowCount >= ROWS_MAX
            || this.columns.reduce((sum, column) => sum + column.size, 0) >= BYTES_MAX;
    }

    /** Whether the server would refuse another part. */
    get mustWait(): boolean {
        return this.sentParts - this.processedParts >= PARTS_MAX;
    }

    /** The rows that have been collected, which are sent now. */
    nextPart(requestId: bigint, last: boolean): Draft<messages.RowsRequest> {
        const { rowCount } = this;
        this.sentParts += 1;
        this.sentRows += rowCount;
        this.rowCount = 0;
        if (rowCount === 0) return { requestId, last };
        return {
            requestId, last,
            batch: { rowCount, columns: this.columns.map((column) => column.take()) } };
    }

    /** Notes what the server has stored. */
    received(reply: messages.InsertReply): void {
        this.processedParts = Number(reply.batchCount);
        this.acknowledged = Number(reply.rowCount);
        this.transaction = integerOf(reply.transaction);
        this.isComplete = !reply.more;
        const { firstKeys, keyCounts } = reply;
        const count = keyCounts.reduce((sum, each) => sum + each, this.identifiers.length);
        if (count > this.sentRows || firstKeys.length !== keyCounts.length) {
            throw violation("keys of rows that it does not have");
        }
        firstKeys.forEach((first, run) => {
            for (let row = 0; row < keyCounts[run]!; row += 1) {
                this.identifiers.push(
                    new Identifier(this.store, this.entity, integerOf(first + BigInt(row))));
            }
        });
    }

    /** The error if there was no reply. */
    interrupted(reason: string, cause?: unknown): LarderError {
        return failure(
            "INDETERMINATE",
            `${reason}; ${this.acknowledged} rows were acknowledged, and later ones may be stored`,
            { hint: "read the objects again before repeating the write", cause });
    }

    /** The result of the complete stream. */
    result(): InsertedRows {
        return {
            rowCount: this.acknowledged, identifiers: this.identifiers,
            transaction: this.transaction };
    }

    private column(name: string): ColumnBuilder {
        const type = this.types.get(name);
        if (type === undefined) {
            throw failure("UNKNOWN_PROPERTY", `${this.entity} has no property ${name}`);
        }
        return new ColumnBuilder(name, type, this.store);
    }
}
