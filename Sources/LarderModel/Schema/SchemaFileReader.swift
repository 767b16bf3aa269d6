/// Converts the JSON of a schema file to entities and collects structural problems.
///
/// Parts that cannot be read are replaced by empty ones, so that entities and properties keep their
/// indexes. The result is then used only to find more problems.
struct SchemaFileReader {
    private(set) var problems: [LocatedProblem] = []

    mutating func read(_ json: JSONValue) -> (version: String, entities: [Entity]) {
        guard let document = object(json, at: .root, known: SchemaKey.document) else {
            return ("", [])
        }
        // Editors find the JSON Schema under this key; it has no meaning here.
        _ = string(document, "$schema")
        let version = requiredString(document, "version")
        let path = SchemaPath.root["entities"]
        if document["entities"] == nil { report(path, "is missing") }
        let elements = array(document, "entities", countMax: Limits.entitiesMax)
        return (version, elements.enumerated().map { entity($1, at: path[$0]) })
    }

    private mutating func entity(_ json: JSONValue, at path: SchemaPath) -> Entity {
        guard let object = object(json, at: path, known: SchemaKey.entity) else {
            return Entity(name: "", attributes: [])
        }
        let countMax = Limits.propertiesMax
        let attributes = array(object, "attributes", countMax: countMax)
        let relationships = array(object, "relationships", countMax: countMax)
        return Entity(
            name: requiredString(object, "name"),
            attributes: attributes.enumerated().map { attribute($1, at: path["attributes"][$0]) },
            relationships: relationships.enumerated().map {
                relationship($1, at: path["relationships"][$0])
            },
            uniquenessConstraints: nameLists(object, "unique"),
            indexes: nameLists(object, "indexes"), wordIndexes: nameLists(object, "search"),
            parent: string(object, "parent"),
            isAbstract: bool(object, "abstract") ?? false,
            originalName: string(object, "originalName"),
            hashModifier: string(object, "hashModifier"))
    }

    private mutating func attribute(_ json: JSONValue, at path: SchemaPath) -> Attribute {
        guard
            let object = object(
                json, at: path, known: SchemaKey.attribute, reserved: SchemaKey.attributeReserved)
        else { return Attribute(name: "", type: .string) }
        let name = requiredString(object, "name")
        let typeName = requiredString(object, "type")
        let type = AttributeType(rawValue: typeName)
        if type == nil, !typeName.isEmpty {
            let types = AttributeType.allCases.map(\.rawValue)
            report(
                path["type"],
                suggesting(
                    typeName, among: types,
                    "unknown type; valid types are \(types.joined(separator: ", "))"))
        }
        let search = searchTokens(object)
        let (unique, indexed) = (textRule(object, "unique"), textRule(object, "indexed"))
        return Attribute(
            name: name, type: type ?? .string, isOptional: bool(object, "optional") ?? false,
            defaultValue: value(object, "default", type), isUnique: unique == .exact,
            isUniqueInsensitively: unique == .insensitive, isIndexed: indexed == .exact,
            isIndexedInsensitively: indexed == .insensitive,
            isSearchable: search.contains(SchemaKey.trigram),
            isSearchableByWords: search.contains(SchemaKey.words),
            preservesValueOnDeletion: bool(object, "preserveValueOnDeletion") ?? false,
            derivation: string(object, "derived"), originalName: string(object, "originalName"),
            hashModifier: string(object, "hashModifier"),
            validation: Attribute.Validation(
                minimum: value(object, "minimum", type), maximum: value(object, "maximum", type),
                minLength: integer(object, "minLength"), maxLength: integer(object, "maxLength"),
                pattern: string(object, "pattern")))
    }

    private mutating func relationship(_ json: JSONValue, at path: SchemaPath) -> Relationship {
        guard let object = object(json, at: path, known: SchemaKey.relationship) else {
            return Relationship(name: "", destination: "")
        }
        var deleteRule = Relationship.DeleteRule.nullify
        if let rule = string(object, "deleteRule") {
            if let known = Relationship.DeleteRule(rawValue: rule) {
                deleteRule = known
            } else {
                report(
                    path["deleteRule"],
                    suggesting(
                        rule, among: Relationship.DeleteRule.allCases.map(\.rawValue),
                        "unknown rule; valid rules are nullify, cascade, deny and noAction"))
            }
        }
        return Relationship(
            name: requiredString(object, "name"),
            destination: requiredString(object, "destination"),
            isToMany: bool(object, "toMany") ?? false, isOrdered: bool(object, "ordered") ?? false,
            isOptional: bool(object, "optional") ?? true, inverse: string(object, "inverse"),
            deleteRule: deleteRule, minCount: integer(object, "minCount") ?? 0,
            maxCount: integer(object, "maxCount") ?? 0,
            originalName: string(object, "originalName"),
            hashModifier: string(object, "hashModifier"))
    }
}

