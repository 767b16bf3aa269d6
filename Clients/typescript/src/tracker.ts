// The requests of a connection that wait for replies. Each reply is passed to the request with its
// id; the module does no I/O.

import { failure, violation } from "./errors.js";
import type { LarderError } from "./errors.js";
import { errorOfReply } from "./failed.js";
import { hasMore, replyBody } from "./frames.js";
import type { ReplyBody, RequestKind } from "./frames.js";
import type * as messages from "./messages.js";

/** A reply that waits for the program: a body, or what ends the request. */
export type Reply =
    | { readonly body: ReplyBody<RequestKind> } | { readonly failed: messages.ErrorReply };

/** A request that waits for replies. */
export interface Pending {
    readonly kind: RequestKind;
    /** The replies that may wait for the program: those of the credit, and the error at the end. */
    readonly unreadMax: number;
    /** The number of replies that wait. */
    readonly unread: number;
    /** Called for each reply, and with undefined if the connection has ended. */
    deliver(reply: Reply | undefined): void;
    /** Called once, when there will be no more replies. */
    ended(): void;
    id: bigint;
    isAbandoned: boolean;
}

/** All requests of one connection. */
export class RequestTracker {
    private lastId = 0n;
    private readonly pending = new Map<bigint, Pending>();
    /** Why the connection has ended. */
    error: LarderError | undefined;

    /** The next id, also for requests without replies. */
    newId(): bigint {
        this.lastId += 1n;
        return this.lastId;
    }

    /** Gives a request its id. */
    add(request: Pending): void {
        request.id = this.newId();
        this.pending.set(request.id, request);
    }

    /** Passes a reply to its request; throws an error that ends the connection. */
    received(envelope: { id: bigint; body: NonNullable<messages.Envelope["body"]> }): void {
        const { id, body } = envelope;
        const request = this.pending.get(id);
        const isError = body.case === "failed";
        if (request === undefined) {
            // An error of the connection, or of a message that has no reply of its own.
            throw isError ? errorOfReply(body.value)
                : failure("MALFORMED_MESSAGE", "the server replied to another request");
        }
        const reply = isError ? { failed: body.value }
            : { body: replyBody(body, request.kind) };
        if (!request.isAbandoned) {
            if (request.unread >= request.unreadMax) {
                throw violation("more replies than it may");
            }
            request.deliver(reply);
        }
        if (isError || !hasMore(body.value)) this.end(request);
    }

    /** Discards further replies to a request. Returns whether it has to be cancelled. */
    abandon(request: Pending): boolean {
        request.isAbandoned = true;
        return this.pending.has(request.id) && this.error === undefined;
    }

    /** Forgets a request that the server does not have. */
    notSent(request: Pending): void {
        if (this.pending.has(request.id)) this.end(request);
    }

    /** Ends all requests, because the connection has ended. The first error counts. */
    lost(error: LarderError): void {
        if (this.error !== undefined) return;
        this.error = error;
        for (const request of [...this.pending.values()]) {
            if (!request.isAbandoned) request.deliver(undefined);
            this.end(request);
        }
    }

    private end(request: Pending): void {
        this.pending.delete(request.id);
        request.ended();
    }
}

/** The error for a server that does not reply in its time. */
export function noReply(milliseconds: number): LarderError {
    return failure("TIMEOUT", `the server did not reply within ${milliseconds / 1_000} s`, {
        hint: "request less at once, or set a longer timeout" });
}
