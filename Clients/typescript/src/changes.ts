// Change sets: changes that the server applies in one transaction, all or none.

import { randomUUID } from "node:crypto";

import { failure, violation } from "./errors.js";
import {
    TemporaryIdentifier, identifierOfMessage, int64, integerOf, isReference,
} from "./identifiers.js";
import type { Identifier, Integer, Reference } from "./identifiers.js";
import * as messages from "./messages.js";
import { enumeratorOf, namedTerms, optionalTerm, rowNumber, sortKeys } from "./queries.js";
import type { SortKey, Where } from "./queries.js";
import { argumentMessages, propertyMessages, variableMessages, wrongType } from "./values.js";
import type { Argument, GivenValue } from "./values.js";
import type { Draft } from "./wire.js";

/** Values by the names of properties. A property that is undefined is absent. */
export interface Values {
    readonly [name: string]: GivenValue | undefined;
}

export type MergePolicy = "error" | "storeWins" | "callerWins" | "overwrite" | "rollback";

/** A random key, for one change set: the server saves what is sent under a key once. */
export function newIdempotencyKey(): string {
    return randomUUID().replaceAll("-", "");
}

/** A position in an ordered relationship: at most one of these; without one it is the end. */
export interface ListPosition {
    readonly end?: "first" | "last";
    /** Objects of the list. */
    readonly before?: Reference;
    readonly after?: Reference;
    /** From 0. */
    readonly index?: number;
}

/** A change of the list of a to-many relationship, which keeps concurrent edits of others. */
export interface Edit extends ListPosition {
    /** `add` keeps the position of objects in the list, `remove` ignores those that are not in it,
     * and `move` is for ordered lists. */
    readonly kind: "add" | "remove" | "move";
    readonly relationship: string;
    readonly objects: readonly Reference[];
}

/** The options of an update. */
export interface UpdateOptions {
    readonly edits?: readonly Edit[];
    /** The version of the object as it was read. */
    readonly ifVersion?: Integer;
    /** Values as they were read. */
    readonly base?: Values;
}

/** The objects of a change by predicate; with a limit, the first in the order of the sort keys. */
export interface ObjectsSelection extends Where {
    readonly sort?: readonly (string | SortKey)[];
    readonly limit?: number;
    readonly wantsIdentifiers?: boolean;
}

/** The objects of an update by predicate, and expressions over each as it was. The arguments are
 * those of the predicate, the sort keys and the expressions, in this order. */
export interface UpdateSelection extends ObjectsSelection {
    readonly expressions?: { readonly [name: string]: string };
}

/** The objects that a change by predicate applied to. */
export interface AffectedObjects {
    readonly count: number;
    /** Empty unless they were wanted. */
    readonly identifiers: readonly Identifier[];
}

/** The result of a change set. */
export class SaveResult {
    /** In the order of the inserts. */
    readonly inserted: readonly Identifier[];
    /** The new versions of the updated objects, in the order of the updates. */
    readonly versions: readonly Integer[];
    /** The number of deleted objects, with those of the delete rule `cascade`. */
    readonly deletedCount: number;
    /** The indexes of the changes whose conflicts the merge policy resolved. */
    readonly merged: readonly number[];
    /** The results of the changes by predicate, in their order. */
    readonly affected: readonly AffectedObjects[];
    /** The indexes among the inserts of those that updated an object instead. */
    readonly upserted: readonly number[];
    /** The number of the transaction in the history; 0 if nothing was changed. */
    readonly transaction: Integer;
    private readonly indexes: ReadonlyMap<TemporaryIdentifier, number>;

    constructor(reply: messages.SaveReply, inserts: readonly TemporaryIdentifier[]) {
        if (reply.inserted.length !== inserts.length) {
            throw violation("another number of inserted objects");
        }
        this.inserted = reply.inserted.map(identifierOfMessage);
        this.versions = reply.updatedVersions.map(integerOf);
        this.deletedCount = Number(reply.deletedCount);
        this.merged = reply.merged;
        this.affected = reply.affected.map((each) => ({
            count: Number(each.count), identifiers: each.identifiers.map(identifierOfMessage) }));
        this.upserted = reply.upserted;
        this.transaction = integerOf(reply.transaction);
        this.indexes = new Map(inserts.map((each, index) => [each, index]));
    }

