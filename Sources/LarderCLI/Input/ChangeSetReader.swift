import FoundationEssentials
import LarderModel
import LarderPrograms
import LarderQuery

/// Reads a change set from JSON lines, for `save`:
///
///     {"insert": {"@id": "t:a", "@entity": "Article", "title": "x", "category": "t:c"}}
///     {"update": {"@id": URI, "@version": 3, "title": "y"}}
///     {"update": {"@id": URI, "@base": {"title": "x"}, "title": "y"}}
///     {"update": {"@id": URI, "articles": {"@add": {"objects": ["t:a"], "before": URI}}}}
///     {"delete": {"@id": URI}}
///     {"updateAll": {"@entity": "Article", "@where": "wordCount > %@", "@args": [100],
///                    "@set": {"wordCount": "wordCount * 2"}, "title": "x"}}
///     {"deleteAll": {"@entity": "Article", "@where": "wordCount == 0"}}
///     {"unless": {"@entity": "Article", "@where": "title == %@", "@args": ["x"]}}
///     {"expect": {"@entity": "Article", "@all": true, "@count": 3}}
///
/// A `t:` name may be used before and after the line that inserts its object. The whole set is
/// held in memory, because it is one message and one transaction; `Limits.changesMax` and
/// `LineReader.changeSetBytesMax` limit it.
struct ChangeSetReader {
    private let schema: Schema
    private let store: UUID
    /// Whether a date without a time zone is in UTC. Otherwise it is rejected.
    private let assumesUTC: Bool
    private var decoders: [String: ObjectDecoder] = [:]
    private(set) var changes = ChangeSet()
    /// The line of each change.
    private(set) var lines: [Int] = []
    /// The line of each condition.
    private(set) var conditionLines: [Int] = []
    private var insertedNames: [String: (entityName: String, line: Int)] = [:]

    /// - Parameter store: The UUID of the store, for short identifiers.
    init(schema: Schema, store: UUID, assumesUTC: Bool = false) {
        self.schema = schema
        self.store = store
        self.assumesUTC = assumesUTC
    }

    mutating func read(_ file: InputFile) throws(LarderError) {
        var reader = LineReader(file, bytesMax: LineReader.changeSetBytesMax)
        while let line = try reader.nextFilled() {
            guard lines.count < Limits.changesMax else {
                throw LarderError(
                    .resourceExhausted,
                    "the change set has more than the maximum of \(Limits.changesMax) changes",
                    hint: "split the input")
            }
            do throws(LarderError) {
                try read(line)
            } catch {
                throw error.at(line: line.number, of: file.name)
            }
        }
        try checkNames(file.name)
    }

    private mutating func read(_ line: LineReader.Line) throws(LarderError) {
        guard case .object(let outer) = try JSONValue(parsing: line.text), outer.count == 1,
            let (verb, content) = outer.first, case .object(let members) = content
        else { throw Self.malformed }
        if let condition = try condition(verb, members) {
            changes.conditions.append(condition)
            conditionLines.append(line.number)
        } else {
            changes.changes.append(try change(verb, members, line.number))
            lines.append(line.number)
        }
    }

    /// nil for a change.
    private mutating func condition(
        _ verb: String, _ members: [String: JSONValue]
    ) throws(LarderError) -> ChangeSet.Condition? {
        guard verb == "unless" || verb == "expect" else { return nil }
        var members = members
        var count: Int64 = 0
        if verb == "expect" {
            guard case .integer(let expected)? = members.removeValue(forKey: "@count") else {
                throw LarderError(
                    .invalidChangeSet, "expect requires @count, the number of objects")
            }
            count = expected
        }
        let objects = try selection(members)
        guard objects.values.isEmpty, objects.expressions.isEmpty else {
            throw LarderError(.invalidChangeSet, "a condition takes no properties")
        }
        _ = try decoder(objects.selection.entityName)
        return ChangeSet.Condition(objects.selection, count: count)
    }

    private mutating func change(
        _ verb: String, _ members: [String: JSONValue], _ line: Int
    ) throws(LarderError) -> Change {
        switch verb {
        case "insert": return try insert(members, line)
        case "update":
            let identifier = try permanentIdentifier(members)
            let decoder = try decoder(identifier.entityName)
            let content = try decoder.content(members.filter { $0.key != "@base" })
            return .update(
                identifier, ifVersion: try version(members), values: content.values,
                base: try base(members, decoder), edits: content.edits)
        case "delete":
            let identifier = try permanentIdentifier(members)
            let others = members.keys.filter { $0 != "@id" && $0 != "@version" && $0 != "@entity" }
            guard others.isEmpty else {
                throw LarderError(.invalidChangeSet, "a delete takes no properties")
            }
            return .delete(identifier, ifVersion: try version(members))
        case "updateAll": return try updateAll(members)
        case "deleteAll":
            let selection = try selection(members)
            guard selection.values.isEmpty, selection.expressions.isEmpty else {
                throw LarderError(.invalidChangeSet, "a delete takes no properties")
            }
            _ = try decoder(selection.selection.entityName)
            return .deleteAll(selection.selection)
        default: throw Self.malformed
        }
    }

