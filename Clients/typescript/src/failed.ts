// The errors in the reply `failed`.

import { errorOfNumber, nameOf } from "./errors.js";
import type { LarderError, Problem } from "./errors.js";
import { integerOf } from "./identifiers.js";
import type * as messages from "./messages.js";
import { valueOfMessage } from "./values.js";
import type { Value } from "./values.js";

/** The error of the reply `failed`. */
export function errorOfReply(reply: messages.ErrorReply): LarderError {
    const problems = reply.details.length > 0
        ? reply.details.map(problemOf)
        : reply.problems.map((message) => ({
            code: nameOf(reply.code), number: reply.code, message, entity: "", properties: [],
            uri: "", rule: "", conflicts: [] }));
    return errorOfNumber(reply.code, reply.message, {
        hint: reply.hint, column: reply.column, uri: reply.uri, problems });
}

function problemOf(detail: messages.ChangeViolation): Problem {
    const { change, condition, found, conflict } = detail;
    return {
        code: nameOf(detail.code), number: detail.code, message: detail.message,
        ...(change === undefined ? {} : { change }),
        ...(condition === undefined ? {} : { condition }),
        ...(found === undefined ? {} : { found: Number(found) }),
        ...(conflict === undefined ? {} : { storedVersion: integerOf(conflict.storedVersion) }),
        entity: detail.entity, properties: detail.properties, uri: detail.uri, rule: detail.rule,
        conflicts: (conflict?.properties ?? []).map((each) => ({
            name: each.name, base: optional(each.baseValue), stored: optional(each.stored),
            given: optional(each.given) })),
    };
}

function optional(message: messages.Value | undefined): Value | undefined {
    return message === undefined ? undefined : valueOfMessage(message);
}
