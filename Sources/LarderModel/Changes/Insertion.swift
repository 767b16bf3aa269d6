public import FoundationEssentials

/// How to store a stream of new objects of one entity. The objects follow as rows.
public struct Insertion: Hashable, Sendable {
    public var entityName: String
    /// How to handle a row whose unique values belong to an existing object.
    public var onUniqueConflict: UniqueConflictPolicy
    /// The author recorded in the history, at most ``Limits/authorBytesMax`` bytes.
    public var author: String
    /// Whether the whole stream is one transaction; otherwise each batch is one.
    public var isAtomic: Bool
    /// Whether the result contains the identifiers of the new objects.
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

/// The progress or the result of an insertion.
public struct InsertedRows: Hashable, Sendable {
    /// The number of stored rows; for an atomic insertion that is not finished, of received rows.
    public var rowCount: Int64
    /// The number of processed batches.
    public var batchCount: Int64
    /// The keys of the new objects in row order; empty unless identifiers were requested.
    public var keys: [KeyRange]
    /// The last transaction of the insertion in the history; nil if nothing has been stored.
    public var transaction: Int64?

    public init(
        rowCount: Int64 = 0, batchCount: Int64 = 0, keys: [KeyRange] = [], transaction: Int64? = nil
    ) {
        self.rowCount = rowCount
        self.batchCount = batchCount
        self.keys = keys
        self.transaction = transaction
    }
}

extension InsertedRows {
    /// The identifiers of the new objects, in row order.
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

/// A range of consecutive keys.
public struct KeyRange: Hashable, Sendable {
    public var first: Int64
    /// At least 1.
    public var count: UInt32

    public init(first: Int64, count: UInt32) {
        self.first = first
        self.count = count
    }

    /// Appends a key, extending the last range if the key directly follows it.
    package static func append(_ key: Int64, to runs: inout [KeyRange]) {
        if let end = runs.indices.last, runs[end].count < .max,
            runs[end].first &+ Int64(runs[end].count) == key
        {
            runs[end].count += 1
        } else {
            runs.append(KeyRange(first: key, count: 1))
        }
    }
}

extension Insertion {
    /// Checks the insertion and a batch of its rows against the schema: the entity and the property
    /// of each column must exist, and the type of each column must be its property's type. Integer
    /// types are interchangeable; the store checks their ranges.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `wrongType`, `malformedMessage` for duplicate
    ///   columns and rows with identities, `resourceExhausted` for a long author.
    package func check(_ batch: Batch?, in schema: Schema) throws(LarderError) {
        guard author.utf8.count <= Limits.authorBytesMax else {
            throw LarderError(
                .resourceExhausted,
                "the author is longer than \(Limits.authorBytesMax) bytes")
        }
        let entity = try schema.existingEntity(named: entityName)
        guard let batch else { return }
        guard batch.identity == nil else {
            throw LarderError(
                .malformedMessage, "the rows of an insertion must not have identities",
                hint: "the store assigns the keys of new objects")
        }
        var names: Set<String> = []
        for column in batch.columns {
            guard let property = entity.property(named: column.name) else {
                throw LarderError.unknownProperty(column.name, of: entity)
            }
            guard names.insert(column.name).inserted else {
                throw LarderError(
                    .malformedMessage, "duplicate column for \(entity.name).\(column.name)")
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
        throw LarderError(.wrongType, "the column for \(name) must hold \(wanted)")
    }
}
