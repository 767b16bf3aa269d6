// The history of a store: tokens, transactions and their changes.

import { failure, violation } from "./errors.js";
import { Identifier, UUID, Uuid, int64, integerOf, storeOfMessage } from "./identifiers.js";
import type { Integer } from "./identifiers.js";
import * as messages from "./messages.js";
import { CREDIT, enumeratorOf, rowNumber } from "./queries.js";
import { dateOf, secondsOf, valueOfMessage } from "./values.js";
import type { StoredDate, Value } from "./values.js";
import type { Draft } from "./wire.js";

const TOKEN = new RegExp(`^(${UUID})-e(-?[0-9]{1,19})-n([0-9]{1,19})$`);
const INT64_MAX = 2n ** 63n - 1n;
/** The most parts of a transaction that are joined, so that a server cannot fill the memory. */
const RUNS_MAX = 10_000_000;

/** A position in the history of a store: after one transaction and before the next. It can be
 * stored as text, and stays valid until transactions after it are deleted. */
export class HistoryToken {
    constructor(
        readonly store: Uuid,
        readonly epoch: Integer,
        /** The number of the last transaction before the position; 0 is the beginning. */
        readonly number: Integer,
    ) {}

    /** The token in a text that `toString` made. */
    static parse(text: string): HistoryToken {
        const match = typeof text === "string" ? TOKEN.exec(text) : null;
        const epoch = BigInt(match?.[2] ?? 0);
        const number = BigInt(match?.[3] ?? 0);
        if (match === null || number > INT64_MAX || epoch > INT64_MAX || epoch < -INT64_MAX - 1n) {
            throw failure("MALFORMED_TOKEN", "the history token is malformed", {
                hint: "a token looks like <UUID>-e<epoch>-n<number>" });
        }
        return new HistoryToken(Uuid.parse(match[1]!), integerOf(epoch), integerOf(number));
    }

    equals(other: unknown): boolean {
        return other instanceof HistoryToken && other.toString() === this.toString();
    }

    toString(): string {
        return `${this.store.text.toUpperCase()}-e${this.epoch}-n${this.number}`;
    }

    toJSON(): string {
        return this.toString();
    }

    /** The token in the protocol. */
    message(): Draft<messages.HistoryToken> {
        return {
            store: this.store.bytes, epoch: int64(this.epoch), number: int64(this.number) };
    }
}

export type ChangeKind = "inserted" | "updated" | "deleted";

/** A change of objects of one entity with consecutive keys. */
export interface HistoryChange {
    readonly kind: ChangeKind;
    readonly entity: string;
    readonly firstKey: Integer;
    readonly lastKey: Integer;
    /** The updated properties, sorted. */
    readonly properties: readonly string[];
}

/** A deleted object, and its values that the schema preserves. */
export interface Tombstone {
    readonly identifier: Identifier;
    readonly values: { readonly [name: string]: Value };
}

/** The changes of a save, or of a part of an insert stream. */
export interface Transaction {
    /** From 1, increasing, never used again. */
    readonly number: Integer;
    readonly time: StoredDate;
    readonly author: string;
    /** The name of the client. */
    readonly client: string;
    /** The user and the process of the client, if they are known. */
    readonly user?: number;
    readonly process?: number;
    readonly changes: readonly HistoryChange[];
    readonly tombstones: readonly Tombstone[];
}

/** The next transactions, perhaps none, and the position after them. */
export interface HistoryPage {
    readonly transactions: readonly Transaction[];
    readonly position: HistoryToken;
    /** Whether this is the end of the history for now; later ones follow as they are committed. */
    readonly isCurrent: boolean;
}

/** Which transactions, and which of their changes, to read. An empty list selects all. */
export interface HistoryFilter {
    readonly authors?: readonly string[];
    readonly excludedAuthors?: readonly string[];
    readonly clients?: readonly string[];
    readonly entities?: readonly string[];
    readonly kinds?: readonly ChangeKind[];
    /** Only updates of one of these properties; inserts and deletes are not affected. */
    readonly properties?: readonly string[];
    readonly since?: Date;
    readonly until?: Date;
    /** Whether the transactions have their changes; true without it. */
    readonly includesChanges?: boolean;
}

/** A read of the history. */
export interface HistoryQuery extends HistoryFilter {
    readonly after?: HistoryToken;
    readonly upTo?: HistoryToken;
    readonly newestFirst?: boolean;
    readonly limit?: number;
}

