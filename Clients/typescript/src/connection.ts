// One connection: a socket, whose replies are passed to the requests with their ids.

import { createConnection } from "node:net";
import type { Socket } from "node:net";

import { AbortedInFlight, Lost, NoReply } from "./attempts.js";
import { LarderError, connectionFailed, failure, isFailure } from "./errors.js";
import { errorOfReply } from "./failed.js";
import { FrameReader, HANDSHAKE_BYTES_MAX, REPLY_BYTES_MAX, decodedFrame, encodedFrame }
    from "./frames.js";
import type { ControlBody, ReplyBody, RequestBody, RequestKind } from "./frames.js";
import { ServerDescription, helloOf } from "./server.js";
import type { Settings } from "./server.js";
import { RequestTracker } from "./tracker.js";
import type { Pending, Reply } from "./tracker.js";
import { Aborted, Permits, TimedOut, wait } from "./waiting.js";
import type { WaitLimit } from "./waiting.js";

/** How much longer than the server a client waits for a reply, in milliseconds. */
export const SLACK = 5_000;
/** The errors of a socket that cannot be connected, in words. */
const REASONS = new Map([
    ["EACCES", "permission denied"], ["ECONNREFUSED", "connection refused"],
    ["ENOENT", "no such file or directory"]]);
const CLOSED = "the server closed the connection";

/** How a request is sent. */
export interface RequestOptions {
    /** The time to send it, in milliseconds. */
    readonly sending: number;
    /** The time of the server; 0 leaves it to the server. */
    readonly limit?: number;
    /** The replies that may wait for the program. */
    readonly unreadMax?: number;
    /** Whether the server does not count it among the unanswered requests. */
    readonly isEndless?: boolean;
    readonly signal?: AbortSignal | undefined;
    readonly trace?: string | undefined;
}

type AnyBody = Parameters<typeof encodedFrame>[1];

/** A connection after its handshake. */
export class Connection {
    private readonly tracker = new RequestTracker();
    private readonly reader = new FrameReader(HANDSHAKE_BYTES_MAX);
    private requestBytesMax = HANDSHAKE_BYTES_MAX;
    private permits = new Permits(1);
    /** Called when the socket accepts more, or has ended. */
    private readonly draining = new Set<() => void>();
    private description: ServerDescription | undefined;

    private constructor(private readonly socket: Socket) {
        socket.on("data", (chunk) => this.receive(chunk));
        socket.on("drain", () => this.wakeWriters());
        socket.on("error", () => this.fail(connectionFailed(CLOSED)));
        socket.on("close", () => this.fail(connectionFailed(CLOSED)));
    }

    /** Connects and performs the handshake. */
    static async open(
        settings: Settings, milliseconds: number, signal?: AbortSignal,
    ): Promise<Connection> {
        const end = performance.now() + milliseconds;
        const left = (): number => Math.max(1, end - performance.now());
        const { path } = settings;
        let made: Connection | undefined;
        try {
            made = new Connection(await connected(path, { milliseconds, signal }));
            const hello = await made.request("hello", helloOf(settings), {
                sending: left(), limit: left(), signal });
            const welcome = await hello.reply({ milliseconds: left(), signal });
            made.begin(new ServerDescription(welcome));
            return made;
        } catch (error) {
            made?.fail(connectionFailed("the handshake failed"));
            if (error instanceof Lost) throw error.error;
            if (error instanceof TimedOut || error instanceof NoReply) {
                throw connectionFailed(`cannot connect to ${path}: timed out`);
            }
            throw error;
        }
    }

    private begin(server: ServerDescription): void {
        this.description = server;
        this.requestBytesMax = server.requestBytesMax;
        this.reader.bytesMax = REPLY_BYTES_MAX;
        // Beyond this number the server would not read `credit` and `cancel` either.
        this.permits = new Permits(Math.max(1, server.requestsInFlightMax - 1));
    }

