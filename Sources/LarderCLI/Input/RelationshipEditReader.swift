import LarderModel

/// Reads the edits of one to-many relationship from JSON:
///
///     {"@add": [URI, …]}
///     {"@remove": [URI, …]}
///     {"@move": {"objects": [URI, …], "before": URI}}
///     [{"@remove": [URI]}, {"@add": {"objects": [URI], "end": "first"}}]
///
/// An edit is an object with one member, because the members of a JSON object have no order. An
/// array of edits is applied in its order. `@add` and `@move` take a position: `before` or `after`
/// an object, `end` (`first` or `last`), or `index`. An array of URIs is not an edit but the whole
/// list.
struct RelationshipEditReader {
    static let verbs = ["@add", "@remove", "@move"]

    private let edits: [[String: JSONValue]]

    /// Returns nil if the JSON is not an edit: anything but an object, or an array whose first
    /// element is an object.
    init?(_ json: JSONValue) {
        switch json {
        case .object(let edit): edits = [edit]
        case .array(let elements):
            guard case .object? = elements.first else { return nil }
            edits = elements.map { if case .object(let edit) = $0 { edit } else { [:] } }
        default: return nil
        }
    }

    private static let malformed = LarderError(
        .wrongType, "an edit must be an object with one member: @add, @remove or @move",
        hint: "for several edits, write an array of such objects")

    /// - Parameters:
    ///   - name: The relationship.
    ///   - identifier: Converts the text of a URI or a temporary name.
    func edits(
        of name: String, _ identifier: (String) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> [RelationshipEdit] {
        try edits.map { (edit) throws(LarderError) in
            guard let (verb, json) = edit.first, edit.count == 1 else { throw Self.malformed }
            switch verb {
            case "@add":
                let (objects, position) = try Self.positioned(json, identifier)
                return .add(objects, to: name, at: position ?? .last)
            case "@remove": return .remove(try Self.objects(json, identifier), from: name)
            case "@move":
                let (objects, position) = try Self.positioned(json, identifier)
                guard let position else {
                    throw LarderError(
                        .wrongType, "@move requires a position",
                        hint: #"for example {"@move": {"objects": [URI], "before": URI}}"#)
                }
                return .move(objects, in: name, to: position)
            default: throw Self.malformed
            }
        }
    }

    /// Reads an array of objects, or objects with a position.
    private static func positioned(
        _ json: JSONValue, _ identifier: (String) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> (objects: [PersistentIdentifier], position: RelationshipPosition?) {
        guard case .object(var members) = json else {
            return (try objects(json, identifier), nil)
        }
        let objects = try objects(members.removeValue(forKey: "objects") ?? .null, identifier)
        guard let (name, value) = members.first else { return (objects, nil) }
        switch (name, value) {
        case _ where members.count > 1: break
        case ("before", .string(let text)): return (objects, .before(try identifier(text)))
        case ("after", .string(let text)): return (objects, .after(try identifier(text)))
        case ("end", .string("first")): return (objects, .first)
        case ("end", .string("last")): return (objects, .last)
        case ("index", .integer(let index)): return (objects, .index(index))
        default: break
        }
        throw LarderError(
            .wrongType, "an edit takes \"objects\" and at most one position",
            hint: #""before": URI, "after": URI, "end": "first" or "last", or "index": N"#)
    }

    private static func objects(
        _ json: JSONValue, _ identifier: (String) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> [PersistentIdentifier] {
        guard case .array(let elements) = json else {
            throw LarderError(.wrongType, "the objects of an edit must be an array of URIs")
        }
        return try elements.map { (element) throws(LarderError) in
            guard case .string(let text) = element else {
                throw LarderError(.wrongType, "each element must be the URI of an object")
            }
            return try identifier(text)
        }
    }
}
