// The client of Larder for Node: the names that programs use.

export { ChangeSet, SaveResult, newIdempotencyKey } from "./changes.js";
export type {
    AffectedObjects, Edit, ListPosition, MergePolicy, ObjectsSelection, UpdateOptions,
    UpdateSelection, Values,
} from "./changes.js";
export { Client, connect } from "./client.js";
export type {
    AnyEntities, ColumnRow, Given, GivenValues, InsertManyOptions, LiveOptions, ObserveOptions,
    WriteOptions,
} from "./client.js";
export {
    ConflictError, ConnectionFailedError, IndeterminateError, InvalidError, LarderError,
    NotFoundError, ProtocolError, RefusedError, StorageError, TemporaryError,
} from "./errors.js";
export type { ConflictingProperty, ErrorCode, Problem } from "./errors.js";
export { HistoryToken } from "./history.js";
export type {
    ChangeKind, HistoryChange, HistoryFilter, HistoryPage, HistoryQuery, Tombstone, Transaction,
} from "./history.js";
export { Identifier, TemporaryIdentifier, Uuid } from "./identifiers.js";
export type { Integer, Reference } from "./identifiers.js";
export type { InsertedRows } from "./insertion.js";
export type { Differences, LiveResult, Section } from "./live.js";
export type {
    AggregateFunction, AggregateQuery, ColumnQuery, Columns, FetchQuery, FunctionName, SortKey,
    Where,
} from "./queries.js";
export type { Row, StoredObject } from "./rows.js";
export { ServerDescription } from "./server.js";
export type { CallOptions, Options } from "./server.js";
export { Stream } from "./streams.js";
export { Decimal, Json, StoredDate, Url } from "./values.js";
export type { Argument, GivenValue, JsonValue, Value } from "./values.js";
