// Queries as values. A query without its values is a shape, whose plan the server caches by its
// bytes, so that equal shapes are encoded to equal bytes.

import { failure } from "./errors.js";
import type { ErrorCode } from "./errors.js";
import { encodedMessage } from "./frames.js";
import type { Identifier } from "./identifiers.js";
import * as messages from "./messages.js";
import {
    argumentMessages, malformed, valueMessage, variableMessages, wrongType,
} from "./values.js";
import type { Argument, GivenValue } from "./values.js";
import type { Draft, EnumerationType } from "./wire.js";

/** The replies of a stream that may be on their way. */
export const CREDIT = 4;

/** A key path or an expression to sort by. A text in its place sorts in ascending order. */
export interface SortKey {
    readonly term: string;
    readonly descending?: boolean;
    /** Where nil is: first in ascending and last in descending order, or always at one end. */
    readonly nils?: "standard" | "first" | "last";
    readonly strings?: "plain" | "caseInsensitive" | "localizedStandard";
}

/** Columns: names of properties or expressions, or names with their expressions. */
export type Columns = readonly string[] | { readonly [name: string]: string };

/** The objects of a query. */
export interface Where {
    /** A predicate in Core Data's format; without one all objects. */
    readonly where?: string;
    /** The values of `%@` and `%K`. A list is one argument, for IN. */
    readonly arguments?: readonly Argument[];
    /** The values of `$name`. */
    readonly variables?: { readonly [name: string]: Argument };
    /** Whether objects of subentities are among the result; true without it. */
    readonly includesSubentities?: boolean;
}

/** A query for objects. */
export interface FetchQuery extends Where {
    readonly sort?: readonly (string | SortKey)[];
    readonly limit?: number;
    readonly offset?: number;
    /** A cursor: the result begins after the object with these values of the sort keys and this
     * identifier, which is last in the list. */
    readonly after?: readonly GivenValue[];
}

/** A query for columns of objects. */
export interface ColumnQuery extends FetchQuery {
    readonly columns: Columns;
    /** Removes equal rows, which then have no identifiers. */
    readonly distinct?: boolean;
}

export type FunctionName =
    | "count" | "countDistinct" | "sum" | "average" | "minimum" | "maximum" | "median" | "mode"
    | "stddev";

/** A value that is computed over the objects of a group. A text in its place is its name. */
export interface AggregateFunction {
    readonly name: FunctionName;
    /** The key path or expression; only `count` may omit it, which then counts objects. */
    readonly term?: string;
    /** Only objects that match this predicate are aggregated. */
    readonly where?: string;
}

/** Values that are computed over groups of objects, one row for each group. `having` and `sort`
 * refer to the names of the columns. The arguments are those of the predicate, the group keys, the
 * columns, `having` and the sort keys, in this order. */
export interface AggregateQuery extends Where {
    readonly columns: { readonly [name: string]: FunctionName | AggregateFunction };
    readonly groupBy?: Columns;
    readonly having?: string;
    readonly sort?: readonly (string | SortKey)[];
    readonly limit?: number;
}

const FUNCTIONS: { readonly [Name in FunctionName]: messages.AggregateFunction } = {
    count: "COUNT", countDistinct: "COUNT_DISTINCT", sum: "SUM", average: "AVERAGE",
    minimum: "MINIMUM", maximum: "MAXIMUM", median: "MEDIAN", mode: "MODE", stddev: "STDDEV",
};

/** The enumerator of a name such as `storeWins`. */
export function enumeratorOf<Name extends string>(
    type: EnumerationType<Name>, name: string, meaning: string, code: ErrorCode = "UNSUPPORTED",
): Name {
    const enumerator = String(name).replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase();
    if (!type.numbers.has(enumerator) || enumerator === "UNSPECIFIED") {
        throw failure(code, `${name} is not a ${meaning}`);
    }
    return enumerator as Name;
}

/** A number of rows, which is not negative. */
export function rowNumber(name: string, number: number): bigint {
    if (!Number.isSafeInteger(number) || number < 0) {
        throw malformed(`the ${name} ${number} is not a number from 0`);
    }
    return BigInt(number);
}

export function term(format: string): Draft<messages.Term> {
    if (typeof format !== "string") throw wrongType("an expression is a text");
    return { form: { case: "format", value: format } };
}