/** The request for a read of the history, once or continuously. */
export function historyRequest(
    query: HistoryQuery, follow: boolean, after: HistoryToken | undefined,
): Draft<messages.HistoryRequest> {
    return {
        after: after?.message(), upTo: query.upTo?.message(), follow,
        start: follow && after === undefined ? "NOW" : "OLDEST",
        authors: query.authors ?? [], excludedAuthors: query.excludedAuthors ?? [],
        clients: query.clients ?? [], entities: query.entities ?? [],
        properties: query.properties ?? [],
        kinds: (query.kinds ?? []).map((each) =>
            enumeratorOf(messages.HistoryChangeKind, each, "kind of change")),
        since: query.since === undefined ? undefined : secondsOf(query.since),
        until: query.until === undefined ? undefined : secondsOf(query.until),
        withoutChanges: !(query.includesChanges ?? true),
        newestFirst: query.newestFirst ?? false, credit: CREDIT,
        limit: query.limit === undefined ? undefined : rowNumber("limit", query.limit) };
}

/** The position in a reply. */
export function tokenOfMessage(message: messages.HistoryToken | undefined): HistoryToken {
    if (message === undefined || message.number < 0n) throw violation("a malformed position");
    return new HistoryToken(
        storeOfMessage(message.store), integerOf(message.epoch), integerOf(message.number));
}

function changeOfMessage(run: messages.HistoryRun): HistoryChange {
    const { kind, firstKey, lastKey } = run;
    if (kind === "UNSPECIFIED" || firstKey < 1n || lastKey < firstKey) {
        throw violation("a malformed change of the history");
    }
    return {
        kind: kind.toLowerCase() as ChangeKind, entity: run.entity, properties: run.properties,
        firstKey: integerOf(firstKey), lastKey: integerOf(lastKey) };
}

function transactionOfMessage(message: messages.HistoryTransaction, store: Uuid): Transaction {
    const { user, process } = message;
    return {
        number: integerOf(message.number), time: dateOf(message.time), author: message.author,
        client: message.client, ...(user === undefined ? {} : { user }),
        ...(process === undefined ? {} : { process }),
        changes: message.runs.map(changeOfMessage),
        tombstones: message.tombstones.map((each) => ({
            identifier: new Identifier(store, each.entity, integerOf(each.key)),
            values: Object.fromEntries(each.values.map((part) => {
                if (part.value === undefined) throw violation("a preserved value that is absent");
                return [part.name, valueOfMessage(part.value)];
            })) })) };
}

/** Joins the parts of a large transaction, which come in several replies. */
export class TransactionAssembly {
    private parts: messages.HistoryTransaction[] = [];
    private partCount = 0;

    /** The complete transactions of a reply. */
    page(reply: messages.HistoryReply): HistoryPage {
        const position = tokenOfMessage(reply.position);
        const complete: messages.HistoryTransaction[] = [];
        reply.transactions.forEach((each, index) => {
            if (index === 0 && this.parts.length > 0 && each.number !== this.parts[0]!.number) {
                throw violation("a part of another transaction");
            }
            this.add(each);
            if (!(reply.partial && index === reply.transactions.length - 1)) {
                complete.push(this.joined());
            }
        });
        return {
            transactions: complete.map((each) => transactionOfMessage(each, position.store)),
            position, isCurrent: reply.current };
    }

    private add(part: messages.HistoryTransaction): void {
        this.parts.push(part);
        this.partCount += 1 + part.runs.length + part.tombstones.length;
        if (this.partCount > RUNS_MAX) {
            throw failure("RESOURCE_EXHAUSTED", `a transaction has over ${RUNS_MAX} changes`);
        }
    }

    private joined(): messages.HistoryTransaction {
        const [...parts] = this.parts;
        this.parts = [];
        this.partCount = 0;
        return {
            ...parts[0]!, runs: parts.flatMap((each) => each.runs),
            tombstones: parts.flatMap((each) => each.tombstones) };
    }
}

/** The pages of a finite read as one. */
export function joinedPages(pages: readonly HistoryPage[]): HistoryPage {
    const last = pages.at(-1);
    if (last === undefined) throw violation("no page of the history");
    return { ...last, transactions: pages.flatMap((each) => each.transactions) };
}