    get server(): ServerDescription {
        return this.description!;
    }

    /** Whether requests can be sent. */
    get isOpen(): boolean {
        return this.tracker.error === undefined;
    }

    /** Why the connection has ended. */
    get error(): LarderError {
        return this.tracker.error ?? connectionFailed("the connection was closed");
    }

    /** Ends the connection; requests without a reply fail with the error. */
    fail(error: LarderError): void {
        this.tracker.lost(error);
        this.socket.destroy();
        this.wakeWriters();
    }

    private wakeWriters(): void {
        for (const each of [...this.draining]) each();
    }

    private receive(chunk: Uint8Array): void {
        try {
            for (const content of this.reader.frames(chunk)) {
                if (!this.isOpen) return;
                this.tracker.received(decodedFrame(content));
            }
        } catch (error) {
            this.fail(error instanceof LarderError ? error
                : connectionFailed(`a reply cannot be read: ${String(error)}`, error));
        }
    }

    /** Sends a request. Requests that wait for others to end are sent in the order of the calls. */
    async request<Kind extends RequestKind>(
        kind: Kind, body: RequestBody<Kind>, options: RequestOptions,
    ): Promise<Request<Kind>> {
        const { sending, isEndless = false, signal } = options;
        if (signal?.aborted === true) throw new Aborted(signal.reason);
        const limit = { milliseconds: sending, signal };
        const start = (): [Request<Kind>, boolean] => this.start(kind, body, options);
        const [made, isAccepted] = isEndless ? start() : await this.permitted(limit, start);
        if (isAccepted) return made;
        try {
            await this.drained(limit);
        } catch (error) {
            // The socket may send what it has.
            this.abandon(made);
            throw error;
        }
        return made;
    }

    private async permitted<Result>(limit: WaitLimit, start: () => Result): Promise<Result> {
        try {
            return await this.permits.acquire(limit, start);
        } catch (error) {
            if (!(error instanceof TimedOut)) throw error;
            throw failure("TIMEOUT", "too many requests of this client have no reply yet", {
                hint: "close streams that are not read to their end" });
        }
    }

    /** Writes a request, and returns whether the socket accepts more. */
    private start<Kind extends RequestKind>(
        kind: Kind, body: RequestBody<Kind>, options: RequestOptions,
    ): [Request<Kind>, boolean] {
        const { limit = 0, unreadMax = 1, isEndless = false, trace } = options;
        const { permits } = this;
        const made = new Request(this, kind, unreadMax, () => {
            if (!isEndless) permits.release();
        });
        this.tracker.add(made);
        try {
            const request = { case: kind, value: body } as AnyBody;
            return [made, this.write(made.id, request, limit, trace)];
        } catch (error) {
            this.tracker.notSent(made);
            throw error;
        }
    }

    /** Sends a message that has no reply of its own. */
    async send(body: ControlBody, limit: WaitLimit = { milliseconds: SLACK }): Promise<void> {
        if (!this.write(this.tracker.newId(), body, 0)) await this.drained(limit);
    }

    /** Passes a frame to the socket. Returns whether it accepts more. */
    private write(id: bigint, body: AnyBody, time: number, trace?: string): boolean {
        const frame = encodedFrame(id, body, time, this.requestBytesMax, trace);
        if (this.isOpen && !this.socket.writable) this.fail(connectionFailed(CLOSED));
        if (!this.isOpen) throw new Lost(this.error, false);
        const isAccepted = this.socket.write(frame);
        if (this.socket.errored) {
            // The first attempt to write the frame has failed.
            this.fail(connectionFailed(CLOSED));
            throw new Lost(this.error, false);
        }
        return isAccepted;
    }