    private static let malformed = LarderError(
        .invalidChangeSet,
        "a line must have exactly one member: insert, update, delete, updateAll, deleteAll, "
            + "unless or expect",
        hint: #"for example {"insert": {"@id": "t:a", "@entity": "Article", "title": "x"}}"#)

    private func selection(
        _ members: [String: JSONValue]
    ) throws(LarderError) -> BulkChangeMembers {
        try BulkChangeMembers(members, assumesUTC: assumesUTC) { insertedNames[$0]?.entityName }
    }

    private mutating func updateAll(_ members: [String: JSONValue]) throws(LarderError) -> Change {
        let bulk = try selection(members)
        let values = try decoder(bulk.selection.entityName).content(bulk.values)
            .values(orThrow: "a bulk update takes attributes and to-one relationships only")
        return .updateAll(
            bulk.selection,
            set: bulk.expressions.map { PropertyAssignment($0.name, .format($0.text)) }
                + values.sorted { $0.key < $1.key }.map {
                    PropertyAssignment($0.key, to: $0.value)
                })
    }

    private mutating func insert(
        _ members: [String: JSONValue], _ line: Int
    ) throws(LarderError) -> Change {
        guard case .string(let entityName)? = members["@entity"] else {
            throw LarderError(.invalidChangeSet, "an insert requires @entity")
        }
        // Without the prefix `t:`, the name cannot collide with one of the input.
        var name = "line\(line)"
        if let given = members["@id"] {
            guard case .string(let text) = given, TemporaryName.isValid(text) else {
                throw LarderError(
                    .invalidChangeSet, "the @id of an insert must be a temporary name such as t:a")
            }
            if let first = insertedNames[text] {
                throw LarderError(.invalidChangeSet, "line \(first.line) already inserts \(text)")
            }
            insertedNames[text] = (entityName, line)
            name = text
        }
        let content = try decoder(entityName).content(members)
        return .insert(
            PersistentIdentifier(temporary: name, entityName: entityName),
            values: content.values, edits: content.edits)
    }

    private mutating func decoder(_ entityName: String) throws(LarderError) -> ObjectDecoder {
        if let decoder = decoders[entityName] { return decoder }
        var decoder = try ObjectDecoder(
            entityName, in: schema, of: store, assumesUTC: assumesUTC)
        decoder.allowsTemporaryNames = true
        decoders[entityName] = decoder
        return decoder
    }

    private func permanentIdentifier(
        _ members: [String: JSONValue]
    ) throws(LarderError) -> PersistentIdentifier {
        guard case .string(let uri)? = members["@id"] else {
            throw LarderError(
                .invalidChangeSet, "an update or a delete requires the URI of its object as @id")
        }
        return try PersistentIdentifier(text: uri, in: store)
    }

    private func base(
        _ members: [String: JSONValue], _ decoder: ObjectDecoder
    ) throws(LarderError) -> [String: Value] {
        switch members["@base"] {
        case nil, .null?: return [:]
        case .object(let base)?:
            var decoder = decoder
            decoder.allowsTemporaryNames = false
            return try decoder.content(base)
                .values(orThrow: "@base takes whole lists, not edits")
        default: throw LarderError(.wrongType, "@base must be an object with properties")
        }
    }

    private func version(_ members: [String: JSONValue]) throws(LarderError) -> Int64? {
        switch members["@version"] {
        case nil, .null?: return nil
        case .integer(let version)?: return version
        default: throw LarderError(.wrongType, "@version must be an integer")
        }
    }

    /// Checks that each temporary name that is used is inserted, as an object of the right entity.
    private func checkNames(_ fileName: String) throws(LarderError) {
        for (change, line) in zip(changes.changes, lines) {
            for identifier in change.references {
                guard case .temporary(let name) = identifier.key else { continue }
                guard let inserted = insertedNames[name] else {
                    throw LarderError(.invalidChangeSet, "no line inserts \(name)")
                        .at(line: line, of: fileName)
                }
                guard schema.isKind(inserted.entityName, of: identifier.entityName) else {
                    throw LarderError(
                        .wrongType,
                        "\(name) is of entity \(inserted.entityName), not \(identifier.entityName)"
                    ).at(line: line, of: fileName)
                }
            }
        }
    }
}

/// The temporary name of an object that a change set inserts: `t:` and any text.
enum TemporaryName {
    static func isValid(_ text: String) -> Bool { text.hasPrefix("t:") && text.utf8.count > 2 }
}

extension Change {
    /// The objects that the values and edits refer to.
    fileprivate var references: [PersistentIdentifier] {
        switch self {
        case .insert(_, let values, let edits), .update(_, _, let values, _, let edits):
            values.values.flatMap { value -> [PersistentIdentifier] in
                switch value {
                case .object(let identifier): [identifier]
                case .objects(let identifiers): identifiers
                default: []
                }
            } + edits.flatMap { $0.objects + [$0.position?.neighbor].compactMap(\.self) }
        case .updateAll(_, let assignments):
            assignments.compactMap { assignment in
                guard case .tree(.constant(.object(let identifier))) = assignment.term else {
                    return nil
                }
                return identifier
            }
        case .delete, .deleteAll: []
        }
    }
}
