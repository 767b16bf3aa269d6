/// The named maxima of what may come from outside; each is checked before memory is taken.
///
/// These bound the vocabulary itself. The server's own (connections, queues, times) stand in
/// `ServerLimits`.
public enum Limits {
    /// A frame, and a frame before the handshake is done.
    public static let frameBytesMax = 16 << 20
    public static let handshakeFrameBytesMax = 64 << 10
    /// Levels of an expression tree, from its root to its deepest leaf; and in a format string of
    /// parentheses too, although they leave no trace in the tree.
    public static let expressionDepthMax = 64
    /// SUBQUERY, ANY and ALL inside each other: of the 100 symbols that SQLite's parser stacks each
    /// takes eight, or more where functions stand around it.
    public static let nestedCollectionsMax = 10
    /// Operands of a function that takes any number.
    public static let functionOperandsMax = 64
    /// Nodes of an expression tree.
    public static let expressionNodesMax = 4_096
    /// A predicate in format-string form, in UTF-8 bytes.
    public static let predicateBytesMax = 256 << 10
    /// Arguments of a query.
    public static let argumentsMax = 4_096
    /// Named values of a query.
    public static let variablesMax = 256
    /// Values of a list that is one argument.
    public static let listElementsMax = 65_536
    /// Steps of a key path; sort keys, selected columns, group keys or computed columns of a query.
    public static let keyPathStepsMax = 16
    public static let queryColumnsMax = 256
    /// Relationships that a fetch follows to prefetch objects.
    public static let prefetchedStepsMax = 64
    /// Identifiers in one `get`.
    public static let identifiersMax = 65_536
    /// Changes in one change set.
    public static let changesMax = 1_000_000
    /// Edits of relationships in one change; objects of one edit.
    public static let editsMax = 1_000
    public static let editedObjectsMax = 65_536
    /// Objects that a change set counts in lists to find places given by an index; the last index
    /// may count more.
    public static let countedObjectsMax = 2_000_000
    /// Changes by predicate among them.
    public static let changesByPredicateMax = 1_000
    /// Identifiers of objects that a change set's changes by predicate affect, in its answer.
    public static let affectedIdentifiersMax = 65_536
    /// The author of a change set, in UTF-8 bytes.
    public static let authorBytesMax = 256
    /// The idempotency key of a change set, in UTF-8 bytes.
    public static let idempotencyKeyBytesMax = 64
    /// Outcomes of saves with a key that a store remembers, and for how long: a day.
    public static let outcomesMax: Int64 = 1_000_000
    public static let outcomeSecondsMax = 86_400.0
    /// Batches of a stream of new objects that a client may be ahead of the server's answers.
    public static let batchesAheadMax = 4
    /// A name of an entity or a property, in UTF-8 bytes.
    public static let nameBytesMax = 128
    /// Entities of a schema, and properties of an entity.
    public static let entitiesMax = 1_000
    public static let propertiesMax = 1_000
    /// Entities above an entity; and properties that all entities inherit, each counted wherever it
    /// is inherited.
    public static let ancestorsMax = 32
    public static let inheritedPropertiesMax = 100_000
    /// Levels of arrays and objects in a JSON document.
    public static let jsonDepthMax = 64
    /// A schema file.
    public static let schemaBytesMax = 4 << 20
}