/// Reading the members of objects. Each function records a problem if a member is of another type.
extension SchemaFileReader {
    /// A JSON object and its path.
    struct Object {
        let members: [String: JSONValue]
        let path: SchemaPath

        /// The value of a key; null is equivalent to a missing key.
        subscript(key: String) -> JSONValue? { members[key] == .null ? nil : members[key] }
    }

    private mutating func report(_ path: SchemaPath, _ message: String) {
        problems.append(LocatedProblem(path: path, message: message))
    }

    /// A message with the nearest known name, if the message may be among those that are shown.
    private func suggesting(
        _ name: String, among known: [String], _ message: String
    ) -> String {
        NameSuggestion.appended(to: message, for: name, among: known, after: problems.count)
    }

    private mutating func report(_ object: Object, _ key: String, expected: String) {
        let found = object.members[key]?.kindDescription ?? "nothing"
        report(object.path[key], "expected \(expected), found \(found)")
    }

    private mutating func object(
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

    private mutating func array(
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

    private mutating func requiredString(_ object: Object, _ key: String) -> String {
        if object[key] == nil { report(object.path[key], "is missing") }
        return string(object, key) ?? ""
    }

    private mutating func string(_ object: Object, _ key: String) -> String? {
        guard let json = object[key] else { return nil }
        if case .string(let text) = json { return text }
        report(object, key, expected: "a string")
        return nil
    }

    private mutating func bool(_ object: Object, _ key: String) -> Bool? {
        guard let json = object[key] else { return nil }
        if case .bool(let value) = json { return value }
        report(object, key, expected: "true or false")
        return nil
    }

    private enum TextRule {
        case exact
        case insensitive
    }

    /// True, or the word for a rule that ignores case and accents; nil for false.
    private mutating func textRule(_ object: Object, _ key: String) -> TextRule? {
        switch object[key] {
        case nil, .bool(false)?: return nil
        case .bool(true)?: return .exact
        case .string(SchemaKey.insensitive)?: return .insensitive
        default:
            report(object, key, expected: "true, false or \"\(SchemaKey.insensitive)\"")
            return nil
        }
    }

    /// The kinds of indexes that `search` requests: `true` or `{"tokens": …}`.
    private mutating func searchTokens(_ object: Object) -> [String] {
        switch object["search"] {
        case nil, .bool(false)?: return []
        case .bool(true)?: return [SchemaKey.trigram]
        case .object?: break
        default:
            report(object, "search", expected: "true, false or an object with `tokens`")
            return []
        }
        let path = object.path["search"]
        guard let json = object["search"],
            let search = self.object(json, at: path, known: SchemaKey.search)
        else { return [] }
        let kinds = [SchemaKey.trigram, SchemaKey.words]
        let tokens: [JSONValue]
        switch search["tokens"] {
        case nil: return [SchemaKey.trigram]
        case .array(let elements)?: tokens = elements
        case let single?: tokens = [single]
        }
        let names = tokens.compactMap { token -> String? in
            if case .string(let name) = token, kinds.contains(name) { name } else { nil }
        }
        if names.isEmpty || names.count < tokens.count || Set(names).count < names.count {
            report(path["tokens"], "expected \"trigram\", \"words\" or a list of both")
        }
        return names
    }

    private mutating func integer(_ object: Object, _ key: String) -> Int? {
        guard let json = object[key] else { return nil }
        if case .integer(let value) = json, let integer = Int(exactly: value) { return integer }
        report(object, key, expected: "a whole number")
        return nil
    }

    /// A value of the attribute's type. No problem is recorded if the type is unknown.
    private mutating func value(
        _ object: Object, _ key: String, _ type: AttributeType?
    ) -> Value? {
        guard let type, let json = object[key] else { return nil }
        do throws(LarderError) {
            return try Value(json: json, type: type)
        } catch {
            report(object.path[key], error.message)
            return nil
        }
    }

    private mutating func nameLists(_ object: Object, _ key: String) -> [[String]] {
        let lists = array(object, key, countMax: Limits.propertiesMax)
        return lists.enumerated().map { index, list in
            let path = object.path[key][index]
            guard case .array(let elements) = list else {
                report(path, "expected an array of names, found \(list.kindDescription)")
                return []
            }
            guard elements.count <= Limits.propertiesMax else {
                report(path, "has more than \(Limits.propertiesMax) elements")
                return []
            }
            return elements.enumerated().map { index, element in
                if case .string(let name) = element { return name }
                report(path[index], "expected a name, found \(element.kindDescription)")
                return ""
            }
        }
    }
}
