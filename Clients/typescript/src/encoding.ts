// Messages as the bytes of protobuf, by the tables of wire.ts.

import { WireError, defaultOf, wireTypeOf } from "./wire.js";
import type { Draft, Field, Fields, MessageType } from "./wire.js";

const SURROGATE = /\p{Surrogate}/u;
const encoder = new TextEncoder();

/** The text as UTF-8; an error for one that is not of Unicode. */
export function encodedText(text: string): Uint8Array {
    if (SURROGATE.test(text)) {
        throw new WireError("the text has characters that are not of Unicode");
    }
    return encoder.encode(text);
}

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
    writeMessage(writer, type, message as Fields);
    return writer.result();
}

function writeMessage(writer: Writer, type: MessageType<unknown>, message: Fields): void {
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
            writeMessage(content, type, value as Fields);
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
