// Results that arrive while they are read.

import { Attempts, Lost, PAUSES } from "./attempts.js";
import { SLACK } from "./connection.js";
import type { Request } from "./connection.js";
import { isFailure } from "./errors.js";
import { hasMore } from "./frames.js";
import type { RequestKind } from "./frames.js";
import { CREDIT } from "./queries.js";
import type { CallOptions } from "./server.js";
import type { Session, Source } from "./session.js";
import { pause } from "./waiting.js";
import type { WaitLimit } from "./waiting.js";

/** Results that arrive while they are read, by `for await` or by `next`. Leaving the loop closes
 * the stream, as does `close`; the server then stops its work for it.
 *
 * A stream without an end, such as that of `observe`, connects again after a lost connection. */
export class Stream<Item> implements AsyncIterableIterator<Item> {
    private readonly items: AsyncGenerator<Item, void, undefined>;
    private request: Request<RequestKind> | undefined;
    private isClosed = false;
    private replyCount = 0;
    /** Aborted by the caller's signal, and by `close`. */
    private readonly controller = new AbortController();
    private readonly milliseconds: number;

    constructor(
        private readonly session: Session, private readonly source: Source<Item>,
        private readonly options: CallOptions,
    ) {
        this.milliseconds = options.timeout ?? session.settings.timeout;
        this.items = this.received();
    }

    /** The number of replies so far, each with a part of the items. */
    get partCount(): number {
        return this.replyCount;
    }

    [Symbol.asyncIterator](): this {
        return this;
    }

    next(): Promise<IteratorResult<Item, void>> {
        return this.items.next();
    }

    return(): Promise<IteratorResult<Item, void>> {
        this.close();
        return this.items.return();
    }

    /** Ends the stream, also for a caller that waits for an item. */
    close(): void {
        this.isClosed = true;
        this.controller.abort();
        this.endRequest();
    }

    private endRequest(): void {
        this.request?.close();
        this.request = undefined;
    }

    private async *received(): AsyncGenerator<Item, void, undefined> {
        const { signal } = this.options;
        const aborted = (): void => this.controller.abort(signal?.reason);
        if (signal?.aborted === true) aborted();
        signal?.addEventListener("abort", aborted);
        let attempts: Attempts | undefined;
        try {
            while (!this.isClosed) {
                try {
                    const [items, isLast] = await this.receive(attempts);
                    attempts = undefined;
                    for (const item of items) {
                        yield item;
                        if (this.isClosed) return;
                    }
                    if (isLast) return;
                } catch (error) {
                    if (this.isClosed) return;
                    this.endRequest();
                    attempts ??= this.newAttempts();
                    attempts.failed(error, performance.now());
                    const isLost = error instanceof Lost || isFailure(error, "UNAVAILABLE");
                    if (!(isLost && this.source.isEndless)) throw error;
                    await pause(PAUSES.first);
                }
            }
        } finally {
            signal?.removeEventListener("abort", aborted);
            this.endRequest();
        }
    }

    /** The items of the next reply, and whether it is the last one. The server may send another
     * reply once the program has all items of the one before. */
    private async receive(attempts: Attempts | undefined): Promise<[readonly Item[], boolean]> {
        const { source, session } = this;
        if (this.request === undefined) this.request = await this.begin(attempts);
        else await this.request.addCredit();
        const { request } = this;
        const limit: WaitLimit = { signal: this.controller.signal };
        const reply = await request.reply(
            source.isEndless ? limit : { ...limit, milliseconds: this.milliseconds + SLACK });
        this.replyCount += 1;
        const items = request.checked(() => source.items(reply, session.server));
        const isLast = !hasMore(reply);
        if (isLast) this.endRequest();
        return [items, isLast];
    }

    private newAttempts(): Attempts {
        const wait = this.source.isEndless ? this.session.settings.reconnectWait : 0;
        const end = performance.now() + Math.max(wait, this.milliseconds);
        return new Attempts({ isWrite: false, hasKey: false }, end, wait);
    }

    private async begin(attempts: Attempts | undefined): Promise<Request<RequestKind>> {
        const { source, session, milliseconds } = this;
        const { signal } = this.controller;
        const now = performance.now();
        const end = attempts?.connectionDeadline(now)
            ?? now + Math.min(milliseconds, session.settings.reconnectWait);
        const connection = await session.connection(end, signal);
        return connection.request(source.kind, source.body(), {
            sending: milliseconds, unreadMax: CREDIT + 1, isEndless: source.isEndless, signal,
            trace: this.options.trace });
    }
}
