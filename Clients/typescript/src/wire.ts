// The tables of protobuf's messages, which messages.ts has, and what encoding.ts and decoding.ts
// share.

export type ScalarType =
    | "bool" | "uint32" | "int32" | "int64" | "sint64" | "uint64" | "fixed32" | "sfixed64"
    | "float" | "double" | "string" | "bytes";

/** The names and the numbers of an enumeration. */
export interface EnumerationType<Name extends string = string> {
    readonly kind: "enumeration";
    readonly names: ReadonlyMap<number, Name>;
    readonly numbers: ReadonlyMap<string, number>;
}

/** How often a field occurs; a `member` is one of several of which only one is present. */
export type Presence = "always" | "optional" | "repeated" | "member";

/** A field of a message. */
export interface Field {
    readonly number: number;
    readonly name: string;
    readonly type: ScalarType | EnumerationType | MessageType<unknown>;
    readonly presence: Presence;
    /** The property that has the present member. */
    readonly union: string;
}

/** A message: its fields in the order of their numbers. */
export interface MessageType<Message> {
    readonly kind: "message";
    readonly name: string;
    readonly fields: ReadonlyMap<number, Field>;
    /** The values of absent fields. */
    readonly defaults: Readonly<Record<string, unknown>>;
    /** Never set; it connects the table with the interface. */
    readonly message?: Message;
}

type Row =
    | readonly [number, string, Field["type"]]
    | readonly [number, string, Field["type"], Presence]
    | readonly [number, string, Field["type"], Presence, string];

type Leaf =
    | string | number | bigint | boolean | undefined
    | Uint8Array | Uint32Array | BigInt64Array | Float64Array;

/** A message to encode: absent fields have their defaults. */
export type Draft<Message> =
    Message extends Leaf ? Message
    : Message extends readonly (infer Item)[] ? readonly Draft<Item>[]
    : Message extends { case: infer Case; value: infer Value }
        ? { readonly case: Case; readonly value: Draft<Value> }
    : { readonly [Name in keyof Message]?: Draft<Message[Name]> | undefined };

/** The fields of a message by their names. */
export type Fields = Record<string, unknown>;

/** Bytes that are not a message, or a value that cannot be one. */
export class WireError extends Error {
    override readonly name = "WireError";
}

/** The list of an absent field. */
export const NONE: readonly unknown[] = Object.freeze([]);

export function enumeration<Name extends string>(
    entries: Readonly<Record<number, Name>>,
): EnumerationType<Name> {
    const names = new Map<number, Name>();
    const numbers = new Map<string, number>();
    for (const [number, name] of Object.entries(entries)) {
        names.set(Number(number), name);
        numbers.set(name, Number(number));
    }
    return { kind: "enumeration", names, numbers };
}

export function define<Message>(name: string, rows: readonly Row[]): MessageType<Message> {
    const fields = new Map<number, Field>();
    const defaults: Fields = {};
    for (const [number, property, type, presence = "always", union = ""] of rows) {
        const field: Field = { number, name: property, type, presence, union };
        fields.set(number, field);
        const value = defaultOf(field);
        if (value !== undefined) defaults[property] = value;
    }
    return { kind: "message", name, fields, defaults: Object.freeze(defaults) };
}

/** The value of an absent field; undefined if that is distinct from every value. */
export function defaultOf({ type, presence }: Field): unknown {
    if (presence === "repeated") return emptyList(type);
    if (presence !== "always") return undefined;
    if (typeof type === "object") {
        return type.kind === "message" ? undefined : type.names.get(0);
    }
    switch (type) {
        case "bool": return false;
        case "string": return "";
        case "bytes": return new Uint8Array();
        case "int64": case "sint64": case "uint64": case "sfixed64": return 0n;
        default: return 0;
    }
}

function emptyList(type: Field["type"]): unknown {
    switch (type) {
        case "fixed32": return new Uint32Array();
        case "sfixed64": return new BigInt64Array();
        case "double": return new Float64Array();
        default: return NONE;
    }
}

/** How the values of a type are written. */
export function wireTypeOf(type: Field["type"]): number {
    if (typeof type === "object") return type.kind === "message" ? 2 : 0;
    switch (type) {
        case "sfixed64": case "double": return 1;
        case "string": case "bytes": return 2;
        case "fixed32": case "float": return 5;
        default: return 0;
    }
}
