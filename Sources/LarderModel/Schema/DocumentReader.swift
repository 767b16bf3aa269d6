/// Reads the members of the objects of a JSON document that a person has written, and records a
/// problem for each one that has another type than expected, or is not known.
package struct DocumentReader {
    package private(set) var problems: [LocatedProblem] = []

    package init() {}

    /// A JSON object and its path.
    package struct Object {
        package let members: [String: JSONValue]
        package let path: SchemaPath

        /// The value of a key; null is equivalent to a missing key.
        package subscript(key: String) -> JSONValue? { members[key] == .null ? nil : members[key] }
    }

    package mutating func report(_ path: SchemaPath, _ message: String) {
        problems.append(LocatedProblem(path: path, message: message))
    }

    /// A message with the nearest known name, if the message may be among those that are shown.
    package func suggesting(
        _ name: String, among known: [String], _ message: String
    ) -> String {
        NameSuggestion.appended(to: message, for: name, among: known, after: problems.count)
    }

    package mutating func report(_ object: Object, _ key: String, expected: String) {
        let found = object.members[key]?.kindDescription ?? "nothing"
        report(object.path[key], "expected \(expected), found \(found)")
    }

    package mutating func object(
        _ json: JSONValue, at path: SchemaPath, known: [String], reserved: [String] = []
    ) -> Object? {
        guard case .object(let members) = json else {
            report(path, "expected an object, found \(json.kindDescription)")
            return nil
        }
        for key in members.keys.filter({ !known.contains($0) }).sorted() {
            if !reserved.contains(key) {
                report(path[Self.shown(key)], suggesting(key, among: known, "unknown key"))
            } else if members[key] != .null && members[key] != .bool(false) {
                report(path[key], "not supported yet")
            }
        }
        return Object(members: members, path: path)
    }

    /// A key for an error message, shortened if it is longer than a name.
    private static func shown(_ key: String) -> String {
        key.utf8.count <= Limits.nameBytesMax ? key : "\(key.prefix(16))…"
    }

    package mutating func array(
        _ object: Object, _ key: String, countMax: Int
    ) -> [JSONValue] {
        guard let json = object[key] else { return [] }
        guard case .array(let elements) = json else {
            report(object, key, expected: "an array")
            return []
        }
        guard elements.count <= countMax else {
            report(object.path[key], "has more than \(countMax) elements")
            return []
        }
        return elements
    }

    package mutating func requiredString(_ object: Object, _ key: String) -> String {
        if object[key] == nil { report(object.path[key], "is missing") }
        return string(object, key) ?? ""
    }

    package mutating func string(_ object: Object, _ key: String) -> String? {
        guard let json = object[key] else { return nil }
        if case .string(let text) = json { return text }
        report(object, key, expected: "a string")
        return nil
    }

    package mutating func bool(_ object: Object, _ key: String) -> Bool? {
        guard let json = object[key] else { return nil }
        if case .bool(let value) = json { return value }
        report(object, key, expected: "true or false")
        return nil
    }

    package mutating func integer(_ object: Object, _ key: String) -> Int? {
        guard let json = object[key] else { return nil }
        if case .integer(let value) = json, let integer = Int(exactly: value) { return integer }
        report(object, key, expected: "a whole number")
        return nil
    }
}
