// The client: every call that a program makes.

import { Lost, NoReply } from "./attempts.js";
import { ChangeSet, PARTS_MAX } from "./changes.js";
import type { AffectedObjects, MergePolicy, ObjectsSelection, SaveResult, UpdateOptions,
    UpdateSelection, Values } from "./changes.js";
import { SLACK } from "./connection.js";
import type { Request } from "./connection.js";
import { failure, violation } from "./errors.js";
import { TransactionAssembly, historyRequest, joinedPages } from "./history.js";
import type { HistoryFilter, HistoryPage, HistoryQuery, HistoryToken } from "./history.js";
import { Identifier } from "./identifiers.js";
import type { Integer, Reference } from "./identifiers.js";
import { InsertionProgress, propertyTypes } from "./insertion.js";
import type { InsertedRows } from "./insertion.js";
import { LiveRows } from "./live.js";
import type { LiveResult } from "./live.js";
import type * as messages from "./messages.js";
import { aggregateRequest, countRequest, fetchRequest, getRequest } from "./queries.js";
import type { AggregateQuery, ColumnQuery, FetchQuery, SortKey, Where } from "./queries.js";
import { allRows } from "./rows.js";
import type { Row, StoredObject } from "./rows.js";
import { settingsOf } from "./server.js";
import type { CallOptions, Options, ServerDescription } from "./server.js";
import { Session } from "./session.js";
import type { Source } from "./session.js";
import { Stream } from "./streams.js";
import { wrongType } from "./values.js";
import type { Decimal, Json, JsonValue, StoredDate } from "./values.js";
import { Aborted } from "./waiting.js";
import type { Draft } from "./wire.js";

/** The entities of a store whose schema the program does not know. */
export interface AnyEntities {
    readonly [entity: string]: Row & StoredObject;
}

/** A row of columns; a distinct one has no identifier. */
export type ColumnRow = Row & Partial<StoredObject>;

type GivenPart<Type> =
    Type extends Identifier ? Reference
    : Type extends readonly Identifier[] ? readonly Reference[]
    : Type extends Decimal ? Decimal | Integer
    : Type extends StoredDate ? Date
    : Type;

/** The values that a property of a type can be given. */
export type Given<Type> = GivenPart<Type> | (JsonValue extends Type ? Json : never);

/** The values of an object to insert, or to update. */
export type GivenValues<Type> = Type extends unknown ? {
    readonly [Name in keyof Type as Name extends `@${string}` ? never : Name]?:
        Given<Type[Name]> | undefined;
} : never;

/** The options of a call that writes one change. */
export interface WriteOptions extends CallOptions {
    /** Makes the write safe to send again: it is executed once under a key. */
    readonly idempotencyKey?: string;
}

/** The options of an observed query. */
export interface ObserveOptions extends CallOptions {
    /** The shortest time between two results, in milliseconds. */
    readonly interval?: number;
}

/** The options of an observed fetch. */
export interface LiveOptions extends ObserveOptions {
    /** Sorts by this key first, and divides the rows into sections with the same value of it. */
    readonly sectionedBy?: string | SortKey;
}

/** The options of a stream of new objects. */
export interface InsertManyOptions extends CallOptions {
    /** Whether all rows are one transaction; otherwise it is one for some thousand rows. */
    readonly atomic?: boolean;
    readonly upsert?: boolean;
    readonly wantsIdentifiers?: boolean;
    readonly author?: string;
}

/** The name of one of the entities. */
type Name<Entities> = keyof Entities & string;

/** A client of the server at the path of a socket; without a path, of the only server. */
export async function connect<Entities extends object = AnyEntities>(
    path?: string, options: Options & { readonly signal?: AbortSignal } = {},
): Promise<Client<Entities>> {
    try {
        return new Client(await Session.open(settingsOf(path, options), options.signal));
    } catch (error) {
        if (!(error instanceof Aborted)) throw error;
        throw failure("CANCELLED", "the call was cancelled", { cause: error.reason });
    }
}

/** A connection to a server, for any number of calls at the same time; `connect` makes it. The
 * types of objects are those of `Entities`, which `larder schema show --output typescript` writes.
 *
 * Every call fails with a LarderError. */
export class Client<Entities extends object = AnyEntities> {
    constructor(private readonly session: Session) {}

    /** The server and the schema of the current connection, or of the last one. */
    get server(): ServerDescription {
        return this.session.server;
    }

    /** Ends the connection. Calls that wait, and later ones, fail. */
    close(): void {
        this.session.close();
    }

    // Reading

