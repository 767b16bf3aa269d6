// A larderd in a scratch folder, and a server that replies as a test tells it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { LarderError } from "../src/index.js";
import { FrameReader } from "../src/frames.js";
import * as messages from "../src/messages.js";
import { decode } from "../src/decoding.js";
import { encode } from "../src/encoding.js";
import type { Draft } from "../src/wire.js";

/** For failures only: a busy machine needs a tenth. */
export const PATIENCE = 60_000;

/** Checks that an error has one of these codes. */
export function hasCode(...codes: string[]): (error: unknown) => boolean {
    return (error) => {
        assert(error instanceof LarderError, String((error as Error).stack));
        assert(codes.includes(error.code), `${error.code}: ${error.message}`);
        return true;
    };
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + PATIENCE;
    while (!await condition()) {
        assert(performance.now() < end, "the condition does not hold in time");
        await new Promise<void>((resolve) => { setTimeout(resolve, 5); });
    }
}

/** A new folder. Its path is short enough for a socket. */
export function scratchFolder(): string {
    return mkdtempSync(join(tmpdir(), "larder-"));
}

/** A server with an empty store. BUILT_PROGRAMS, or PATH, has larderd. */
export class Daemon {
    readonly folder = scratchFolder();
    readonly path = join(this.folder, "s");
    private process!: ChildProcess;

    private constructor(private readonly schema: string) {}

    static async start(schema: string): Promise<Daemon> {
        const made = new Daemon(schema);
        await made.start();
        return made;
    }

    async start(): Promise<void> {
        const program = join(process.env["BUILT_PROGRAMS"] ?? "", "larderd");
        const log = openSync(join(this.folder, "log"), "a");
        this.process = spawn(program, [
            "--store", join(this.folder, "test.store"), "--schema", this.schema,
            "--socket", this.path], { stdio: ["ignore", "ignore", log] });
        closeSync(log);
        await until(async () => {
            assert(this.process.exitCode === null, readFileSync(join(this.folder, "log"), "utf8"));
            return this.isReady();
        });
    }

    private isReady(): Promise<boolean> {
        return new Promise((resolve) => {
            const socket = createConnection({ path: this.path });
            socket.once("error", () => resolve(false));
            socket.once("connect", () => {
                socket.destroy();
                resolve(true);
            });
        });
    }

    /** Ends the server by a signal. */
    async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
        if (this.process.exitCode !== null || this.process.signalCode !== null) return;
        const ended = new Promise<void>((resolve) => { this.process.once("exit", resolve); });
        this.process.kill(signal);
        await ended;
    }

    async remove(): Promise<void> {
        await this.end("SIGKILL");
        rmSync(this.folder, { recursive: true, force: true });
    }
}

/** The frame of an envelope, or of bytes. */
export function framed(content: Uint8Array | Draft<messages.Envelope>): Uint8Array {
    const bytes = content instanceof Uint8Array ? content : encode(messages.Envelope, content);
    const frame = new Uint8Array(4 + bytes.length);
    new DataView(frame.buffer).setUint32(0, bytes.length);
    frame.set(bytes, 4);
    return frame;
}

/** The frame of a reply. */
export function reply(
    id: bigint, body: NonNullable<Draft<messages.Envelope>["body"]>,
): Uint8Array {
    return framed({ id, body });
}

/** The frame of an error. */
export function failed(id: bigint, code: string): Uint8Array {
    const number = messages.ErrorCode.numbers.get(code)!;
    return reply(id, { case: "failed", value: { code: number, message: "as the test says" } });
}

/** The answer of a test to a request: bytes, or undefined to close the connection. */
export type Answer = (request: messages.Envelope, socket: Socket) => Uint8Array | undefined;

/** A server whose replies a test chooses. */
export class Impostor {
    private readonly folder = scratchFolder();
    readonly path = join(this.folder, "s");
    readonly requests: messages.Envelope[] = [];
    private readonly sockets = new Set<Socket>();
    private readonly server: Server;
    /** Replaced by a test for the frame of another welcome. */
    welcome: (id: bigint) => Uint8Array;

    private constructor(private readonly answer: Answer, fields: Draft<messages.WelcomeReply>) {
        this.welcome = (id) => reply(id, { case: "welcome", value: {
            protocolVersion: 1, store: new Uint8Array(16), frameBytesMax: 1 << 24,
            requestsInFlightMax: 32, ...fields } });
        this.server = createServer((socket) => this.serve(socket));
    }

    static async start(
        answer: Answer, fields: Draft<messages.WelcomeReply> = {},
    ): Promise<Impostor> {
        const made = new Impostor(answer, fields);
        await new Promise<void>((resolve) => { made.server.listen(made.path, resolve); });
        return made;
    }

    /** The requests of a kind. */
    count(kind: string): number {
        return this.requests.filter((each) => each.body?.case === kind).length;
    }

    async close(): Promise<void> {
        const closed = new Promise<void>((resolve) => { this.server.close(resolve); });
        for (const each of this.sockets) each.destroy();
        await closed;
        rmSync(this.folder, { recursive: true, force: true });
    }

    private serve(socket: Socket): void {
        const reader = new FrameReader(1 << 24);
        this.sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => this.sockets.delete(socket));
        socket.on("data", (chunk) => {
            for (const content of reader.frames(chunk)) {
                const request = decode(messages.Envelope, content);
                this.requests.push(request);
                const answer = request.body?.case === "hello" ? this.welcome(request.id)
                    : this.answer(request, socket);
                if (answer === undefined) socket.end();
                else if (socket.writable) socket.write(answer);
            }
        });
    }
}