    /** Waits until the socket accepts more. */
    private async drained(limit: WaitLimit): Promise<void> {
        try {
            await wait<void>(limit, (resolve) => {
                this.draining.add(resolve);
                return () => this.draining.delete(resolve);
            });
        } catch (error) {
            if (error instanceof TimedOut) {
                this.fail(connectionFailed("the server does not read in time"));
            } else {
                throw error instanceof Aborted ? new AbortedInFlight(error.reason) : error;
            }
        }
    }

    /** Cancels a request, whose further replies are discarded. */
    abandon(request: Pending): void {
        if (!this.tracker.abandon(request)) return;
        const cancel: ControlBody = { case: "cancel", value: { requestId: request.id } };
        // The end of the connection ends the request, too.
        this.send(cancel).catch(() => {});
    }
}

/** The socket at a path, once it is connected. */
async function connected(path: string, limit: WaitLimit): Promise<Socket> {
    let socket: Socket | undefined;
    try {
        return await wait<Socket>(limit, (resolve, reject) => {
            const made = socket = createConnection({ path });
            made.once("error", reject);
            made.once("connect", () => resolve(made));
            return () => made.removeListener("error", reject);
        });
    } catch (error) {
        socket?.on("error", () => {});
        socket?.destroy();
        if (error instanceof TimedOut || error instanceof Aborted) throw error;
        const { code = "", message } = error as { code?: string; message: string };
        throw failure(
            code === "EACCES" ? "PERMISSION_DENIED" : "CONNECTION_FAILED",
            `cannot connect to ${path}: ${REASONS.get(code) ?? message}`, { cause: error });
    }
}

/** A request that was sent, and its replies. */
export class Request<Kind extends RequestKind> implements Pending {
    id = 0n;
    isAbandoned = false;
    private readonly replies: (Reply | undefined)[] = [];
    private wake: (() => void) | undefined;

    constructor(
        private readonly connection: Connection, readonly kind: Kind, readonly unreadMax: number,
        readonly ended: () => void,
    ) {}

    get unread(): number {
        return this.replies.length;
    }

    deliver(reply: Reply | undefined): void {
        this.replies.push(reply);
        this.wake?.();
    }

    /** The body of the next reply; fails with the error of `failed`, Lost, NoReply or Aborted. A
     * server that does not reply in its own time hangs, so that the connection ends. */
    async reply(limit: WaitLimit): Promise<ReplyBody<Kind>> {
        if (this.replies.length === 0) await this.arrival(limit);
        const reply = this.replies[0];
        if (reply === undefined) throw new Lost(this.connection.error, true);
        // It stays: no reply follows it. The error has the caller in its stack.
        if ("failed" in reply) throw errorOfReply(reply.failed);
        this.replies.shift();
        return reply.body as ReplyBody<Kind>;
    }

    private async arrival(limit: WaitLimit): Promise<void> {
        try {
            await wait<void>(limit, (resolve) => {
                this.wake = resolve;
                return () => { this.wake = undefined; };
            });
        } catch (error) {
            if (error instanceof TimedOut) {
                this.connection.fail(connectionFailed("the server did not reply in time"));
                throw new NoReply(limit.milliseconds ?? 0);
            }
            throw error instanceof Aborted ? new AbortedInFlight(error.reason) : error;
        }
    }

    /** The result of work with a reply. If it finds that the reply violates the protocol, the
     * connection ends. */
    checked<Result>(work: () => Result): Result {
        try {
            return work();
        } catch (error) {
            if (isFailure(error, "MALFORMED_MESSAGE")) this.connection.fail(error);
            throw error;
        }
    }

    /** Allows the server another reply. */
    addCredit(): Promise<void> {
        return this.connection.send({
            case: "credit", value: { requestId: this.id, batches: 1 } });
    }

    /** Sends a part of an insert stream or a save. */
    send(part: ControlBody, limit: WaitLimit): Promise<void> {
        return this.connection.send(part, limit);
    }

    /** Ends the request; nothing may wait for a reply then. */
    close(): void {
        this.connection.abandon(this);
    }
}