    /** The identifier of an object that the set inserted. */
    identifier(temporary: TemporaryIdentifier): Identifier {
        const index = this.indexes.get(temporary);
        if (index === undefined) {
            throw failure("OBJECT_NOT_FOUND", `the set has not inserted ${temporary.name}`);
        }
        return this.inserted[index]!;
    }
}

/** Changes that are applied in their order as one transaction, all or none. A set with an
 * idempotency key is sent again if its reply was lost, and applied once. */
export class ChangeSet {
    private readonly changes: Draft<messages.Change>[] = [];
    private readonly conditions: Draft<messages.Condition>[] = [];
    private readonly inserts: TemporaryIdentifier[] = [];

    constructor(readonly options: {
        readonly idempotencyKey?: string;
        readonly author?: string;
        readonly mergePolicy?: MergePolicy;
        /** Whether an insert updates the object that already has its unique values. */
        readonly upsert?: boolean;
    } = {}) {}

    /** Inserts an object. The result is its identifier for the other changes of this set. */
    insert(entity: string, values: Values = {}): TemporaryIdentifier {
        const temporary = new TemporaryIdentifier(entity, `t${this.inserts.length + 1}`);
        this.changes.push({
            kind: "INSERT", object: temporary.message(), values: propertyMessages(values) });
        this.inserts.push(temporary);
        return temporary;
    }

    /** Sets properties of an object and edits its lists. `ifVersion` and `base` detect changes of
     * others. */
    update(object: Identifier, values: Values = {}, options: UpdateOptions = {}): void {
        this.changes.push({
            kind: "UPDATE", object: messageOf(object), values: propertyMessages(values),
            baseValues: propertyMessages(options.base), ifVersion: versionOf(options.ifVersion),
            edits: (options.edits ?? []).map(editMessage) });
    }

    /** Deletes an object; the delete rules of its relationships apply. */
    delete(object: Identifier, options: { readonly ifVersion?: Integer } = {}): void {
        this.changes.push({
            kind: "DELETE", object: messageOf(object), ifVersion: versionOf(options.ifVersion) });
    }

    /** Sets properties of the objects that match a predicate, to values or to expressions. */
    updateAll(entity: string, values: Values = {}, selection: UpdateSelection = {}): void {
        const named: { [name: string]: string } = { ...selection.expressions };
        const listed: Argument[] = [...selection.arguments ?? []];
        for (const [name, value] of Object.entries(values)) {
            if (value === undefined) continue;
            if (Object.hasOwn(named, name)) {
                throw failure("INVALID_CHANGE_SET", `${name} has a value and an expression`);
            }
            named[name] = "%@";
            listed.push(value);
        }
        this.addSelection("UPDATE", entity, { ...selection, arguments: listed }, {
            assignments: namedTerms(named) });
    }

    /** Deletes the objects that match a predicate. */
    deleteAll(entity: string, selection: ObjectsSelection = {}): void {
        this.addSelection("DELETE", entity, selection, {});
    }

    /** The condition that exactly this number of objects match before the first change; otherwise
     * `save` fails with a ConflictError. */
    expect(count: number, entity: string, objects: Where = {}): void {
        this.conditions.push({
            objects: selectionMessage(entity, objects), count: rowNumber("count", count) });
    }

    /** The condition that no object matches. */
    unless(entity: string, objects: Where = {}): void {
        this.expect(0, entity, objects);
    }

    /** The set in the protocol, with an author if it has none. */
    message(author = ""): Draft<messages.ChangeSet> {
        const { options } = this;
        return {
            changes: [...this.changes], conditions: [...this.conditions],
            author: options.author ?? author, idempotencyKey: options.idempotencyKey ?? "",
            mergePolicy: enumeratorOf(
                messages.MergePolicy, options.mergePolicy ?? "error", "merge policy"),
            onUniqueConflict: options.upsert === true ? "UPSERT" : "ERROR" };
    }

    /** The result in the reply to this set. */
    result(): (reply: messages.SaveReply) => SaveResult {
        const inserts = [...this.inserts];
        return (reply) => new SaveResult(reply, inserts);
    }

    private addSelection(
        kind: "UPDATE" | "DELETE", entity: string, selection: ObjectsSelection,
        fields: Draft<messages.ObjectsChange>,
    ): void {
        const { limit } = selection;
        this.changes.push({
            kind: limit === undefined ? `${kind}_ALL` : `${kind}_FIRST`,
            byPredicate: {
                ...selectionMessage(entity, selection), ...fields, sort: sortKeys(selection.sort),
                identifiersWanted: selection.wantsIdentifiers ?? false,
                limit: limit === undefined ? undefined : rowNumber("limit", limit) } });
    }
}

