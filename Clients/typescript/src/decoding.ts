// The bytes of protobuf as messages, by the tables of wire.ts.
//
// The decoder never reads beyond its message, and allocates memory only for bytes that it has read:
// a list of numbers needs at most eight times its bytes, and the number of messages in a message is
// limited. No message of the protocol contains itself, so that the depth is limited, too.

import { NONE, WireError, wireTypeOf } from "./wire.js";
import type { Field, Fields, MessageType } from "./wire.js";

/** The most messages in one message; the longest replies have a tenth. */
export const MESSAGES_MAX = 1 << 20;
// A mark of the byte order is a character of the text.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text in bytes of UTF-8. */
export function decodedText(bytes: Uint8Array): string {
    try {
        return decoder.decode(bytes);
    } catch {
        throw new WireError("a text is not valid UTF-8");
    }
}

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
    const values: Fields = { ...type.defaults };
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
    reader: Reader, field: Field, wireType: number, end: number, values: Fields,
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
