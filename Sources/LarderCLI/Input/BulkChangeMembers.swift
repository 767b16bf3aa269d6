import FoundationEssentials
import LarderModel

/// The members of an `updateAll` or `deleteAll` change, or of a condition, in JSON:
///
///     {"@entity": "Article", "@where": "wordCount > %@ OR title == $t", "@args": [100],
///      "@variables": {"t": "x"}, "@sort": ["published:desc"], "@limit": 10,
///      "@set": {"wordCount": "wordCount * 2"}, "category": "t:c"}
///
/// Without `@where`, `"@all": true` is required. `@sort` requires `@limit`. `"@subentities": false`
/// excludes the objects of subentities. The expressions of `@set` are ordered by name.
struct BulkChangeMembers {
    let selection: ObjectSelection
    let expressions: [(name: String, text: String)]
    /// The members without `@`: values of properties.
    let values: [String: JSONValue]

    /// Returns the entity of a temporary name that an earlier line inserts; nil for other text.
    typealias InsertedEntity = (String) -> String?

    init(
        _ members: [String: JSONValue], assumesUTC: Bool, _ insertedEntity: InsertedEntity
    ) throws(LarderError) {
        let known = [
            "@entity", "@where", "@all", "@args", "@variables", "@sort", "@limit", "@set",
            "@subentities",
        ]
        if let other = members.keys.first(where: { $0.hasPrefix("@") && !known.contains($0) }) {
            throw LarderError(
                .unknownProperty, "unknown member \(other)",
                hint: "valid members are properties and \(known.joined(separator: ", "))")
        }
        guard case .string(let entityName)? = members["@entity"] else {
            throw LarderError(.invalidChangeSet, "a bulk change or a condition requires @entity")
        }
        selection = ObjectSelection(
            entityName, where: try Self.predicate(members), sort: try Self.sort(members["@sort"]),
            limit: try Self.limit(members["@limit"]),
            arguments: try Self.arguments(members["@args"], insertedEntity),
            variables: try Self.variables(members["@variables"], insertedEntity),
            assumesUTC: assumesUTC,
            includesSubentities: try Self.includesSubentities(members))
        expressions = try Self.expressions(members["@set"])
        values = members.filter { !$0.key.hasPrefix("@") }
    }

    private static func sort(_ json: JSONValue?) throws(LarderError) -> [SortKey] {
        guard let json else { return [] }
        guard case .array(let elements) = json else {
            throw LarderError(.wrongType, "@sort must be an array")
        }
        return try elements.map { (element) throws(LarderError) in
            guard case .string(let text) = element else {
                throw LarderError(.wrongType, "each element of @sort must be a string")
            }
            do {
                return try SortArgument(text).key
            } catch {
                throw LarderError(.malformedPredicate, "@sort: \(error)")
            }
        }
    }

    private static func limit(_ json: JSONValue?) throws(LarderError) -> Int64? {
        guard let json else { return nil }
        guard case .integer(let limit) = json, limit >= 0 else {
            throw LarderError(.wrongType, "@limit must be an integer that is not negative")
        }
        return limit
    }

    private static func includesSubentities(
        _ members: [String: JSONValue]
    ) throws(LarderError) -> Bool {
        switch members["@subentities"] {
        case nil: return true
        case .bool(let included)?: return included
        default: throw LarderError(.wrongType, "@subentities must be true or false")
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
                .invalidChangeSet, "a bulk change or a condition requires either @where or @all",
                hint: #"write "@where": "PREDICATE", or "@all": true for all objects"#)
        }
    }

    private static func arguments(
        _ json: JSONValue?, _ insertedEntity: InsertedEntity
    ) throws(LarderError) -> [QueryArgument] {
        switch json {
        case nil: return []
        case .array(let elements)?: return elements.map { argument($0, insertedEntity) }
        default: throw LarderError(.wrongType, "@args must be an array")
        }
    }

    private static func variables(
        _ json: JSONValue?, _ insertedEntity: InsertedEntity
    ) throws(LarderError) -> [String: QueryArgument] {
        switch json {
        case nil: return [:]
        case .object(let members)?: return members.mapValues { argument($0, insertedEntity) }
        default: throw LarderError(.wrongType, "@variables must be an object")
        }
    }

    /// Converts JSON to an argument of its own type. A string may be the temporary name of an
    /// object.
    private static func argument(
        _ json: JSONValue, _ insertedEntity: InsertedEntity
    ) -> QueryArgument {
        guard case .array(let elements) = json else { return .value(value(json, insertedEntity)) }
        return .list(elements.map { value($0, insertedEntity) })
    }

    private static func value(_ json: JSONValue, _ insertedEntity: InsertedEntity) -> Value {
        switch json {
        case .null: .null
        case .bool(let bool): .bool(bool)
        case .integer(let integer): .int(integer)
        case .double(let double): .double(double)
        case .decimal(let text): Decimal(exactly: text).map { .decimal($0) } ?? .json(text)
        case .string(let text):
            insertedEntity(text).map {
                .object(PersistentIdentifier(temporary: text, entityName: $0))
            } ?? .string(text)
        case .array, .object: .json(json.text)
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
                    throw LarderError(
                        .wrongType, "each value of @set must be an expression in a string")
                }
                expressions.append((name, text))
            }
            return expressions
        default: throw LarderError(.wrongType, "@set must be an object")
        }
    }
}
