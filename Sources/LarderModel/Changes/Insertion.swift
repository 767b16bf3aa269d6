public import FoundationEssentials

/// How a stream of new objects of one entity is to be stored; the objects come as rows.
public struct Insertion: Hashable, Sendable {
    public var entityName: String
    /// What becomes of a row whose unique values an object has already.
    public var onUniqueConflict: UniqueConflictPolicy
    /// Who or what makes the objects, for the history; at most ``Limits/authorBytesMax`` bytes.
    public var author: String
    /// Whether the stream is one transaction; if not, each of its batches is one.
    public var isAtomic: Bool
    /// Whether the answer names the objects.
    public var wantsIdentifiers: Bool

    public init(
        _ entityName: String, onUniqueConflict: UniqueConflictPolicy = .error, author: String = "",
        isAtomic: Bool = false, wantsIdentifiers: Bool = false
    ) {
        self.entityName = entityName
        self.onUniqueConflict = onUniqueConflict
        self.author = author
        self.isAtomic = isAtomic
        self.wantsIdentifiers = wantsIdentifiers
    }
}

/// How far a stream of new objects has come, or what it came to.
public struct InsertedRows: Hashable, Sendable {
    /// Rows that are stored; of one transaction that is not done yet, those that were received.
    public var rowCount: Int64
    /// Batches that the store is done with.
    public var batchCount: Int64
    /// The keys of the objects, in the order of the rows; only if they were asked for.
    public var keys: [KeyRun]
    /// The last transaction that the history has of the stream; nil where nothing was stored yet.
    public var transaction: Int64?

    public init(
        rowCount: Int64 = 0, batchCount: Int64 = 0, keys: [KeyRun] = [], transaction: Int64? = nil
    ) {
        self.rowCount = rowCount
        self.batchCount = batchCount
        self.keys = keys
        self.transaction = transaction
    }
}

extension InsertedRows {
    /// The objects by their identifiers, in the order of the rows.
    public func identifiers(
        of entityName: String, store: UUID
    ) -> some Sequence<PersistentIdentifier> {
        keys.lazy.flatMap { run in
            (0..<Int64(run.count)).lazy.map {
                PersistentIdentifier(store: store, entityName: entityName, key: run.first + $0)
            }
        }
    }
}

/// Consecutive keys.
public struct KeyRun: Hashable, Sendable {
    public var first: Int64
    /// At least one.
    public var count: UInt32

    public init(first: Int64, count: UInt32) {
        self.first = first
        self.count = count
    }

    /// Adds a key that follows in the order of rows, to the last run if it is the next.
    public static func append(_ key: Int64, to runs: inout [KeyRun]) {
        if let end = runs.indices.last, runs[end].count < .max,
            runs[end].first &+ Int64(runs[end].count) == key
        {
            runs[end].count += 1
        } else {
            runs.append(KeyRun(first: key, count: 1))
        }
    }
}

/// An insertion, and where it came from.
public struct ReceivedInsertion: Hashable, Sendable {
    public var insertion: Insertion
    public var source: ChangeSource

    public init(_ insertion: Insertion, from source: ChangeSource = ChangeSource()) {
        self.insertion = insertion
        self.source = source
    }
}

extension Insertion {
    /// What the entity takes: whether it and each column's property are in the schema, and whether
    /// the column is of the property's type, or an integer of another size.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `wrongType`, `malformedMessage`,
    ///   `resourceExhausted`.
    public func check(_ batch: Batch?, in schema: Schema) throws(LarderError) {
        guard author.utf8.count <= Limits.authorBytesMax else {
            throw LarderError(
                .resourceExhausted,
                "the author of a change takes at most \(Limits.authorBytesMax) bytes")
        }
        guard let entity = schema.entity(named: entityName) else {
            throw LarderError(.unknownEntity, "there is no entity \(entityName)")
        }
        guard let batch else { return }
        guard batch.identity == nil else {
            throw LarderError(
                .malformedMessage, "rows to be inserted have identities",
                hint: "the store gives new objects their keys")
        }
        var names: Set<String> = []
        for column in batch.columns {
            guard let property = entity.property(named: column.name) else {
                throw LarderError(
                    .unknownProperty,
                    "\(entity.name) has no property \(column.name.prefix(Limits.nameBytesMax))")
            }
            guard names.insert(column.name).inserted else {
                throw LarderError(
                    .malformedMessage, "there are two columns for \(entity.name).\(column.name)")
            }
            try column.check(property, "\(entity.name).\(column.name)", in: schema)
        }
    }
}

extension Column {
    fileprivate func check(
        _ property: Property, _ name: String, in schema: Schema
    ) throws(LarderError) {
        func isKind(_ name: String, of destination: String) -> Bool {
            ([name] + subentities.names).allSatisfy { schema.isKind($0, of: destination) }
        }
        let wanted: String
        switch (property, kind) {
        case (.attribute(let attribute), .attribute(let type))
        where type == attribute.type || type.isInteger && attribute.type.isInteger:
            return
        case (.relationship(let relationship), .object(let destination))
        where !relationship.isToMany && isKind(destination, of: relationship.destination):
            return
        case (.relationship(let relationship), .objects(let destination))
        where relationship.isToMany && isKind(destination, of: relationship.destination):
            return
        case (.attribute(let attribute), _): wanted = "\(attribute.type.rawValue) values"
        case (.relationship(let relationship), _):
            wanted =
                relationship.isToMany
                ? "lists of \(relationship.destination) objects"
                : "objects of \(relationship.destination)"
        }
        throw LarderError(.wrongType, "the column for \(name) does not hold \(wanted)")
    }
}
