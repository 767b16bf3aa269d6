// Values of JavaScript as values of the protocol, and back.

import { failure, violation } from "./errors.js";
import type { LarderError } from "./errors.js";
import {
    Identifier, Uuid, identifierOfMessage, int64, integerOf, isReference,
} from "./identifiers.js";
import type { Integer, Reference, TemporaryIdentifier } from "./identifiers.js";
import type * as messages from "./messages.js";
import type { Draft } from "./wire.js";

/** The value of a JSON attribute. Its numbers are those of JavaScript. */
export type JsonValue =
    | null | boolean | number | string
    | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** A value that a reply has: an integer is a number or a bigint, a decimal number a `Decimal`. */
export type Value =
    | null | boolean | Integer | string | Decimal | Uuid | Url | StoredDate | Uint8Array
    | Identifier | readonly Identifier[] | JsonValue;

/** A value that can be stored or compared with. */
export type GivenValue =
    | Value | Date | Json | TemporaryIdentifier | readonly Reference[];

/** The value of `%@`, `%K` or `$name`. A list is one argument, for IN and BETWEEN. */
export type Argument = GivenValue | readonly GivenValue[];

/** 2001-01-01T00:00:00Z in the milliseconds of `Date`. */
const EPOCH = Date.UTC(2001, 0, 1);
const DECIMAL = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE][+-]?[0-9]+)?$/;
const DECIMAL_DIGITS_MAX = 38;
const DATE_MAX = 8.64e15;

/** A decimal number with at most 38 significant digits, as text. */
export class Decimal {
    /** The digits, such as `-12.50` or `1e-7`. */
    readonly text: string;

    constructor(number: string | Integer) {
        const text = String(number).toLowerCase();
        const match = DECIMAL.exec(text);
        if (match === null) {
            throw malformed("the text is not a decimal number", "a decimal looks like -12.50");
        }
        const digits = (match[1]! + (match[2] ?? "")).replace(/^0+/, "").replace(/0+$/, "");
        if (digits.length > DECIMAL_DIGITS_MAX) {
            throw malformed(
                `a decimal number has at most ${DECIMAL_DIGITS_MAX} significant digits`);
        }
        this.text = text;
    }

    /** Whether the texts are equal: 1.5 and 1.50 are not. */
    equals(other: unknown): boolean {
        return other instanceof Decimal && other.text === this.text;
    }

    /** The closest number of JavaScript. */
    valueOf(): number {
        return Number(this.text);
    }

    toString(): string {
        return this.text;
    }

    toJSON(): string {
        return this.text;
    }
}

/** The value of a URL attribute: percent-encoded text, as it is stored. */
export class Url {
    constructor(readonly text: string) {}

    equals(other: unknown): boolean {
        return other instanceof Url && other.text === this.text;
    }

    toString(): string {
        return this.text;
    }

    toJSON(): string {
        return this.text;
    }
}

/** The value of a date attribute. A `Date` has milliseconds, and the store has a double of seconds,
 * which is exact to about 0.1 µs. As long as its time is not set, a date that was read is written,
 * and compared, with the exact value. */
export class StoredDate extends Date {
    constructor(
        /** The exact value: seconds since 2001-01-01T00:00:00Z. */
        readonly seconds: number,
    ) {
        super(millisecondsOf(seconds));
        if (Number.isNaN(this.getTime())) {
            throw malformed(
                `the date ${seconds} s after 2001 is not one of JavaScript`,
                "select the other columns");
        }
    }
}

/** A JSON document to store, where JavaScript's value alone could be of another type: a text, a
 * number, a boolean, null, or an empty list. Objects, and lists of anything but identifiers, are
 * documents without it. */
export class Json {
    constructor(readonly document: JsonValue) {}

    /** The document as text. */
    get text(): string {
        return jsonText(this.document);
    }
}

/** The error for a value that no attribute can have. */
export function malformed(message: string, hint = ""): LarderError {
    return failure("MALFORMED_VALUE", message, { hint });
}

/** The error for a value of a type that does not fit. */
export function wrongType(message: string, hint = ""): LarderError {
    return failure("WRONG_TYPE", message, { hint });
}

/** The name of a value's type, for errors. */
export function typeName(value: unknown): string {
    if (value === null) return "null";
    if (typeof value !== "object") return typeof value;
    return value.constructor?.name ?? "object";
}

// From JavaScript

function millisecondsOf(seconds: number): number {
    const milliseconds = Math.round(seconds * 1_000) + EPOCH;
    return Math.abs(milliseconds) <= DATE_MAX ? milliseconds : NaN;
}

/** The seconds since 2001. */
export function secondsOf(date: Date): number {
    const time = date.getTime();
    if (Number.isNaN(time)) throw malformed("the date is not valid");
    if (date instanceof StoredDate && millisecondsOf(date.seconds) === time) return date.seconds;
    return (time - EPOCH) / 1_000;
}

/** A document as text. As for JSON.stringify, an undefined property of an object is absent; what
 * would be changed otherwise is an error. */
