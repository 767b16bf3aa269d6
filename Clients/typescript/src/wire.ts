// The encoding of protobuf: messages as bytes and back, by the tables that messages.ts has. It does
// no I/O.
//
// A decoder never reads beyond its message, and allocates memory only for bytes that it has read:
// a list of numbers needs at most eight times its bytes, and the number of messages in a message is
// limited. No message of the protocol contains itself, so that the depth is limited, too.

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

type Values = Record<string, unknown>;

/** Bytes that are not a message, or a value that cannot be one. */
export class WireError extends Error {
    override readonly name = "WireError";
}

/** The most messages in one message; the longest replies have a tenth. */
export const MESSAGES_MAX = 1 << 20;
const NONE: readonly unknown[] = Object.freeze([]);
const SURROGATE = /\p{Surrogate}/u;
const encoder = new TextEncoder();
// A mark of the byte order is a character of the text.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
    const defaults: Values = {};
    for (const [number, property, type, presence = "always", union = ""] of rows) {
        const field: Field = { number, name: property, type, presence, union };
        fields.set(number, field);
        const value = defaultOf(field);
        if (value !== undefined) defaults[property] = value;
    }
    return { kind: "message", name, fields, defaults: Object.freeze(defaults) };
}

function defaultOf({ type, presence }: Field): unknown {
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

/** The text as UTF-8; an error for one that is not of Unicode. */
export function encodedText(text: string): Uint8Array {
    if (SURROGATE.test(text)) {
        throw new WireError("the text has characters that are not of Unicode");
    }
    return encoder.encode(text);
}

/** The text in bytes of UTF-8. */
export function decodedText(bytes: Uint8Array): string {
    try {
        return decoder.decode(bytes);
    } catch {
        throw new WireError("a text is not valid UTF-8");
    }
}

// Encoding

class Writer {
    private bytes = new Uint8Array(256);
    private view = new DataView(this.bytes.buffer);
    private length = 0;

    result(): Uint8Array {
        return this.bytes.subarray(0, this.length);
    }

    /** Makes room, and returns where it begins. */
    private reserve(count: number): number {
        const start = this.length;
        this.length += count;
        if (this.length > this.bytes.length) {
            const longer = new Uint8Array(Math.max(this.length, 2 * this.bytes.length));
            longer.set(this.bytes.subarray(0, start));
            this.bytes = longer;
            this.view = new DataView(longer.buffer);
        }
        return start;
    }

    private byte(byte: number): void {
        const start = this.reserve(1);
        this.bytes[start] = byte;
    }

    varint(number: number): void {
        let rest = number;
        while (rest > 0x7f) {
            this.byte((rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        this.byte(rest);
    }

    longVarint(number: bigint): void {
        let rest = BigInt.asUintN(64, number);
        while (rest > 0x7fn) {
            this.byte(Number(rest & 0x7fn) | 0x80);
            rest >>= 7n;
        }
        this.byte(Number(rest));
    }

    fixed32(number: number): void {
        const start = this.reserve(4);
        this.view.setUint32(start, number, true);
    }

    sfixed64(number: bigint): void {
        const start = this.reserve(8);
        this.view.setBigInt64(start, number, true);
    }

    float(number: number): void {
        const start = this.reserve(4);
        this.view.setFloat32(start, number, true);
    }

    double(number: number): void {
        const start = this.reserve(8);
        this.view.setFloat64(start, number, true);
    }

    raw(bytes: Uint8Array): void {
        const start = this.reserve(bytes.length);
        this.bytes.set(bytes, start);
    }

    delimited(bytes: Uint8Array): void {
        this.varint(bytes.length);
        this.raw(bytes);
    }
}

/** The bytes of a message. Equal messages have equal bytes. */
export function encode<Message>(
    type: MessageType<Message>, message: Draft<Message>,
): Uint8Array {
    const writer = new Writer();
    writeMessage(writer, type, message as Values);
    return writer.result();
}

function writeMessage(writer: Writer, type: MessageType<unknown>, message: Values): void {
    for (const field of type.fields.values()) {
        if (field.presence === "member") {
            const member = message[field.union] as { case: string; value: unknown } | undefined;
            if (member?.case === field.name) writeField(writer, field, member.value);
            continue;
        }
        const value = message[field.name];
        if (value === undefined) continue;
        if (field.presence === "repeated") {
            writeList(writer, field, value as ArrayLike<unknown>);
        } else if (field.presence === "optional" || !isDefault(field, value)) {
            writeField(writer, field, value);
        }
    }
}

function isDefault(field: Field, value: unknown): boolean {
    if (value instanceof Uint8Array) return value.length === 0;
    return Object.is(value, defaultOf(field));
}

function wireTypeOf(type: Field["type"]): number {
    if (typeof type === "object") return type.kind === "message" ? 2 : 0;
    switch (type) {
        case "sfixed64": case "double": return 1;
        case "string": case "bytes": return 2;
        case "fixed32": case "float": return 5;
        default: return 0;
    }
}

function writeField(writer: Writer, field: Field, value: unknown): void {
    writer.varint((field.number << 3) | wireTypeOf(field.type));
    writeValue(writer, field.type, value);
}

function writeList(writer: Writer, field: Field, values: ArrayLike<unknown>): void {
    if (values.length === 0) return;
    if (wireTypeOf(field.type) === 2) {
        for (let index = 0; index < values.length; index += 1) {
            writeField(writer, field, values[index]);
        }
        return;
    }
    const packed = new Writer();
    for (let index = 0; index < values.length; index += 1) {
        writeValue(packed, field.type, values[index]);
    }
    writer.varint((field.number << 3) | 2);
    writer.delimited(packed.result());
}

function writeValue(writer: Writer, type: Field["type"], value: unknown): void {
    if (typeof type === "object") {
        if (type.kind === "message") {
            const content = new Writer();
            writeMessage(content, type, value as Values);
            writer.delimited(content.result());
        } else {
            writer.varint(type.numbers.get(value as string) ?? 0);
        }
        return;
    }
    switch (type) {
        case "bool": writer.varint(value ? 1 : 0); break;
        case "uint32": writer.varint(value as number); break;
        case "int32": writer.longVarint(BigInt(value as number)); break;
        case "int64": case "uint64": writer.longVarint(value as bigint); break;
        case "sint64": {
            const number = value as bigint;
            writer.longVarint((number << 1n) ^ (number >> 63n));
            break;
        }
        case "fixed32": writer.fixed32(value as number); break;
        case "sfixed64": writer.sfixed64(value as bigint); break;
        case "float": writer.float(value as number); break;
        case "double": writer.double(value as number); break;
        case "string": writer.delimited(encodedText(value as string)); break;
        case "bytes": writer.delimited(value as Uint8Array); break;
    }
}

// Decoding

class Reader {
    private readonly view: DataView;
    private position = 0;
    messagesLeft = MESSAGES_MAX;

    constructor(private readonly bytes: Uint8Array) {
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    get offset(): number {
        return this.position;
    }

    /** Skips bytes, which have to be before the end, and returns where they begin. */
    private take(count: number, end: number): number {
        const start = this.position;
        if (count > end - start) throw new WireError("a message is cut off");
        this.position += count;
        return start;
    }

    /** The low and the high 32 bits of a number. */
    private halves(end: number): [number, number] {
        let low = 0;
        let high = 0;
        for (let shift = 0; shift < 70; shift += 7) {
            const byte = this.bytes[this.take(1, end)]!;
            const bits = byte & 0x7f;
            if (shift < 32) low |= bits << shift;
            if (shift > 28) high |= bits << (shift - 32);
            else if (shift === 28) high |= bits >> 4;
            if (byte < 0x80) return [low >>> 0, high >>> 0];
        }
        throw new WireError("a number is too long");
    }

    /** The low 32 bits of a number. */
    varint(end: number): number {
        return this.halves(end)[0];
    }

    longVarint(end: number): bigint {
        const [low, high] = this.halves(end);
        return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low);
    }

    isTrue(end: number): boolean {
        const [low, high] = this.halves(end);
        return low !== 0 || high !== 0;
    }

    fixed32(end: number): number {
        return this.view.getUint32(this.take(4, end), true);
    }

    sfixed64(end: number): bigint {
        return this.view.getBigInt64(this.take(8, end), true);
    }

    float(end: number): number {
        return this.view.getFloat32(this.take(4, end), true);
    }

    double(end: number): number {
        return this.view.getFloat64(this.take(8, end), true);
    }

    /** The end of a part with its length before it. */
    delimited(end: number): number {
        const [low, high] = this.halves(end);
        if (high !== 0 || low > end - this.position) throw new WireError("a message is cut off");
        return this.position + low;
    }

    part(end: number): Uint8Array {
        const start = this.position;
        this.position = end;
        return this.bytes.subarray(start, end);
    }

    skip(wireType: number, end: number): void {
        switch (wireType) {
            case 0: this.halves(end); break;
            case 1: this.take(8, end); break;
            case 2: this.part(this.delimited(end)); break;
            case 5: this.take(4, end); break;
            default: throw new WireError(`a message has the wire type ${wireType}`);
        }
    }
}

/** The message in bytes; a WireError for other bytes. */
export function decode<Message>(type: MessageType<Message>, bytes: Uint8Array): Message {
    return readMessage(new Reader(bytes), type, bytes.length) as Message;
}

function readMessage(reader: Reader, type: MessageType<unknown>, end: number): unknown {
    reader.messagesLeft -= 1;
    if (reader.messagesLeft < 0) {
        throw new WireError(`a message contains over ${MESSAGES_MAX} messages`);
    }
    const values: Values = { ...type.defaults };
    while (reader.offset < end) {
        const key = reader.varint(end);
        const wireType = key & 7;
        const field = type.fields.get(key >>> 3);
        if (field === undefined) {
            reader.skip(wireType, end);
        } else if (field.presence === "repeated") {
            readItems(reader, field, wireType, end, values);
        } else {
            const value = readTyped(reader, field, wireType, end);
            if (field.presence === "member") {
                values[field.union] = { case: field.name, value };
            } else {
                values[field.name] = value;
            }
        }
    }
    return values;
}

function readTyped(reader: Reader, field: Field, wireType: number, end: number): unknown {
    if (wireType !== wireTypeOf(field.type)) {
        throw new WireError(`the field ${field.name} has the wire type ${wireType}`);
    }
    return readValue(reader, field.type, end);
}

/** Adds one item, or a packed list of them. */
function readItems(
    reader: Reader, field: Field, wireType: number, end: number, values: Values,
): void {
    const { name, type } = field;
    if (type === "fixed32" || type === "sfixed64" || type === "double") {
        // Joining many parts would take time that is quadratic in their number.
        if (wireType !== 2 || (values[name] as ArrayLike<unknown>).length > 0) {
            throw new WireError(`the list ${name} is not packed`);
        }
        values[name] = fixedList(reader, type, reader.delimited(end));
        return;
    }
    if (values[name] === NONE) values[name] = [];
    const list = values[name] as unknown[];
    if (wireTypeOf(type) === 2 || wireType !== 2) {
        list.push(readTyped(reader, field, wireType, end));
        return;
    }
    const partEnd = reader.delimited(end);
    while (reader.offset < partEnd) list.push(readValue(reader, type, partEnd));
}

function fixedList(
    reader: Reader, type: "fixed32" | "sfixed64" | "double", end: number,
): Uint32Array | BigInt64Array | Float64Array {
    const length = Math.ceil((end - reader.offset) / (type === "fixed32" ? 4 : 8));
    if (type === "sfixed64") {
        return new BigInt64Array(length).map(() => reader.sfixed64(end));
    }
    return type === "fixed32" ? new Uint32Array(length).map(() => reader.fixed32(end))
        : new Float64Array(length).map(() => reader.double(end));
}

function readValue(reader: Reader, type: Field["type"], end: number): unknown {
    if (typeof type === "object") {
        if (type.kind === "message") return readMessage(reader, type, reader.delimited(end));
        const number = reader.varint(end);
        const name = type.names.get(number);
        if (name === undefined) throw new WireError(`a message has the enumerator ${number}`);
        return name;
    }
    switch (type) {
        case "bool": return reader.isTrue(end);
        case "uint32": return reader.varint(end);
        case "int32": return reader.varint(end) | 0;
        case "int64": return BigInt.asIntN(64, reader.longVarint(end));
        case "uint64": return reader.longVarint(end);
        case "sint64": {
            const number = reader.longVarint(end);
            return (number >> 1n) ^ -(number & 1n);
        }
        case "fixed32": return reader.fixed32(end);
        case "sfixed64": return reader.sfixed64(end);
        case "float": return reader.float(end);
        case "double": return reader.double(end);
        case "string": return decodedText(reader.part(reader.delimited(end)));
        // A part of a frame would keep all of it in memory.
        case "bytes": return reader.part(reader.delimited(end)).slice();
    }
}
