// The attempts of one call: what the failure of each means, and whether the call is repeated. The
// module reads no clock.

import { LarderError, failure, isFailure } from "./errors.js";
import { noReply } from "./tracker.js";
import { Aborted } from "./waiting.js";

/** How often a read is repeated whose snapshot the server could not keep. */
const EXPIRIES_MAX = 3;
/** The shortest and the longest pause between attempts, in milliseconds. */
export const PAUSES = { first: 10, last: 1_000 } as const;

/** The connection ended before the reply. */
export class Lost extends Error {
    constructor(
        readonly error: LarderError,
        /** Whether the server may have the whole request. */
        readonly wasSent: boolean,
    ) {
        super(error.message);
    }
}

/** The time of a request has passed, and the server did not reply. */
export class NoReply extends Error {
    constructor(readonly milliseconds: number) {
        super("no reply");
    }
}

/** The caller's signal has ended a call whose request may be with the server. */
export class AbortedInFlight extends Aborted {}

/** A read is repeated over a new connection, as is a write with an idempotency key. A write without
 * one is repeated only if the server certainly has not executed it. Times are in milliseconds, by a
 * monotonic clock. */
export class Attempts {
    private mayHaveRun = false;
    private expiries = 0;
    /** Set by the first loss. */
    private reconnectDeadline: number | undefined;

    constructor(
        private readonly call: { readonly isWrite: boolean; readonly hasKey: boolean },
        /** The end of the call. */
        private readonly deadline: number,
        /** How long to wait for another connection after the first loss; 0 for never. */
        private readonly reconnectWait: number,
    ) {}

    /** The end of the wait for a connection, which the first loss begins. */
    connectionDeadline(now: number): number {
        return this.reconnectDeadline ?? Math.min(this.deadline, now + this.reconnectWait);
    }

    /** Throws the error with which the call ends, or returns if it is to be repeated. */
    failed(error: unknown, now: number): void {
        const { isWrite, hasKey } = this.call;
        if (error instanceof Lost) {
            const cause = error.error;
            if (isWrite && error.wasSent && cause.code !== "UNAVAILABLE") this.mayHaveRun = true;
            const isLost = isFailure(cause, "CONNECTION_FAILED", "UNAVAILABLE");
            if ((!isLost && error.wasSent) || (this.mayHaveRun && !hasKey)) throw this.final(cause);
            this.waitForConnection(cause, now);
        } else if (error instanceof NoReply) {
            this.mayHaveRun ||= isWrite;
            throw this.final(noReply(error.milliseconds));
        } else if (error instanceof Aborted) {
            this.mayHaveRun ||= isWrite && error instanceof AbortedInFlight;
            throw this.final(failure(
                "CANCELLED", "the call was cancelled", { cause: error.reason }));
        } else if (!(error instanceof LarderError)) {
            throw error;
        } else if (error.number >= 200 && error.number < 500) {
            // The server looks up the key first, so no earlier attempt was executed.
            throw error;
        } else if (error.code === "SNAPSHOT_EXPIRED" && !isWrite
            && this.expiries < EXPIRIES_MAX) {
            this.expiries += 1;
        } else if (error.code === "UNAVAILABLE") {
            this.waitForConnection(error, now);
        } else {
            throw this.final(error);
        }
    }

    /** The error for the caller: INDETERMINATE if the write may have been executed. */
    private final(error: LarderError): LarderError {
        if (!this.mayHaveRun) return error;
        return failure(
            "INDETERMINATE", `${error.message}; the write may or may not have been executed`, {
                cause: error.cause ?? error,
                hint: this.call.hasKey
                    ? "send the same changes with the same idempotency key again"
                    : "read the objects again before repeating the write" });
    }

    private waitForConnection(error: LarderError, now: number): void {
        this.reconnectDeadline ??= this.connectionDeadline(now);
        if (now >= this.reconnectDeadline) throw this.final(error);
    }
}