export function jsonText(document: unknown): string {
    const check = function (this: unknown, name: string, _: unknown): unknown {
        const value = (this as { [name: string]: unknown })[name];
        const isDocument = value === null || typeof value === "boolean"
            || typeof value === "string" || (typeof value === "number" && isFinite(value))
            || isPlain(value) || (value === undefined && !Array.isArray(this) && name !== "");
        if (isDocument) return value;
        throw malformed(`${typeName(value)} is not a value of a JSON document`);
    };
    try {
        return JSON.stringify(document, check);
    } catch (error) {
        if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
        throw malformed(`the value is not a JSON document: ${error.message}`);
    }
}

function isPlain(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    if (Array.isArray(value)) return true;
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function numberMessage(number: number): messages.Value["kind"] {
    if (Number.isNaN(number)) throw malformed("NaN is not a value");
    return Number.isSafeInteger(number) && !Object.is(number, -0)
        ? { case: "intValue", value: BigInt(number) } : { case: "doubleValue", value: number };
}

function objectMessage(value: object): Draft<messages.Value["kind"]> {
    if (value instanceof Date) return { case: "dateValue", value: secondsOf(value) };
    if (value instanceof Uint8Array) return { case: "dataValue", value };
    if (value instanceof Decimal) return { case: "decimalValue", value: value.text };
    if (value instanceof Uuid) return { case: "uuidValue", value: value.bytes };
    if (value instanceof Url) return { case: "urlValue", value: value.text };
    if (value instanceof Json) return { case: "jsonValue", value: value.text };
    if (isReference(value)) return { case: "objectValue", value: value.message() };
    if (Array.isArray(value) && value.every(isReference)) {
        return { case: "objectsValue", value: { items: value.map((each) => each.message()) } };
    }
    if (isPlain(value)) return { case: "jsonValue", value: jsonText(value) };
    throw wrongType(`${typeName(value)} is not a type of values`);
}

/** A value of a property or an argument. Identifiers, and lists of them, are objects. */
export function valueMessage(value: GivenValue): Draft<messages.Value> {
    switch (typeof value) {
        case "boolean": return { kind: { case: "boolValue", value } };
        case "number": return { kind: numberMessage(value) };
        case "bigint": return { kind: { case: "intValue", value: int64(value) } };
        case "string": return { kind: { case: "stringValue", value } };
        case "object":
            return { kind: value === null ? { case: "nullValue", value: true }
                : objectMessage(value) };
        default: throw wrongType(`${typeName(value)} is not a type of values`);
    }
}

function argumentMessage(given: Argument): Draft<messages.Argument> {
    if (Array.isArray(given)) {
        const items = given.map((each: GivenValue) => valueMessage(each));
        return { kind: { case: "list", value: { items } } };
    }
    return { kind: { case: "value", value: valueMessage(given as GivenValue) } };
}

/** The values of `%@` and `%K`. */
export function argumentMessages(given: readonly Argument[] = []): Draft<messages.Argument>[] {
    if (!Array.isArray(given)) {
        throw wrongType("the arguments are not a list", "write [value]");
    }
    return given.map(argumentMessage);
}

/** The values of `$name`, in the order of their names. */
export function variableMessages(
    given: { readonly [name: string]: Argument } = {},
): Draft<messages.NamedArgument>[] {
    return Object.keys(given).sort().map((name) => ({
        name, argument: argumentMessage(given[name]!) }));
}

/** The values of properties. A property that is undefined is absent. */
export function propertyMessages(
    values: { readonly [name: string]: unknown } = {},
): Draft<messages.PropertyValue>[] {
    return Object.entries(values).filter(([, value]) => value !== undefined).map(
        ([name, value]) => ({ name, value: valueMessage(value as GivenValue) }));
}

// To JavaScript

/** The document in a text of a reply. */
export function jsonOf(text: string): JsonValue {
    try {
        return JSON.parse(text) as JsonValue;
    } catch {
        throw violation("a malformed JSON document");
    }
}

/** The decimal number in a text of a reply. */
export function decimalOf(text: string): Decimal {
    try {
        return new Decimal(text);
    } catch {
        throw violation("a malformed decimal number");
    }
}

/** The date of a reply, if JavaScript has it. */
export function dateOf(seconds: number): StoredDate {
    if (!Number.isFinite(seconds)) throw violation("a malformed date");
    return new StoredDate(seconds);
}

/** The UUID in 16 bytes of a reply. */
export function uuidOf(bytes: Uint8Array): Uuid {
    if (bytes.length !== 16) throw violation("a malformed UUID");
    return Uuid.fromBytes(bytes);
}

/** The value of a message in a reply. */
export function valueOfMessage(message: messages.Value): Value {
    const { kind } = message;
    if (kind === undefined) throw violation("a value of an unknown kind");
    switch (kind.case) {
        case "nullValue": return null;
        case "intValue": return integerOf(kind.value);
        case "decimalValue": return decimalOf(kind.value);
        case "dateValue": return dateOf(kind.value);
        case "uuidValue": return uuidOf(kind.value);
        case "urlValue": return new Url(kind.value);
        case "jsonValue": return jsonOf(kind.value);
        case "objectValue": return identifierOfMessage(kind.value);
        case "objectsValue": return kind.value.items.map(identifierOfMessage);
        default: return kind.value;
    }
}
