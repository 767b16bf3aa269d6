import LarderModel

/// The edits of one to-many relationship in JSON, where a whole list would be an array of URIs:
///
///     {"@add": [URI, …]}
///     {"@remove": [URI, …]}
///     {"@move": {"objects": [URI, …], "before": URI}}
///     [{"@remove": [URI]}, {"@add": {"objects": [URI], "end": "first"}}]
///
/// An edit is an object with one member, since members have no order; several are an array of them,
/// which is followed. `@add` and `@move` take the place beside their objects: `before` or `after`
/// an object, `end` (`first` or `last`), or `index`.
struct EditSteps {
    private let steps: [[String: JSONValue]]

    /// nil for what is no edit: anything but an object, or an array that begins with one.
    init?(_ json: JSONValue) {
        switch json {
        case .object(let step): steps = [step]
        case .array(let elements):
            guard case .object? = elements.first else { return nil }
            steps = elements.map { if case .object(let step) = $0 { step } else { [:] } }
        default: return nil
        }
    }

    private static let malformed = LarderError(
        .wrongType, "an edit is an object with one member: @add, @remove or @move",
        hint: "several edits are an array of such objects")

    /// - Parameter identifier: The object that a text names.
    func edits(
        of name: String, _ identifier: (String) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> [RelationshipEdit] {
        try steps.map { (step) throws(LarderError) in
            guard let (verb, json) = step.first, step.count == 1 else { throw Self.malformed }
            switch verb {
            case "@add":
                let (objects, place) = try Self.placed(json, identifier)
                return .add(objects, to: name, at: place ?? .last)
            case "@remove": return .remove(try Self.objects(json, identifier), from: name)
            case "@move":
                let (objects, place) = try Self.placed(json, identifier)
                guard let place else {
                    throw LarderError(
                        .wrongType, "@move names a place",
                        hint: #"for instance {"@move": {"objects": [URI], "before": URI}}"#)
                }
                return .move(objects, in: name, to: place)
            default: throw Self.malformed
            }
        }
    }

    /// Objects alone, or with a place.
    private static func placed(
        _ json: JSONValue, _ identifier: (String) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> (objects: [PersistentIdentifier], place: ListPlace?) {
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
            .wrongType, "beside its objects an edit has one place",
            hint: #""before": URI, "after": URI, "end": "first" or "last", or "index": N"#)
    }

    private static func objects(
        _ json: JSONValue, _ identifier: (String) throws(LarderError) -> PersistentIdentifier
    ) throws(LarderError) -> [PersistentIdentifier] {
        guard case .array(let elements) = json else {
            throw LarderError(.wrongType, "the objects of an edit are an array of URIs")
        }
        return try elements.map { (element) throws(LarderError) in
            guard case .string(let text) = element else {
                throw LarderError(.wrongType, "each element is an object's URI")
            }
            return try identifier(text)
        }
    }
}
