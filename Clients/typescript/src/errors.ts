// The errors of all calls: LarderError, with one subclass for each hundreds digit of the numbers in
// docs/protocol.md.

import * as messages from "./messages.js";
import type { Integer } from "./identifiers.js";
import type { Value } from "./values.js";

/** The name of an error's number. */
export type ErrorCode = Exclude<messages.ErrorCode, "UNSPECIFIED">;

/** A property of a version conflict. A value that the server left out is undefined. */
export interface ConflictingProperty {
    readonly name: string;
    /** The value as the change's caller read it. */
    readonly base: Value | undefined;
    /** The value in the store. */
    readonly stored: Value | undefined;
    /** The value that the change sets. */
    readonly given: Value | undefined;
}

/** One violation of a change set, or one problem of a request. */
export interface Problem {
    readonly code: string;
    readonly number: number;
    readonly message: string;
    /** The index of the change in the set, or of the row in a stream. */
    readonly change?: number;
    /** The index of the condition in the set. */
    readonly condition?: number;
    /** The number of objects that a condition found. */
    readonly found?: number;
    readonly entity: string;
    readonly properties: readonly string[];
    readonly uri: string;
    /** The violated rule, such as `minLength` or `unique`. */
    readonly rule: string;
    /** The object's version in the store, of a version conflict; 0 once it is deleted. */
    readonly storedVersion?: Integer;
    readonly conflicts: readonly ConflictingProperty[];
}

/** The parts of an error, except its number and its message. */
export interface ErrorDetails {
    readonly hint?: string;
    readonly column?: number;
    readonly uri?: string;
    readonly problems?: readonly Problem[];
    readonly cause?: unknown;
}

/** An error with a stable number: the server's, or one of the client. */
export class LarderError extends Error {
    override readonly name: string = "LarderError";
    /** The name of the number, such as `UNKNOWN_PROPERTY`; of an unknown one its digits. */
    readonly code: string;
    readonly number: number;
    /** A sentence about the remedy, or empty. */
    readonly hint: string;
    /** The position of an error in a predicate, from 1, in characters; or 0. */
    readonly column: number;
    /** The URI of the object concerned, or empty. */
    readonly uri: string;
    /** All problems of a save, or empty. */
    readonly problems: readonly Problem[];

    constructor(number: number, message: string, details: ErrorDetails = {}) {
        super(message, details.cause === undefined ? {} : { cause: details.cause });
        this.code = nameOf(number);
        this.number = number;
        this.hint = details.hint ?? "";
        this.column = details.column ?? 0;
        this.uri = details.uri ?? "";
        this.problems = details.problems ?? [];
    }
}

/** 100 to 199: the client or the server violated the protocol. */
export class ProtocolError extends LarderError {
    override readonly name = "ProtocolError";
}

/** 200 to 299: an identifier, a token or a name refers to nothing in this store. */
export class NotFoundError extends LarderError {
    override readonly name = "NotFoundError";
}

/** 300 to 399: the data or the query is invalid. */
export class InvalidError extends LarderError {
    override readonly name = "InvalidError";
}

/** 400 to 499: another client changed the objects first; read them again. */
export class ConflictError extends LarderError {
    override readonly name = "ConflictError";
}

/** 500 to 599: a limit or a permission forbids the request. */
export class RefusedError extends LarderError {
    override readonly name = "RefusedError";
}

/** 600 to 699: the same request may succeed later. */
export class TemporaryError extends LarderError {
    override readonly name = "TemporaryError";
}

/** 700 to 799: there is no connection, or it was lost. */
export class ConnectionFailedError extends LarderError {
    override readonly name: string = "ConnectionFailedError";
}

/** 701: the reply to a write was lost, so that it may or may not have been executed. */
export class IndeterminateError extends ConnectionFailedError {
    override readonly name = "IndeterminateError";
}

/** 800 to 899: the storage of the server failed. */
export class StorageError extends LarderError {
    override readonly name = "StorageError";
}

const CLASSES = [
    LarderError, ProtocolError, NotFoundError, InvalidError, ConflictError, RefusedError,
    TemporaryError, ConnectionFailedError, StorageError];

/** The name of a number; of an unknown one its digits. */
export function nameOf(number: number): string {
    return messages.ErrorCode.names.get(number) ?? String(number);
}

/** The error of the class for a number. */
export function errorOfNumber(
    number: number, message: string, details: ErrorDetails = {},
): LarderError {
    if (number === messages.ErrorCode.numbers.get("INDETERMINATE")) {
        return new IndeterminateError(number, message, details);
    }
    return new (CLASSES[Math.floor(number / 100)] ?? LarderError)(number, message, details);
}

/** The error with a name. */
export function failure(
    code: ErrorCode, message: string, details: ErrorDetails = {},
): LarderError {
    return errorOfNumber(messages.ErrorCode.numbers.get(code)!, message, details);
}

/** The error of a server that violates the protocol. */
export function violation(message: string): LarderError {
    return failure("MALFORMED_MESSAGE", `the server sent ${message}`);
}

/** Whether something that was thrown is an error with this name. */
export function isFailure(error: unknown, ...codes: readonly ErrorCode[]): error is LarderError {
    return error instanceof LarderError && (codes as readonly string[]).includes(error.code);
}

/** The error of a connection that cannot be made, or has ended. */
export function connectionFailed(message: string, cause?: unknown): LarderError {
    return failure("CONNECTION_FAILED", message, { cause });
}