    /** The object with all its properties, or undefined once it is deleted. */
    async get<Type = Entities[Name<Entities>]>(
        identifier: Identifier, options: CallOptions = {},
    ): Promise<Type | undefined> {
        const [found] = await this.getMany<Type>([identifier], undefined, options);
        return found;
    }

    /** The objects that exist, in the order of the identifiers, with all or some properties. */
    async getMany<Type = Entities[Name<Entities>]>(
        identifiers: readonly Identifier[], properties?: readonly string[],
        options: CallOptions = {},
    ): Promise<Type[]> {
        for (const each of identifiers) {
            if (!(each instanceof Identifier)) {
                throw wrongType(`${String(each)} is not an identifier`,
                    "Identifier.parse makes one of a URI");
            }
        }
        const rows = await this.session.perform({
            kind: "get", body: getRequest(identifiers, properties),
            output: (reply, server) => allRows(reply.batches, server.store) }, options);
        const found = new Map(rows.map((row) => [String(row["@id"]), row]));
        return identifiers.map((each) => found.get(each.uri))
            .filter((row) => row !== undefined) as unknown as Type[];
    }

    /** The columns of the objects that match a predicate. */
    async fetch(
        entity: Name<Entities>, query: ColumnQuery & CallOptions): Promise<ColumnRow[]>;
    /** The objects that match a predicate, with all attributes and to-one relationships. */
    async fetch<Entity extends Name<Entities>>(
        entity: Entity, query?: FetchQuery & CallOptions): Promise<Entities[Entity][]>;
    async fetch(
        entity: string, query: (FetchQuery | ColumnQuery) & CallOptions = {},
    ): Promise<unknown[]> {
        const request = fetchRequest(entity, query);
        return this.session.collect(() => new RowSource(request), query);
    }

    /** The columns of the objects that match a predicate, while they arrive. */
    stream(entity: Name<Entities>, query: ColumnQuery & CallOptions): Stream<ColumnRow>;
    /** The objects that match a predicate while they arrive, in bounded memory. They are of one
     * state of the store, and the server limits the time of the whole stream to 30 seconds. */
    stream<Entity extends Name<Entities>>(
        entity: Entity, query?: FetchQuery & CallOptions): Stream<Entities[Entity]>;
    stream(
        entity: string, query: (FetchQuery | ColumnQuery) & CallOptions = {},
    ): Stream<unknown> {
        return new Stream<unknown>(
            this.session, new RowSource(fetchRequest(entity, query)), query);
    }

    /** The number of objects that match a predicate. */
    async count(entity: Name<Entities>, query: Where & CallOptions = {}): Promise<number> {
        const request = countRequest(entity, query);
        return countOf(await this.session.collect(() => new RowSource(request), query));
    }

    /** Values that the store computes over groups of objects, one row for each group. */
    async aggregate(entity: Name<Entities>, query: AggregateQuery & CallOptions): Promise<Row[]> {
        const request = aggregateRequest(entity, query);
        return this.session.collect(() => new RowSource(request), query);
    }

    // Writing

    /** Inserts an object. With `upsert`, an object that already has its unique values is updated
     * instead. */
    async insert<Entity extends Name<Entities>>(
        entity: Entity, values: GivenValues<Entities[Entity]> = {} as never,
        options: WriteOptions & { readonly upsert?: boolean } = {},
    ): Promise<Identifier> {
        const changes = new ChangeSet(options);
        changes.insert(entity, values as Values);
        return only((await this.save(changes, options)).inserted);
    }

    /** Changes properties of an object, and returns its new version. It fails with a ConflictError
     * if the object has changed since it had `ifVersion` or the values in `base`. */
    async update<Type = Entities[Name<Entities>]>(
        object: Identifier, values: GivenValues<Type> = {} as never,
        options: WriteOptions & UpdateOptions & { readonly mergePolicy?: MergePolicy } = {},
    ): Promise<Integer> {
        const changes = new ChangeSet(options);
        changes.update(object, values as Values, options);
        return only((await this.save(changes, options)).versions);
    }

    /** Deletes an object, and applies its delete rules to related objects. */
    async delete(
        object: Identifier, options: WriteOptions & { readonly ifVersion?: Integer } = {},
    ): Promise<void> {
        const changes = new ChangeSet(options);
        changes.delete(object, options);
        await this.save(changes, options);
    }

    /** Sets properties of all objects that match a predicate, in one transaction. */
    async updateAll<Entity extends Name<Entities>>(
        entity: Entity, values: GivenValues<Entities[Entity]>,
        selection: UpdateSelection & WriteOptions = {},
    ): Promise<AffectedObjects> {
        const changes = new ChangeSet(selection);
        changes.updateAll(entity, values as Values, selection);
        return only((await this.save(changes, selection)).affected);
    }

