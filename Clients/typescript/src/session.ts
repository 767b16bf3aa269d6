// The connections of a client, one after the other, and the repetition of calls.

import { Attempts, PAUSES } from "./attempts.js";
import { PARTS_MAX, SaveProgress, SaveResult, isDivided } from "./changes.js";
import type { ChangeSet } from "./changes.js";
import { Connection, SLACK } from "./connection.js";
import { connectionFailed, failure, isFailure } from "./errors.js";
import type { ErrorCode, LarderError } from "./errors.js";
import { encodedMessage, hasMore } from "./frames.js";
import type { ReplyBody, RequestBody, RequestKind } from "./frames.js";
import * as messages from "./messages.js";
import { CREDIT } from "./queries.js";
import type { CallOptions, ServerDescription, Settings } from "./server.js";
import { TimedOut, pause, wait } from "./waiting.js";

/** The errors of a server that starts or stops. */
const RETRIED: readonly ErrorCode[] = ["CONNECTION_FAILED", "UNAVAILABLE", "TIMEOUT"];
/** The time of the server for all parts of a save, in milliseconds. */
const PARTS_TIME = 3_600_000;
const PARTS_CAPABILITY = "saveInParts";
const CLIENT_CLOSED = "the client was closed";

/** A request with one reply. */
export interface Call<Kind extends RequestKind, Output> {
    readonly kind: Kind;
    readonly body: RequestBody<Kind>;
    output(reply: ReplyBody<Kind>, server: ServerDescription): Output;
}

/** A request with several replies, and the items in them. */
export interface Source<Item> {
    readonly kind: RequestKind;
    /** Whether it has no end, so that it is requested again after a lost connection. */
    readonly isEndless: boolean;
    /** The request, which continues after the items so far if it is sent again. */
    body(): RequestBody<RequestKind>;
    /** The items that a reply completes. */
    items(reply: ReplyBody<RequestKind>, server: ServerDescription): readonly Item[];
}

/** How a call is repeated. */
export interface Repetition extends CallOptions {
    readonly isWrite?: boolean;
    readonly hasKey?: boolean;
}

interface Waiter {
    resolve(connection: Connection): void;
    reject(error: unknown): void;
}

/** The current connection of a client, which is replaced when it has ended and a call needs one. */
export class Session {
    private current!: Connection;
    private isClosed = false;
    private isConnecting = false;
    private readonly waiters = new Set<Waiter>();
    private lastError: LarderError | undefined;
    private schemaText: { readonly server: ServerDescription; readonly text: string } | undefined;

    private constructor(readonly settings: Settings) {}

    /** Makes the first connection. */
    static async open(settings: Settings, signal: AbortSignal | undefined): Promise<Session> {
        const made = new Session(settings);
        const end = performance.now() + settings.connectTimeout;
        for (let next = nextPause(0); ; next = nextPause(next)) {
            try {
                made.current = await Connection.open(settings, end - performance.now(), signal);
                return made;
            } catch (error) {
                const isRepeated = isFailure(error, "UNAVAILABLE");
                if (!isRepeated || performance.now() + next > end) throw error;
            }
            await pause(next, signal);
        }
    }

    /** The server of the current or the last connection. */
    get server(): ServerDescription {
        return this.current.server;
    }

    /** Ends the connection; waiting calls fail. */
    close(): void {
        this.isClosed = true;
        const error = connectionFailed(CLIENT_CLOSED);
        this.current.fail(error);
        for (const each of [...this.waiters]) each.reject(error);
    }

    /** The connection, or another one if it has ended. */
    async connection(end: number, signal?: AbortSignal): Promise<Connection> {
        if (this.isClosed) throw connectionFailed(CLIENT_CLOSED);
        if (this.current.isOpen) return this.current;
        if (this.settings.reconnectWait <= 0) throw this.current.error;
        try {
            return await wait<Connection>(
                { milliseconds: end - performance.now(), signal }, (resolve, reject) => {
                    const waiter = { resolve, reject };
                    this.waiters.add(waiter);
                    if (!this.isConnecting) void this.reconnect();
                    return () => this.waiters.delete(waiter);
                });
        } catch (error) {
            if (!(error instanceof TimedOut)) throw error;
            throw this.lastError ?? connectionFailed("there was no connection in time");
        }
    }

    /** Connects again, as long as a call waits for it. */
    private async reconnect(): Promise<void> {
        this.isConnecting = true;
        this.lastError = undefined;
        let next = 0;
        while (this.waiters.size > 0) {
            try {
                const made = await Connection.open(this.settings, this.settings.connectTimeout);
                if (this.isClosed) {
                    made.fail(connectionFailed(CLIENT_CLOSED));
                } else {
                    this.current = made;
                    for (const each of [...this.waiters]) each.resolve(made);
                }
            } catch (error) {
                if (!isFailure(error, ...RETRIED)) {
                    for (const each of [...this.waiters]) each.reject(error);
                } else {
                    this.lastError = error;
                    next = nextPause(next);
                    await pause(next);
                }
            }
        }
        this.isConnecting = false;
    }

