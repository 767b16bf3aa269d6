import FoundationEssentials
import LarderModel

/// Prints whole objects as JSON, and embeds prefetched objects in those that refer to them.
///
/// It keeps only the prefetched objects of one batch of rows in memory.
struct NestedPrinter {
    private var writer: JSONWriter
    private let store: UUID
    /// The prefetched objects by key path and key.
    private var related: [String: [Int64: JSONValue]] = [:]

    init(isArray: Bool, store: UUID) {
        self.writer = JSONWriter(isArray: isArray)
        self.store = store
    }

    mutating func print(_ batch: Batch) throws(LarderError) {
        guard let identity = batch.identity else { return }
        let names = ["@id", "@entity", "@version"] + batch.columns.map(\.name)
        let prefix = batch.prefetchPath.map { $0 + "." } ?? ""
        if batch.prefetchPath == nil { try writer.begin(names) }
        for row in 0..<batch.rowCount {
            let values = values(row, batch, identity, prefix)
            if let keyPath = batch.prefetchPath {
                let members = Dictionary(zip(names, values)) { first, _ in first }
                related[keyPath, default: [:]][identity.keys[row]] = .object(members)
            } else {
                try writer.write(json: values)
            }
        }
        // The server sends the objects that a batch refers to before the batch, and sends them
        // again for the next batch, so those of this batch are not needed any more.
        for keyPath in related.keys where keyPath.hasPrefix(prefix) { related[keyPath] = nil }
    }

    mutating func end() throws(LarderError) { try writer.end() }

    private func values(
        _ row: Int, _ batch: Batch, _ identity: Batch.Identity, _ prefix: String
    ) -> [JSONValue] {
        let identifier = PersistentIdentifier(
            store: store, entityName: identity.entityName(at: row), key: identity.keys[row])
        var values: [JSONValue] = [
            Value.object(identifier).jsonValue, .string(identifier.entityName),
            Value.int(identity.versions[row]).jsonValue,
        ]
        for column in batch.columns {
            let value = column.value(at: row, store: store)
            let embedded = related[prefix + column.name] ?? [:]
            switch value {
            case .object(let object): values.append(Self.nested(object, embedded))
            case .objects(let list): values.append(.array(list.map { Self.nested($0, embedded) }))
            default: values.append(value.jsonValue)
            }
        }
        return values
    }

    private static func nested(
        _ object: PersistentIdentifier, _ embedded: [Int64: JSONValue]
    ) -> JSONValue {
        object.permanentKey.flatMap { embedded[$0] } ?? Value.object(object).jsonValue
    }
}
