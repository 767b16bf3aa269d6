import LarderModel

/// The members of an `updateAll` or `deleteAll` in JSON.
///
///     {"@entity": "Article", "@where": "wordCount > %@ OR title == $t", "@args": [100],
///      "@variables": {"t": "x"}, "@set": {"wordCount": "wordCount * 2"}, "category": "t:c"}
///
/// `"@all": true` stands for all objects, and nothing else does; `"@subentities": false` leaves
/// out those of sub-entities. Expressions of `@set` are in the order of their names.
struct SelectionMembers {
    let selection: ObjectSelection
    let expressions: [(name: String, text: String)]
    /// The members that are properties.
    let values: [String: JSONValue]

    /// The entity of a temporary name that an earlier line inserts; nil for another text.
    typealias InsertedEntity = (String) -> String?

    init(
        _ members: [String: JSONValue], _ insertedEntity: InsertedEntity
    ) throws(LarderError) {
        let known = ["@entity", "@where", "@all", "@args", "@variables", "@set", "@subentities"]
        if let other = members.keys.first(where: { $0.hasPrefix("@") && !known.contains($0) }) {
            throw LarderError(
                .unknownProperty, "there is no \(other)",
                hint: "beside properties it has \(known.joined(separator: ", "))")
        }
        guard case .string(let entityName)? = members["@entity"] else {
            throw LarderError(.invalidChangeSet, "a change by predicate names its @entity")
        }
        selection = ObjectSelection(
            entityName, where: try Self.predicate(members),
            arguments: try Self.arguments(members["@args"], insertedEntity),
            variables: try Self.variables(members["@variables"], insertedEntity),
            argumentsAreText: true, includesSubentities: try Self.includesSubentities(members))
        expressions = try Self.expressions(members["@set"])
        values = members.filter { !$0.key.hasPrefix("@") }
    }

    private static func includesSubentities(
        _ members: [String: JSONValue]
    ) throws(LarderError) -> Bool {
        switch members["@subentities"] {
        case nil: return true
        case .bool(let included)?: return included
        default: throw LarderError(.wrongType, "@subentities is true or false")
        }
    }

    private static func predicate(
        _ members: [String: JSONValue]
    ) throws(LarderError) -> QueryTerm? {
        switch (members["@where"], members["@all"]) {
        case (.string(let format)?, nil): return .format(format)
        case (nil, .bool(true)?): return nil
        default:
            throw LarderError(
                .invalidChangeSet, "a change by predicate says which objects it is about",
                hint: #"by "@where" and a predicate, or "@all": true"#)
        }
    }

    private static func arguments(
        _ json: JSONValue?, _ insertedEntity: InsertedEntity
    ) throws(LarderError) -> [QueryArgument] {
        switch json {
        case nil: return []
        case .array(let elements)?: return elements.map { argument($0, insertedEntity) }
        default: throw LarderError(.wrongType, "@args is an array")
        }
    }

    private static func variables(
        _ json: JSONValue?, _ insertedEntity: InsertedEntity
    ) throws(LarderError) -> [String: QueryArgument] {
        switch json {
        case nil: return [:]
        case .object(let members)?: return members.mapValues { argument($0, insertedEntity) }
        default: throw LarderError(.wrongType, "@variables is an object")
        }
    }

    /// A value as the text that it is in a shell; nil, and an object by its temporary name.
    private static func argument(
        _ json: JSONValue, _ insertedEntity: InsertedEntity
    ) -> QueryArgument {
        switch json {
        case .null: return .value(.null)
        case .string(let text):
            guard let entityName = insertedEntity(text) else { return .value(.string(text)) }
            return .value(.object(PersistentIdentifier(temporary: text, entityName: entityName)))
        default: return .value(.string(json.text))
        }
    }

    private static func expressions(
        _ json: JSONValue?
    ) throws(LarderError) -> [(name: String, text: String)] {
        switch json {
        case nil: return []
        case .object(let members)?:
            var expressions: [(name: String, text: String)] = []
            for (name, text) in members.sorted(by: { $0.key < $1.key }) {
                guard case .string(let text) = text else {
                    throw LarderError(.wrongType, "@set has expressions as strings")
                }
                expressions.append((name, text))
            }
            return expressions
        default: throw LarderError(.wrongType, "@set is an object")
        }
    }
}