    /** Work with a connection and a time in milliseconds, again after failures that allow it. */
    async repeat<Output>(
        options: Repetition,
        work: (connection: Connection, milliseconds: number) => Promise<Output>,
    ): Promise<Output> {
        const { isWrite = false, hasKey = false, signal } = options;
        const { timeout, reconnectWait } = this.settings;
        const end = performance.now() + (options.timeout ?? timeout);
        const attempts = new Attempts({ isWrite, hasKey }, end, reconnectWait);
        let next = 0;
        for (;;) {
            try {
                if (next > 0) await pause(next, signal);
                const until = attempts.connectionDeadline(performance.now());
                const connection = await this.connection(until, signal);
                return await work(connection, Math.max(1, end - performance.now()));
            } catch (error) {
                attempts.failed(error, performance.now());
            }
            next = this.current.isOpen ? nextPause(next) : 0;
        }
    }

    /** The result of a call with one reply. */
    perform<Kind extends RequestKind, Output>(
        call: Call<Kind, Output>, options: Repetition,
    ): Promise<Output> {
        const { signal, trace } = options;
        return this.repeat(options, async (connection, milliseconds) => {
            const request = await connection.request(call.kind, call.body, {
                sending: milliseconds, limit: milliseconds, signal, trace });
            try {
                const reply = await request.reply({ milliseconds: milliseconds + SLACK, signal });
                return request.checked(() => call.output(reply, connection.server));
            } finally {
                request.close();
            }
        });
    }

    /** The result of a save, which is sent in parts if it is long. The time is then that of each
     * part. */
    save(changes: ChangeSet, options: CallOptions): Promise<SaveResult> {
        // The message is made once, so that it is the same in each attempt.
        const message = changes.message(this.settings.author);
        const result = changes.result();
        const repetition = { ...options, isWrite: true, hasKey: message.idempotencyKey !== "" };
        const content = encodedMessage(messages.ChangeSet, message);
        if (!isDivided(message, content.length)) {
            return this.perform({ kind: "save", body: message, output: result }, repetition);
        }
        const each = { milliseconds: options.timeout ?? this.settings.timeout,
            signal: options.signal };
        return this.repeat({ ...repetition, timeout: PARTS_TIME }, async (connection, time) => {
            if (!connection.server.capabilities.includes(PARTS_CAPABILITY)) {
                throw failure("UNSUPPORTED", "the server takes no change sets in parts", {
                    hint: "divide the set" });
            }
            const progress = new SaveProgress(content, message.changes?.length ?? 0);
            const request = await connection.request("saveInParts", {}, {
                sending: each.milliseconds, limit: time, unreadMax: 2 * PARTS_MAX,
                signal: options.signal, trace: options.trace });
            try {
                while (progress.result === undefined) {
                    if (progress.mustSend) {
                        const value = progress.nextPart(request.id);
                        await request.send({ case: "savePart", value }, each);
                    } else {
                        const reply = await request.reply({
                            ...each, milliseconds: each.milliseconds + SLACK });
                        request.checked(() => progress.received(reply));
                    }
                }
                const whole = progress.result;
                return request.checked(() => result(whole));
            } finally {
                request.close();
            }
        });
    }

    /** All items of a stream, which begins again after a lost connection. */
    collect<Item>(make: () => Source<Item>, options: CallOptions): Promise<Item[]> {
        const { signal, trace } = options;
        return this.repeat(options, async (connection, milliseconds) => {
            const source = make();
            const end = performance.now() + milliseconds + SLACK;
            const items: Item[] = [];
            const request = await connection.request(source.kind, source.body(), {
                sending: milliseconds, limit: milliseconds, unreadMax: CREDIT + 1, signal, trace });
            try {
                for (;;) {
                    const reply = await request.reply({
                        milliseconds: Math.max(1, end - performance.now()), signal });
                    const next = request.checked(() => source.items(reply, connection.server));
                    for (const each of next) items.push(each);
                    if (!hasMore(reply)) return items;
                    await request.addCredit();
                }
            } finally {
                request.close();
            }
        });
    }

    /** The schema file, which is read once for each connection: its user may see another part of
     * it on the next one. */
    async schema(options: CallOptions): Promise<string> {
        if (!this.current.isOpen || this.schemaText?.server !== this.server) {
            this.schemaText = await this.perform({
                kind: "schema", body: {},
                output: ({ json }, server) => ({ server, text: json }) }, options);
        }
        return this.schemaText.text;
    }
}

/** The pause after another failed attempt, in milliseconds. */
function nextPause(before: number): number {
    return before === 0 ? PAUSES.first : Math.min(2 * before, PAUSES.last);
}