function selectionMessage(entity: string, objects: Where): Draft<messages.ObjectsChange> {
    return {
        entity, predicate: optionalTerm(objects.where),
        arguments: argumentMessages(objects.arguments),
        variables: variableMessages(objects.variables),
        excludeSubentities: !(objects.includesSubentities ?? true) };
}

function versionOf(version: Integer | undefined): bigint | undefined {
    return version === undefined ? undefined : int64(version, "the version");
}

/** The message of an identifier, which a program in JavaScript might not have given. */
export function messageOf(object: Reference): Draft<messages.Identifier> {
    if (!isReference(object)) {
        throw wrongType(`${String(object)} is not an identifier`, "Identifier.parse makes one");
    }
    return object.message();
}

function editMessage(edit: Edit): Draft<messages.RelationshipEdit> {
    const { end, before, after, index } = edit;
    const positions: NonNullable<Draft<messages.RelationshipEdit>["position"]>[] = [];
    if (end !== undefined) {
        const value = enumeratorOf(messages.ListEnd, end, "end of a list");
        positions.push({ case: "end", value });
    }
    if (before !== undefined) positions.push({ case: "before", value: messageOf(before) });
    if (after !== undefined) positions.push({ case: "after", value: messageOf(after) });
    if (index !== undefined) {
        positions.push({ case: "index", value: rowNumber("index", index) });
    }
    if (positions.length > 1) throw failure("INVALID_CHANGE_SET", "an edit has one position");
    return {
        name: edit.relationship, objects: edit.objects.map(messageOf), position: positions[0],
        kind: enumeratorOf(messages.RelationshipEditKind, edit.kind, "kind of edit") };
}

// Sets that are too long for one message

/** A longer set is sent in parts, so that the server reads it part by part. */
const BYTES_MAX = 4 << 20;
const CHANGES_MAX = 20_000;
const PART_BYTES = 1 << 20;
/** The parts that may be on their way. */
export const PARTS_MAX = 4;

/** Whether to send a set in parts, which the protocol allows for sets without conditions. */
export function isDivided(set: Draft<messages.ChangeSet>, length: number): boolean {
    const changes = set.changes ?? [];
    return (length > BYTES_MAX || changes.length > CHANGES_MAX)
        && (set.conditions ?? []).length === 0
        && changes.every((each) => each.ifVersion === undefined && each.byPredicate === undefined
            && (each.baseValues ?? []).length === 0);
}

/** The parts of a set that were sent, and the result as far as it has arrived. */
export class SaveProgress {
    private offset = 0;
    private sentCount = 0;
    private processedCount = 0;
    private readonly inserted: messages.Identifier[] = [];
    private readonly updatedVersions: bigint[] = [];
    /** Set when the reply is complete. */
    result: messages.SaveReply | undefined;

    constructor(private readonly content: Uint8Array, private readonly changeCount: number) {}

    /** Whether the server accepts another part, and there is one. */
    get mustSend(): boolean {
        return this.offset < this.content.length
            && this.sentCount - this.processedCount < PARTS_MAX;
    }

    nextPart(requestId: bigint): Draft<messages.SavePartRequest> {
        const content = this.content.subarray(this.offset, this.offset + PART_BYTES);
        this.offset += content.length;
        this.sentCount += 1;
        return { requestId, content, last: this.offset === this.content.length };
    }

    /** Adds a reply; the lists of all replies, one after the other, are those of the save. */
    received(reply: messages.SaveReply): void {
        if (reply.partCount > this.sentCount) throw violation("another number of parts");
        // The replies with the result have no number.
        this.processedCount = Math.max(this.processedCount, Number(reply.partCount));
        for (const each of reply.inserted) this.inserted.push(each);
        for (const each of reply.updatedVersions) this.updatedVersions.push(each);
        if (this.inserted.length + this.updatedVersions.length > this.changeCount) {
            throw violation("more results than the set has changes");
        }
        if (!reply.more) {
            this.result = {
                ...reply, inserted: this.inserted, updatedVersions: this.updatedVersions };
        }
    }
}
