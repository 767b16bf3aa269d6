import FoundationEssentials
import LarderModel
import LarderQuery

/// A store whose objects have short names, for tests that query and print.
package final class QueryFixture {
    package let store: any StoreBackend
    package let reader: any StoreReader
    package let writer: any StoreWriter
    package private(set) var names: [PersistentIdentifier: String] = [:]
    private var identifiers: [String: PersistentIdentifier] = [:]

    /// - Parameter store: An empty store.
    package init(_ store: any StoreBackend) throws {
        self.store = store
        writer = try store.makeWriter()
        reader = try store.makeReader()
    }

    deinit { writer.close() }

    /// One object to insert; values refer to objects by `@name`.
    package struct Object {
        var entityName: String
        var name: String
        var values: [String: JSONValue]

        package init(entityName: String, name: String, values: [String: JSONValue]) {
            self.entityName = entityName
            self.name = name
            self.values = values
        }
    }

    package func insert(_ objects: [Object]) throws {
        for object in objects {
            identifiers[object.name] = PersistentIdentifier(
                temporary: object.name, entityName: object.entityName)
        }
        var changes: [Change] = []
        for object in objects {
            let temporary = try identifier(object.name)
            guard let entity = store.storeDescription.schema.entity(named: object.entityName) else {
                throw FixtureError("no entity \(object.entityName)")
            }
            var values: [String: Value] = [:]
            for (name, json) in object.values { values[name] = try value(json, name, of: entity) }
            changes.append(.insert(temporary, values: values))
        }
        let result = try save(changes)
        for (object, identifier) in zip(objects, result.inserted) {
            identifiers[object.name] = identifier
            names[identifier] = object.name
        }
    }

    package func delete(_ name: String) throws {
        _ = try save([.delete(try identifier(name), ifVersion: nil)])
    }

    private func save(_ changes: [Change]) throws -> SaveResult {
        guard let result = writer.save([ChangeSet(changes)]).first else {
            throw FixtureError("the writer gave no outcome")
        }
        return try result.get()
    }

    package func identifier(_ name: String) throws -> PersistentIdentifier {
        if name.hasPrefix("wrong:") { return try wrong(name) }
        guard let identifier = identifiers[name] else { throw FixtureError("no object \(name)") }
        return identifier
    }

    /// `wrong:Member@ann`: the key of an object under the name of another entity.
    private func wrong(_ name: String) throws -> PersistentIdentifier {
        let parts = name.dropFirst("wrong:".count).split(separator: "@").map(String.init)
        guard parts.count == 2, let key = try identifier(parts[1]).permanentKey else {
            throw FixtureError("no object \(name)")
        }
        return PersistentIdentifier(store: storeIdentifier, entityName: parts[0], key: key)
    }

    private func value(_ json: JSONValue, _ name: String, of entity: Entity) throws -> Value {
        switch entity.property(named: name) {
        case .attribute(let attribute): return try Value(json: json, type: attribute.type)
        case .relationship:
            switch json {
            case .null: return .null
            case .string(let text): return .object(try identifier(String(text.dropFirst())))
            case .array(let list):
                return .objects(
                    try list.map { element in
                        guard case .string(let text) = element else {
                            throw FixtureError("\(name) takes names of objects")
                        }
                        return try identifier(String(text.dropFirst()))
                    })
            default: throw FixtureError("\(name) takes names of objects")
            }
        case nil: throw FixtureError("\(entity.name) has no \(name)")
        }
    }

    /// The result of a query, batch by batch.
    package func batches(
        _ query: Query, _ parameters: QueryParameters = QueryParameters(), bytesMax: Int = 1 << 20,
        budget: ReadBudget = ReadBudget()
    ) throws -> [Batch] {
        let plan = try store.plan(query, parameters)
        do throws(ReadFailure) {
            let cursor = try reader.open(plan, parameters, budget: budget)
            defer { cursor.close() }
            var batches: [Batch] = []
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: bytesMax, budget: budget)
                batches.append(batch)
                if isLast { return batches }
            }
        } catch {
            throw error.shown
        }
    }

    /// The rows as text: the object's name, if the row is an object, then the values.
    package func rows(_ batches: [Batch]) -> [String] {
        batches.flatMap { batch in
            (0..<batch.rowCount).map { row in
                let values = batch.columns.indices.map { column in
                    text(batch.value(row: row, column: column, store: storeIdentifier))
                }
                guard let identity = batch.identity else { return values.joined(separator: " | ") }
                let identifier = PersistentIdentifier(
                    store: storeIdentifier, entityName: identity.entityName(at: row),
                    key: identity.keys[row])
                let path = batch.prefetchPath.map { "\($0): " } ?? ""
                return ([path + text(.object(identifier))] + values).joined(separator: " | ")
            }
        }
    }

    package var storeIdentifier: UUID { store.storeDescription.identifier }

    private func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .string(let text): "\"\(text)\""
        case .object(let identifier):
            names[identifier] ?? "unknown p\(identifier.permanentKey ?? 0)"
        case .objects(let list):
            "[\(list.map { names[$0] ?? "unknown" }.joined(separator: ", "))]"
        default: value.text
        }
    }
}

package struct FixtureError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

extension ReadFailure {
    /// The inner error, which prints as users see it.
    package var shown: any Error {
        switch self {
        case .budgetExceeded: FixtureError("budgetExceeded")
        case .failed(let error): error
        }
    }
}