export function optionalTerm(format: string | undefined): Draft<messages.Term> | undefined {
    return format === undefined ? undefined : term(format);
}

/** Columns by name; one that is given as text has this name. */
export function namedTerms(columns: Columns): Draft<messages.NamedTerm>[] {
    if (typeof columns === "string") throw wrongType("columns are a list", "write [name]");
    const named = Array.isArray(columns)
        ? columns.map((each: string) => [each, each] as const) : Object.entries(columns);
    return named.map(([name, format]) => ({ name, term: term(format) }));
}

export function sortKeys(keys: readonly (string | SortKey)[] = []): Draft<messages.SortKey>[] {
    if (!Array.isArray(keys)) throw wrongType("sort keys are a list", "write [key]");
    return keys.map((each: string | SortKey) => {
        const key = typeof each === "string" ? { term: each } : each;
        return {
            term: term(key.term), descending: key.descending ?? false,
            nilPlacement: enumeratorOf(
                messages.NilPlacement, key.nils ?? "standard", "placement of nil"),
            stringOrder: enumeratorOf(
                messages.StringOrder, key.strings ?? "plain", "order of strings"),
        };
    });
}

/** The parts of a query that are not in its shape. */
function request(
    shape: Draft<messages.Query>, query: Where & { readonly limit?: number },
): Draft<messages.QueryRequest> {
    return {
        shape: encodedMessage(messages.Query, shape), arguments: argumentMessages(query.arguments),
        variables: variableMessages(query.variables), credit: CREDIT,
        limit: query.limit === undefined ? undefined : rowNumber("limit", query.limit) };
}

/** A fetch of objects, or of columns of them. */
export function fetchRequest(
    entity: string, query: FetchQuery | ColumnQuery,
): Draft<messages.QueryRequest> {
    const columns = "columns" in query ? query.columns : undefined;
    const named = namedTerms(columns ?? []);
    const selection = columns === undefined ? "OBJECTS"
        : named.length > 0 ? "COLUMNS" : "IDENTIFIERS";
    const fetch: Draft<messages.FetchQuery> = {
        entity, predicate: optionalTerm(query.where), sort: sortKeys(query.sort), selection,
        columns: named, distinct: "distinct" in query && (query.distinct ?? false),
        excludeSubentities: !(query.includesSubentities ?? true) };
    return {
        ...request({ kind: { case: "fetch", value: fetch } }, query),
        offset: query.offset === undefined ? undefined : rowNumber("offset", query.offset),
        after: (query.after ?? []).map(valueMessage) };
}

export function countRequest(entity: string, query: Where): Draft<messages.QueryRequest> {
    const count: Draft<messages.CountQuery> = {
        entity, predicate: optionalTerm(query.where),
        excludeSubentities: !(query.includesSubentities ?? true) };
    return request({ kind: { case: "count", value: count } }, query);
}

export function aggregateRequest(
    entity: string, query: AggregateQuery,
): Draft<messages.QueryRequest> {
    const aggregate: Draft<messages.AggregateQuery> = {
        entity, predicate: optionalTerm(query.where), groupBy: namedTerms(query.groupBy ?? []),
        columns: Object.entries(query.columns).map(([name, each]) => aggregateColumn(name, each)),
        having: optionalTerm(query.having), sort: sortKeys(query.sort),
        excludeSubentities: !(query.includesSubentities ?? true) };
    return request({ kind: { case: "aggregate", value: aggregate } }, query);
}

function aggregateColumn(
    name: string, given: FunctionName | AggregateFunction,
): Draft<messages.AggregateColumn> {
    const called: AggregateFunction = typeof given === "string" ? { name: given } : given;
    if (!Object.hasOwn(FUNCTIONS, called.name)) {
        throw failure("UNSUPPORTED", `${called.name} is not a function of aggregates`, {
            hint: `the functions are ${Object.keys(FUNCTIONS).join(", ")}` });
    }
    return {
        name, function: FUNCTIONS[called.name], term: optionalTerm(called.term),
        filter: optionalTerm(called.where) };
}

/** A read of objects by identifier. */
export function getRequest(
    wanted: readonly Identifier[], properties: readonly string[] | undefined,
): Draft<messages.GetRequest> {
    return {
        identifiers: wanted.map((each) => each.message()),
        properties: properties === undefined ? undefined : { names: properties } };
}
