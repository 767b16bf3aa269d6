import LarderModel
import LarderQuery

/// Runs the blocks of one script of edits. Each line is a change of one set:
///
///     relationship Shelf.books           the relationship of the following blocks
///     A = x y                            sets A's whole list
///     A add z before y; remove x         edits of one update, in order
///     A = x; other = y                   sets another relationship too; `other =` is nil
///     A = x; base other = y              with base values
///     insert +z                          inserts an object, which other lines call +z
///     insert +Z = x                      the same, with values
///     delete x
///     overwrite                          the set's merge policy; the default is `error`
///
/// Capital letters are owners, small letters objects in their lists. Objects that the block does
/// not insert are stored when they are first named. The output is each owner's list, the lists of
/// the other side if they are ordered, and the history; or the error, with names for URIs.
package final class EditScript {
    private let store: any WrittenStore
    private let reader: any StoreReader
    private var names: [(name: String, object: PersistentIdentifier)] = []
    private var ownerEntity = ""
    private var relationship: Relationship?

    /// - Parameter store: An empty store with the schema ``Lists``.
    package init(_ store: any WrittenStore) throws {
        self.store = store
        reader = try store.backend.makeReader()
    }

    package func run(_ command: String) throws -> String {
        var set = ChangeSet()
        var inserted: [String] = []
        for line in command.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            switch words[0] {
            case "relationship": return try use(words[1])
            case "insert":
                inserted.append(String(words[1].dropFirst()))
                let values = try content(words.dropFirst(2)).values
                set.changes.append(.insert(try object(words[1]), values: values))
            case "delete": set.changes.append(.delete(try object(words[1]), ifVersion: nil))
            case "overwrite": set.mergePolicy = .overwrite
            default: set.changes.append(try update(words[0], words.dropFirst()))
            }
        }
        let outcome = store.storeWriter.save([set])[0]
        guard case .success(let result) = outcome else {
            guard case .failure(let error) = outcome else { return "" }
            return named(error.description)
        }
        names += zip(inserted, result.inserted).map { (name: $0, object: $1) }
        return try (lists() + [history(result.transaction)]).joined(separator: "\n")
    }

    private struct Unreadable: Error { let text: String }

    private func use(_ text: String) throws -> String {
        let parts = text.split(separator: ".").map(String.init)
        ownerEntity = parts[0]
        relationship = store.schema.entity(named: parts[0])?.relationships.first {
            $0.name == parts[1]
        }
        names = []
        return ""
    }

    private func object(_ name: String) throws -> PersistentIdentifier {
        guard let relationship else { throw Unreadable(text: name) }
        let isOwner = name.drop { $0 == "+" }.first?.isUppercase ?? false
        let entityName = isOwner ? ownerEntity : relationship.destination
        if name.hasPrefix("+") { return .new(name, entityName) }
        if let known = names.last(where: { $0.name == name }) { return known.object }
        let insert = ChangeSet([.insert(.new("x", entityName), values: [:])])
        let object = try store.storeWriter.save([insert])[0].get().inserted[0]
        names.append((name, object))
        return object
    }

    private func update(_ owner: String, _ words: ArraySlice<String>) throws -> Change {
        let content = try content(words)
        return .update(
            try object(owner), ifVersion: nil, values: content.values, base: content.base,
            edits: content.edits)
    }

    private typealias Content = (
        values: [String: Value], base: [String: Value], edits: [RelationshipEdit]
    )

    private func content(_ words: ArraySlice<String>) throws -> Content {
        guard let relationship else { throw Unreadable(text: words.joined(separator: " ")) }
        var content: Content = ([:], [:], [])
        for part in words.joined(separator: " ").split(separator: ";") {
            var words = part.split(separator: " ").map(String.init)
            let isBase = words[0] == "base"
            if isBase { words.removeFirst() }
            if words.first == "=" { words.insert(relationship.name, at: 0) }
            if words.count < 2 || words[1] != "=" {
                content.edits.append(try edit(words, relationship))
                continue
            }
            let value = try value(of: words[0], words.dropFirst(2).map(object))
            if isBase { content.base[words[0]] = value } else { content.values[words[0]] = value }
        }
        return content
    }

    private func value(
        of name: String, _ objects: [PersistentIdentifier]
    ) throws -> Value {
        let owner = store.schema.entity(named: ownerEntity)
        guard let relationship = owner?.relationships.first(where: { $0.name == name })
        else { throw Unreadable(text: name) }
        if relationship.isToMany { return .objects(objects) }
        return objects.first.map { .object($0) } ?? .null
    }

    private func edit(
        _ words: [String], _ relationship: Relationship
    ) throws -> RelationshipEdit {
        let pointWords: Set = ["first", "last", "before", "after", "index"]
        let end = words.firstIndex { pointWords.contains($0) } ?? words.count
        let objects = try words[1..<end].map(object)
        let point = try insertionPoint(Array(words[end...]))
        switch words[0] {
        case "add": return .add(objects, to: relationship.name, at: point)
        case "remove": return .remove(objects, from: relationship.name)
        case "move": return .move(objects, in: relationship.name, to: point)
        default: throw Unreadable(text: words.joined(separator: " "))
        }
    }

    private func insertionPoint(_ words: [String]) throws -> RelationshipPosition {
        switch words.first {
        case nil, "last": return .last
        case "first": return .first
        case "before": return .before(try object(words[1]))
        case "after": return .after(try object(words[1]))
        case "index": return .index(Int64(words[1]) ?? 0)
        default: throw Unreadable(text: words.joined(separator: " "))
        }
    }

    // MARK: - Output

    private func lists() throws -> [String] {
        guard let relationship else { return [] }
        let inverse = relationship.inverse.flatMap { name in
            store.schema.entity(named: relationship.destination)?.relationships
                .first { $0.name == name }
        }
        return try names.sorted { $0.name < $1.name }.compactMap { name, object in
            let isOwner = object.entityName == ownerEntity && name.first?.isUppercase == true
            if isOwner { return try line(name, object, relationship, ":") }
            guard let inverse, inverse.isOrdered else { return nil }
            return try line(name, object, inverse, " in")
        }
    }

    private func line(
        _ name: String, _ object: PersistentIdentifier, _ relationship: Relationship,
        _ separator: String
    ) throws -> String? {
        guard let keys = try keys(object, relationship.name) else { return nil }
        let listed = keys.map { self.name(relationship.destination, $0) }
        return ([name + separator] + listed).joined(separator: " ")
    }

    /// The keys of a list, in its order; nil if the object is not stored.
    private func keys(_ object: PersistentIdentifier, _ name: String) throws -> [Int64]? {
        do throws(ReadFailure) {
            let batch = try reader.objects([object], properties: [name], budget: ReadBudget())[0]
            guard batch.rowCount > 0 else { return nil }
            guard case .lists(let keys, _) = batch.columns[0].storage else { return [] }
            return keys
        } catch {
            throw error.shown
        }
    }

    private func name(_ entityName: String, _ key: Int64) -> String {
        names.first { $0.object.entityName == entityName && $0.object.permanentKey == key }?.name
            ?? "?"
    }

    private func history(_ transaction: Int64?) throws -> String {
        let runs = try transaction.map { try store.runs(of: $0) } ?? []
        let words = runs.flatMap { run in
            run.keys.map { key in
                let properties =
                    run.kind == .updated ? "(\(run.properties.joined(separator: ",")))" : ""
                return "\(name(run.entityName, key)) \(run.kind)\(properties)"
            }
        }
        return "-- " + words.joined(separator: ", ")
    }

    private func named(_ text: String) -> String {
        names.reduce(text) { text, known in
            text.replacing(known.object.uriRepresentation, with: known.name)
        }
    }
}
