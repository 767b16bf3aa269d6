// The schema as the text of a schema file. Default values are omitted. Keys are sorted; entities,
// properties and lists keep their order, so the text parses to an equal schema.

extension Schema {
    /// The text of the schema file on one line. Equal schemas have equal text.
    public var canonicalText: String { json.text }

    /// The text of the schema file for people, with line breaks and keys in the order of the
    /// documentation.
    public var fileText: String { SchemaFileWriter.text(json) }

    private var json: JSONValue {
        .object([
            "version": .string(version),
            "entities": .array(entities.map(\.json)),
        ])
    }
}

extension Entity {
    /// The entity as declared, as in ``Schema/fileText``.
    public var fileText: String { SchemaFileWriter.text(json) }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["name": .string(name)]
        members["parent"] = parent.map { .string($0) }
        if isAbstract { members["abstract"] = .bool(true) }
        let attributes = declared.attributes
        members["attributes"] = Self.array(attributes.map(\.json))
        members["relationships"] = Self.array(declared.relationships.map(\.json))
        members["unique"] = Self.array(
            declared.uniquenessConstraints.dropFirst(attributes.count(where: \.isUnique))
                .map(Self.names))
        members["indexes"] = Self.array(
            declared.indexes.dropFirst(attributes.count { $0.indexed == .exact }).map(Self.names))
        members["search"] = Self.array(
            declared.wordIndexes.dropFirst(attributes.count { $0.search.contains(.words) })
                .map(Self.names))
        if declared.recordsValues { members["history"] = .string(SchemaKey.values) }
        members["originalName"] = originalName.map { .string($0) }
        members["hashModifier"] = hashModifier.map { .string($0) }
        return .object(members)
    }

    private static func names(_ names: [String]) -> JSONValue {
        .array(names.map { .string($0) })
    }

    /// Nil for an empty array, which is omitted.
    private static func array(_ elements: [JSONValue]) -> JSONValue? {
        if elements.isEmpty { return nil }
        return .array(elements)
    }
}

extension Attribute {
    private var searchJSON: JSONValue? {
        let words = JSONValue.string(SchemaKey.words)
        switch search {
        case []: return nil
        case .parts: return .bool(true)
        case .words: return .object(["tokens": words])
        default: return .object(["tokens": .array([.string(SchemaKey.trigram), words])])
        }
    }

    /// The attribute as it is written in a schema file, on one line.
    ///
    /// - Parameter others: Members that it is to have besides its own, or instead of these.
    package func fileLine(with others: [String: JSONValue] = [:]) -> String {
        guard case .object(let members) = json else { preconditionFailure("it is an object") }
        return SchemaFileWriter.line(.object(members.merging(others) { $1 }))
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "type": .string(type.rawValue),
        ]
        if isOptional { members["optional"] = .bool(true) }
        members["default"] = defaultValue?.jsonValue
        members["unique"] = unique?.json
        members["indexed"] = indexed?.json
        members["search"] = searchJSON
        members["minimum"] = validation.minimum?.jsonValue
        members["maximum"] = validation.maximum?.jsonValue
        members["minLength"] = validation.minLength.map { .integer(Int64($0)) }
        members["maxLength"] = validation.maxLength.map { .integer(Int64($0)) }
        members["pattern"] = validation.pattern.map { .string($0) }
        members["scale"] = scale.map { .integer(Int64($0)) }
        if preservesValueOnDeletion { members["preserveValueOnDeletion"] = .bool(true) }
        members["derived"] = derivation.map { .string($0) }
        members["originalName"] = originalName.map { .string($0) }
        members["hashModifier"] = hashModifier.map { .string($0) }
        return .object(members)
    }
}

extension Attribute.Matching {
    fileprivate var json: JSONValue {
        switch self {
        case .exact: .bool(true)
        case .insensitive: .string(SchemaKey.insensitive)
        }
    }
}

extension Relationship {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "destination": .string(destination),
        ]
        if isToMany { members["toMany"] = .bool(true) }
        if isOrdered { members["ordered"] = .bool(true) }
        if !isOptional { members["optional"] = .bool(false) }
        members["inverse"] = inverse.map { .string($0) }
        if deleteRule != .nullify { members["deleteRule"] = .string(deleteRule.rawValue) }
        if minCount != 0 { members["minCount"] = .integer(Int64(minCount)) }
        if maxCount != 0 { members["maxCount"] = .integer(Int64(maxCount)) }
        members["originalName"] = originalName.map { .string($0) }
        members["hashModifier"] = hashModifier.map { .string($0) }
        return .object(members)
    }
}
