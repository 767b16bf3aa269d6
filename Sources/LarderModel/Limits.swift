/// The limits on external input. Each is checked before memory is allocated.
///
/// These apply to the vocabulary itself. `ServerLimits` has the server's limits on connections,
/// queues and times.
public enum Limits {
    /// The size of a frame, and of a frame before the handshake is complete.
    package static let frameBytesMax = 16 << 20
    package static let handshakeFrameBytesMax = 64 << 10
    /// The size of an object, which is SQLite's maximum of a row. A server may accept less.
    public static let objectBytesMax = 1_000_000_000
    /// The bytes of the frame of the longest object besides the object.
    package static let objectFrameBytes = 1 << 20
    /// The depth of an expression tree, from the root to the deepest leaf. In a format string,
    /// nested parentheses count too, although they do not appear in the tree.
    public static let expressionDepthMax = 64
    /// The nesting of SUBQUERY, ANY and ALL. SQLite's parser has a stack of 100 symbols; each of
    /// these takes eight, and more inside function calls.
    package static let nestedCollectionsMax = 10
    /// Operands of a variadic function.
    package static let functionOperandsMax = 64
    /// The text that a function returns, in UTF-8 bytes.
    public static let functionTextBytesMax = 16 << 20
    /// Nodes of an expression tree.
    package static let expressionNodesMax = 4_096
    /// A search text in UTF-8 bytes, and its words.
    package static let searchTextBytesMax = 4 << 10
    package static let searchWordsMax = 64
    /// Words of a snippet.
    public static let snippetWordsMax = 256
    /// Attributes of one index of words.
    package static let wordIndexAttributesMax = 32
    /// The size of a predicate format string in UTF-8 bytes.
    package static let predicateBytesMax = 256 << 10
    /// Positional arguments of a query.
    public static let argumentsMax = 4_096
    /// Named variables of a query.
    package static let variablesMax = 256
    /// Values of an argument that is a list. A request with all its arguments is one frame.
    public static let listElementsMax = 1_000_000
    /// Steps of a key path.
    package static let keyPathStepsMax = 16
    /// Sort keys, selected columns, group keys or aggregates of a query, each.
    package static let queryColumnsMax = 256
    /// Relationships along the prefetch paths of a fetch.
    package static let prefetchedRelationshipsMax = 64
    /// Names of each kind in a filter of the history.
    package static let historyFilterNamesMax = 1_000
    /// Fetches of objects in a request for the history.
    package static let historyObjectsMax = 16
    /// The numbers of transactions: 0 is before the first one. The last one is never reached, and
    /// has a successor.
    public static let transactionNumbers: ClosedRange<Int64> = 0...1 << 62
    /// Transactions and runs of changes that one page of the history looks at.
    package static let historyPageTransactionsMax = 10_000
    package static let historyPageRunsMax = 100_000
    /// The preserved values of one deleted object in a page, which has to fit into a frame. Those
    /// beyond are left out.
    package static let tombstoneBytesMax = 8 << 20
    /// The longest value that the history keeps from before a change, and all of one transaction;
    /// others are left out.
    package static let formerValueBytesMax = 1 << 20
    package static let formerValuesBytesMax = 64 << 20
    /// Identifiers in one `get` request.
    public static let identifiersMax = 65_536
    /// Changes in one change set. Each takes some 700 bytes of memory while it is executed.
    public static let changesMax = 250_000
    /// Changes in a change set that arrives in parts. Each takes some 350 bytes of memory while the
    /// set is executed, besides those of one part.
    public static let changesInPartsMax = 10_000_000
    /// Objects that one transaction of an insert stream changes besides those that it inserts.
    package static let changedObjectsMax = 1_000_000
    /// Relationship edits in one change, and objects in one edit.
    package static let editsMax = 1_000
    package static let editedObjectsMax = 65_536
    /// Objects that a change set may count in ordered lists to resolve positions given by index;
    /// the last index may exceed the limit.
    package static let listScanObjectsMax = 2_000_000
    /// Bulk changes in one change set.
    package static let bulkChangesMax = 1_000
    /// Conditions of one change set.
    public static let conditionsMax = 100
    /// Object identifiers in the results of all bulk changes of a change set.
    package static let affectedIdentifiersMax = 65_536
    /// The author of a change set, in UTF-8 bytes.
    public static let authorBytesMax = 256
    /// The idempotency key of a change set, in UTF-8 bytes.
    public static let idempotencyKeyBytesMax = 64
    /// Saves of one user with an idempotency key whose results the store keeps, and for how long in
    /// seconds. A user who has as many saves with no other key until the oldest one has expired.
    public static let idempotencyKeysMax: Int64 = 1_000_000
    package static let idempotencyKeySecondsMax = 86_400.0
    /// Keys of earlier saves that a change set releases.
    public static let releasedKeysMax = 100
    /// Batches of an insertion that a client may send before the server has acknowledged them.
    package static let unacknowledgedBatchesMax = 4
    /// The name of an entity or a property, in UTF-8 bytes.
    package static let nameBytesMax = 128
    /// Entities of a schema, and properties of an entity.
    package static let entitiesMax = 1_000
    package static let propertiesMax = 1_000
    /// Ancestors of an entity, and inherited properties of all entities; a property is counted once
    /// per entity that inherits it.
    package static let ancestorsMax = 32
    package static let inheritedPropertiesMax = 100_000
    /// Nested arrays and objects in a JSON document.
    package static let jsonDepthMax = 64
    /// The size of a schema file in bytes.
    package static let schemaBytesMax = 4 << 20
}
