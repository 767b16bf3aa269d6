// Frames of the protocol: a length, and an envelope. The module does no I/O.

import { failure } from "./errors.js";
import * as messages from "./messages.js";
import { decode } from "./decoding.js";
import { encode } from "./encoding.js";
import { WireError } from "./wire.js";
import type { Draft, MessageType } from "./wire.js";

const LENGTH_BYTES = 4;
/** The longest frame of either side before the end of the handshake. */
export const HANDSHAKE_BYTES_MAX = 64 << 10;
/** The longest frame of the server after it. */
export const REPLY_BYTES_MAX = 16 << 20;
const MILLISECONDS_MAX = 2 ** 32 - 1;

/** The reply to each request that this client sends. */
const REPLIES = {
    hello: "welcome", get: "batches", query: "batches", save: "saved", schema: "schemaText",
    ping: "pong", insertRows: "inserted", history: "transactions", observe: "observed",
    saveInParts: "saved",
} as const;

type Body = NonNullable<messages.Envelope["body"]>;
type BodyOf<Case> = Extract<Body, { case: Case }>["value"];

/** A request with a reply. */
export type RequestKind = keyof typeof REPLIES;
export type RequestBody<Kind extends RequestKind> = Draft<BodyOf<Kind>>;
export type ReplyBody<Kind extends RequestKind> = BodyOf<(typeof REPLIES)[Kind]>;
/** A message without a reply of its own. */
export type ControlBody = Draft<Extract<Body, { case: "credit" | "cancel" | "rows" | "savePart" }>>;

/** The bytes of a message; an error if a text in it is not of Unicode. */
export function encodedMessage<Message>(
    type: MessageType<Message>, message: Draft<Message>,
): Uint8Array {
    try {
        return encode(type, message);
    } catch (error) {
        if (!(error instanceof WireError)) throw error;
        throw failure("MALFORMED_VALUE", error.message, { cause: error });
    }
}

/** The frame of a request; 0 milliseconds leave its time to the server. */
export function encodedFrame(
    id: bigint, body: Draft<Body>, milliseconds: number, bytesMax: number, trace = "",
): Uint8Array {
    const timeoutMilliseconds = milliseconds === 0 ? 0
        : Math.min(MILLISECONDS_MAX, Math.max(1, Math.floor(milliseconds)));
    const content = encodedMessage(messages.Envelope, { id, timeoutMilliseconds, trace, body });
    if (content.length > bytesMax) {
        throw failure(
            "FRAME_TOO_LONG",
            `the request has ${content.length} bytes; at most ${bytesMax} are allowed`,
            { hint: "divide it" });
    }
    const frame = new Uint8Array(LENGTH_BYTES + content.length);
    new DataView(frame.buffer).setUint32(0, content.length);
    frame.set(content, LENGTH_BYTES);
    return frame;
}

/** Divides what a socket delivers into frames. Their lengths are checked before there is memory for
 * them. */
export class FrameReader {
    private readonly header = new Uint8Array(LENGTH_BYTES);
    private headerLength = 0;
    private content: Uint8Array | undefined;
    private contentLength = 0;

    constructor(public bytesMax: number) {}

    /** The contents of the frames that are complete. */
    *frames(chunk: Uint8Array): Generator<Uint8Array> {
        let offset = 0;
        while (offset < chunk.length) {
            if (this.content === undefined) {
                this.header[this.headerLength++] = chunk[offset++]!;
                if (this.headerLength < LENGTH_BYTES) continue;
                this.content = new Uint8Array(this.frameLength());
            }
            const part = chunk.subarray(
                offset, offset + this.content.length - this.contentLength);
            this.content.set(part, this.contentLength);
            this.contentLength += part.length;
            offset += part.length;
            if (this.contentLength === this.content.length) yield this.taken(this.content);
        }
    }

    private frameLength(): number {
        const length = new DataView(this.header.buffer).getUint32(0);
        if (length > this.bytesMax) {
            throw failure(
                "FRAME_TOO_LONG",
                `the server sent a frame of ${length} bytes; at most ${this.bytesMax} are allowed`);
        }
        return length;
    }

    private taken(content: Uint8Array): Uint8Array {
        this.content = undefined;
        this.headerLength = this.contentLength = 0;
        return content;
    }
}

/** The envelope in the content of a frame. */
export function decodedFrame(content: Uint8Array): messages.Envelope & { body: Body } {
    let envelope: messages.Envelope;
    try {
        envelope = decode(messages.Envelope, content);
    } catch (error) {
        if (!(error instanceof WireError)) throw error;
        throw failure(
            "MALFORMED_FRAME", `the server sent a frame that is not an envelope: ${error.message}`);
    }
    const { body } = envelope;
    if (body === undefined) {
        throw failure("UNKNOWN_MESSAGE", "the server sent a message that is not a known reply");
    }
    return { ...envelope, body };
}

/** Whether another reply to the same request follows. */
export function hasMore(reply: object): boolean {
    return (reply as { more?: boolean }).more === true;
}

/** The body of a reply to a request of this kind. */
export function replyBody<Kind extends RequestKind>(body: Body, kind: Kind): ReplyBody<Kind> {
    if (body.case !== REPLIES[kind]) {
        throw failure(
            "MALFORMED_MESSAGE",
            `the server replied with another message: ${body.case} to ${kind}`);
    }
    return body.value as ReplyBody<Kind>;
}
