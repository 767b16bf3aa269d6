// The identifiers of objects and of stores. They are values: compare them with `equals`, or by
// their text.

import { randomUUID } from "node:crypto";

import { failure, violation } from "./errors.js";
import type * as messages from "./messages.js";
import type { Draft } from "./wire.js";

/** An integer: a `number` if that is exact, which is so up to 9,007,199,254,740,991, and otherwise
 * a `bigint`. */
export type Integer = number | bigint;

/** The text of a UUID, as a part of a regular expression. */
export const UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";
const UUID_TEXT = new RegExp(`^${UUID}$`);
const URI = new RegExp(`^x-coredata://(${UUID})/([A-Za-z][A-Za-z0-9_]*)/p([1-9][0-9]{0,18})$`);
const INT64_MAX = 2n ** 63n - 1n;
const UUID_BYTES = 16;

/** The integer, as a number if that is exact. */
export function integerOf(integer: bigint): Integer {
    const number = Number(integer);
    return Number.isSafeInteger(number) ? number : integer;
}

/** The integer, which has to fit 64 bits. */
export function int64(integer: Integer, what = "the integer"): bigint {
    if (typeof integer === "number" && !Number.isSafeInteger(integer)) {
        throw failure("MALFORMED_VALUE", `${what} ${integer} is not exact`, {
            hint: "use a bigint" });
    }
    const exact = BigInt(integer);
    if (exact < -INT64_MAX - 1n || exact > INT64_MAX) {
        throw failure("MALFORMED_VALUE", `${what} does not fit 64 bits`);
    }
    return exact;
}

/** A UUID: the value of a UUID attribute, or the name of a store. */
export class Uuid {
    /** The text with small letters. */
    readonly text: string;

    private constructor(text: string) {
        this.text = text.toLowerCase();
    }

    static parse(text: string): Uuid {
        if (typeof text !== "string" || !UUID_TEXT.test(text)) {
            throw failure("MALFORMED_VALUE", "the text is not a UUID");
        }
        return new Uuid(text);
    }

    static random(): Uuid {
        return new Uuid(randomUUID());
    }

    /** The UUID of 16 bytes, in the order in which it is written. */
    static fromBytes(bytes: Uint8Array): Uuid {
        if (bytes.length !== UUID_BYTES) {
            throw failure("MALFORMED_VALUE", `a UUID of ${bytes.length} bytes`);
        }
        let digits = "";
        for (const byte of bytes) digits += byte.toString(16).padStart(2, "0");
        return new Uuid(digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
    }

    get bytes(): Uint8Array {
        const digits = this.text.replaceAll("-", "");
        return Uint8Array.from({ length: UUID_BYTES }, (_, index) =>
            parseInt(digits.slice(2 * index, 2 * index + 2), 16));
    }

    equals(other: unknown): boolean {
        return other instanceof Uuid && other.text === this.text;
    }

    toString(): string {
        return this.text;
    }

    toJSON(): string {
        return this.text;
    }
}

/** The identifier of an object of a store. It is never used again for another object. */
export class Identifier {
    constructor(
        readonly store: Uuid,
        /** The object's own entity, not one that it inherits from. */
        readonly entity: string,
        /** A number from 1. */
        readonly key: Integer,
    ) {}

    /** The identifier of a URI such as `x-coredata://<UUID>/<Entity>/p<number>`. */
    static parse(uri: string): Identifier {
        const match = typeof uri === "string" ? URI.exec(uri) : null;
        if (match === null || BigInt(match[3]!) > INT64_MAX) {
            throw failure("MALFORMED_IDENTIFIER", "the identifier is malformed", {
                hint: "an identifier looks like x-coredata://<UUID>/<Entity>/p<number>" });
        }
        return new Identifier(Uuid.parse(match[1]!), match[2]!, integerOf(BigInt(match[3]!)));
    }

    get uri(): string {
        return `x-coredata://${this.store.text.toUpperCase()}/${this.entity}/p${this.key}`;
    }

    equals(other: unknown): boolean {
        return other instanceof Identifier && other.uri === this.uri;
    }

    toString(): string {
        return this.uri;
    }

    toJSON(): string {
        return this.uri;
    }

    /** The identifier in the protocol. */
    message(): Draft<messages.Identifier> {
        return {
            store: this.store.bytes, entity: this.entity,
            name: { case: "key", value: int64(this.key, "the key") } };
    }
}

/** The identifier of an object that a change set inserts, for the other changes of the set. */
export class TemporaryIdentifier {
    constructor(readonly entity: string, readonly name: string) {}

    /** The identifier in the protocol. */
    message(): Draft<messages.Identifier> {
        return { entity: this.entity, name: { case: "temporaryName", value: this.name } };
    }
}

/** An object that is stored, or that the same change set inserts. */
export type Reference = Identifier | TemporaryIdentifier;

export function isReference(value: unknown): value is Reference {
    return value instanceof Identifier || value instanceof TemporaryIdentifier;
}

/** The UUID of a store in a reply. */
export function storeOfMessage(bytes: Uint8Array): Uuid {
    if (bytes.length !== UUID_BYTES) throw violation("a malformed UUID of its store");
    return Uuid.fromBytes(bytes);
}

/** The identifier of an object in a reply. */
export function identifierOfMessage(message: messages.Identifier): Identifier {
    const { store, entity, name } = message;
    if (store.length !== UUID_BYTES || entity === "" || name?.case !== "key" || name.value < 1n) {
        throw violation("a malformed identifier");
    }
    return new Identifier(Uuid.fromBytes(store), entity, integerOf(name.value));
}