    /** Deletes all objects that match a predicate, in one transaction. */
    async deleteAll(
        entity: Name<Entities>, selection: ObjectsSelection & WriteOptions = {},
    ): Promise<AffectedObjects> {
        const changes = new ChangeSet(selection);
        changes.deleteAll(entity, selection);
        return only((await this.save(changes, selection)).affected);
    }

    /** Executes a change set in one transaction: all changes or none. An error has all its
     * `problems`. */
    async save(changes: ChangeSet, options: CallOptions = {}): Promise<SaveResult> {
        return this.session.save(changes, options);
    }

    /** Inserts one object for each row, in bounded memory. All rows have the same properties. The
     * timeout is that of each part.
     *
     * An error, also of `rows`, ends the stream: rows that the server has acknowledged are stored,
     * and with `atomic` none. After a lost connection it fails with an IndeterminateError. */
    async insertMany<Entity extends Name<Entities>>(
        entity: Entity,
        rows: Iterable<GivenValues<Entities[Entity]>>
            | AsyncIterable<GivenValues<Entities[Entity]>>,
        options: InsertManyOptions = {},
    ): Promise<InsertedRows> {
        const { session } = this;
        const { signal, trace } = options;
        const milliseconds = options.timeout ?? session.settings.timeout;
        const types = propertyTypes(await session.schema(options), entity);
        const [store, request] = await session.repeat(
            { ...options, isWrite: true }, async (connection) => [
                connection.server.store,
                await connection.request("insertRows", insertRequest(
                    entity, options, session.settings.author), {
                    sending: milliseconds, unreadMax: 2 * PARTS_MAX, signal, trace }),
            ] as const);
        const progress = new InsertionProgress(entity, types, store);
        const limit = { milliseconds, signal };
        try {
            for await (const row of rows) {
                progress.append(row as Values);
                if (progress.isFull) await sendPart(request, progress, limit, false);
            }
            await sendPart(request, progress, limit, true);
            while (!progress.isComplete) await receivePart(request, progress, limit);
            return progress.result();
        } catch (error) {
            // The rows are consumed, so that they cannot be sent again.
            if (error instanceof Lost) throw progress.interrupted(error.error.message);
            if (error instanceof NoReply) throw progress.interrupted("the server did not reply");
            if (!(error instanceof Aborted)) throw error;
            throw progress.interrupted("the call was cancelled", error.reason);
        } finally {
            request.close();
        }
    }

    // Changes of others

    /** The columns of the objects that match a predicate, and then each changed result. */
    observe(
        entity: Name<Entities>, query: ColumnQuery & LiveOptions): Stream<LiveResult<ColumnRow>>;
    /** The objects that match a predicate, and then each changed result, also by other clients.
     * After a lost connection the query is observed again. */
    observe<Entity extends Name<Entities>>(
        entity: Entity, query?: FetchQuery & LiveOptions): Stream<LiveResult<Entities[Entity]>>;
    observe(
        entity: string, query: (FetchQuery | ColumnQuery) & LiveOptions = {},
    ): Stream<LiveResult<unknown>> {
        const { sectionedBy, sort = [] } = query;
        const isSectioned = sectionedBy !== undefined;
        const request = fetchRequest(
            entity, isSectioned ? { ...query, sort: [sectionedBy, ...sort] } : query);
        return new Stream<LiveResult<unknown>>(
            this.session, new LiveSource(request, query.interval, isSectioned), query);
    }

    /** The number of objects that match a predicate, and then each other number. */
    observeCount(entity: Name<Entities>, query: Where & ObserveOptions = {}): Stream<number> {
        const source = new LiveSource(countRequest(entity, query), query.interval, false);
        return new Stream<number>(this.session, mapped(source, ({ rows }) => countOf(rows)), query);
    }

    /** Values that the store computes over groups of objects, and then each changed result. */
    observeAggregate(
        entity: Name<Entities>, query: AggregateQuery & ObserveOptions,
    ): Stream<LiveResult<Row>> {
        return new Stream<LiveResult<Row>>(
            this.session, new LiveSource(aggregateRequest(entity, query), query.interval, false),
            query);
    }

    /** Transactions of the history, in one page; use a limit for a long history, and continue
     * after its position. */
    async history(query: HistoryQuery & CallOptions = {}): Promise<HistoryPage> {
        return joinedPages(await this.session.collect(
            () => new HistorySource(query, false), query));
    }

    /** The position after the last transaction that is committed. */
    async currentToken(options: CallOptions = {}): Promise<HistoryToken> {
        return (await this.history({ ...options, newestFirst: true, limit: 0 })).position;
    }

    /** The transactions after a position, or from now on, and then each one as it is committed:
     * each once and in order, also over a restart of the server. */
    follow(
        query: HistoryFilter & CallOptions & { readonly after?: HistoryToken } = {},
    ): Stream<HistoryPage> {
        return new Stream<HistoryPage>(this.session, new HistorySource(query, true), query);
    }

    // The server

    /** The text of the store's schema file. */
    async schema(options: CallOptions = {}): Promise<string> {
        return this.session.schema(options);
    }

    /** Ends after a round trip through the server's reader and writer. */
    async ping(options: CallOptions = {}): Promise<void> {
        await this.session.perform({ kind: "ping", body: {}, output: () => undefined }, options);
    }
}

/** The only item of a reply. */
function only<Item>(items: readonly Item[]): Item {
    if (items.length !== 1) throw violation("another number of results");
    return items[0]!;
}

/** The number in the result of a count. */
function countOf(rows: readonly Row[]): number {
    const { count } = only(rows);
    if (typeof count !== "number") throw violation("a count that is not a number");
    return count;
}

// Streams

/** The rows of a query. */
class RowSource implements Source<Row> {
    readonly kind = "query";
    readonly isEndless = false;

    constructor(private readonly request: Draft<messages.QueryRequest>) {}

    body(): Draft<messages.QueryRequest> {
        return this.request;
    }

    items(reply: messages.BatchesReply, server: ServerDescription): Row[] {
        return allRows(reply.batches, server.store);
    }
}

/** Pages of the history, of the past or without an end. */
class HistorySource implements Source<HistoryPage> {
    readonly kind = "history";
    private assembly = new TransactionAssembly();
    private after: HistoryToken | undefined;

    constructor(private readonly query: HistoryQuery, readonly isEndless: boolean) {
        this.after = query.after;
    }

    body(): Draft<messages.HistoryRequest> {
        // Parts of a transaction are sent again.
        this.assembly = new TransactionAssembly();
        return historyRequest(this.query, this.isEndless, this.after);
    }

    items(reply: messages.HistoryReply): HistoryPage[] {
        const page = this.assembly.page(reply);
        this.after = page.position;
        return [page];
    }
}

/** The results of an observed query. */
class LiveSource implements Source<LiveResult<Row>> {
    readonly kind = "observe";
    readonly isEndless = true;
    private rows: LiveRows;

    constructor(
        private readonly query: Draft<messages.QueryRequest>, private readonly interval = 0,
        private readonly isSectioned: boolean,
    ) {
        this.rows = new LiveRows(isSectioned);
    }

    body(): Draft<messages.ObserveRequest> {
        this.rows = new LiveRows(this.isSectioned);
        return {
            query: this.query, sectioned: this.isSectioned,
            intervalMilliseconds: Math.max(0, Math.floor(this.interval)) };
    }

    items(reply: messages.ObserveReply, server: ServerDescription): LiveResult<Row>[] {
        const result = this.rows.apply(reply, server.store);
        return result === undefined ? [] : [result];
    }
}

/** A source with other items. */
function mapped<Item>(
    source: LiveSource, map: (result: LiveResult<Row>) => Item,
): Source<Item> {
    return {
        kind: source.kind, isEndless: source.isEndless, body: () => source.body(),
        items(reply: messages.ObserveReply, server: ServerDescription): readonly Item[] {
            return source.items(reply, server).map(map);
        } };
}

// Streams of new objects

function insertRequest(
    entity: string, options: InsertManyOptions, author: string,
): Draft<messages.InsertRequest> {
    return {
        entity, atomic: options.atomic ?? false, author: options.author ?? author,
        identifiersWanted: options.wantsIdentifiers ?? false,
        onUniqueConflict: options.upsert === true ? "UPSERT" : "ERROR" };
}

interface PartLimit {
    readonly milliseconds: number;
    readonly signal: AbortSignal | undefined;
}

async function sendPart(
    request: Request<"insertRows">, progress: InsertionProgress, limit: PartLimit, isLast: boolean,
): Promise<void> {
    while (progress.mustWait) await receivePart(request, progress, limit);
    await request.send({ case: "rows", value: progress.nextPart(request.id, isLast) }, limit);
}

async function receivePart(
    request: Request<"insertRows">, progress: InsertionProgress, limit: PartLimit,
): Promise<void> {
    const reply = await request.reply({ ...limit, milliseconds: limit.milliseconds + SLACK });
    request.checked(() => progress.received(reply));
}
