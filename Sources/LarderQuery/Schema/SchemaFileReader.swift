import LarderModel

/// Converts the JSON of a schema file to entities and collects structural problems.
///
/// Parts that cannot be read are replaced by empty ones, so that entities and properties keep their
/// indexes. The result is then used only to find more problems.
struct SchemaFileReader {
    private var reader = DocumentReader()

    var problems: [LocatedProblem] { reader.problems }

    mutating func read(_ json: JSONValue) -> (version: String, entities: [Entity]) {
        guard let document = reader.object(json, at: .root, known: SchemaKey.document) else {
            return ("", [])
        }
        // Editors find the JSON Schema under this key; it has no meaning here.
        _ = reader.string(document, "$schema")
        let version = reader.requiredString(document, "version")
        let path = SchemaPath.root["entities"]
        if document["entities"] == nil { reader.report(path, "is missing") }
        let elements = reader.array(document, "entities", countMax: Limits.entitiesMax)
        return (version, elements.enumerated().map { entity($1, at: path[$0]) })
    }

    private mutating func entity(_ json: JSONValue, at path: SchemaPath) -> Entity {
        guard let object = reader.object(json, at: path, known: SchemaKey.entity) else {
            return Entity(name: "", attributes: [])
        }
        let countMax = Limits.propertiesMax
        let attributes = reader.array(object, "attributes", countMax: countMax)
        let relationships = reader.array(object, "relationships", countMax: countMax)
        return Entity(
            name: reader.requiredString(object, "name"),
            attributes: attributes.enumerated().map { attribute($1, at: path["attributes"][$0]) },
            relationships: relationships.enumerated().map {
                relationship($1, at: path["relationships"][$0])
            },
            uniquenessConstraints: nameLists(object, "unique"),
            indexes: nameLists(object, "indexes"), wordIndexes: nameLists(object, "search"),
            parent: reader.string(object, "parent"),
            isAbstract: reader.bool(object, "abstract") ?? false,
            originalName: reader.string(object, "originalName"),
            hashModifier: reader.string(object, "hashModifier"),
            recordsValues: recordsValues(object))
    }

    private mutating func attribute(_ json: JSONValue, at path: SchemaPath) -> Attribute {
        guard
            let object = reader.object(
                json, at: path, known: SchemaKey.attribute, reserved: SchemaKey.attributeReserved)
        else { return Attribute(name: "", type: .string) }
        let name = reader.requiredString(object, "name")
        let typeName = reader.requiredString(object, "type")
        let type = AttributeType(rawValue: typeName)
        if type == nil, !typeName.isEmpty {
            let types = AttributeType.allCases.map(\.rawValue)
            reader.report(
                path["type"],
                reader.suggesting(
                    typeName, among: types,
                    "unknown type; valid types are \(types.joined(separator: ", "))"))
        }
        return Attribute(
            name: name, type: type ?? .string, isOptional: reader.bool(object, "optional") ?? false,
            defaultValue: value(object, "default", type), unique: matching(object, "unique"),
            indexed: matching(object, "indexed"), search: searchIndexes(object),
            preservesValueOnDeletion: reader.bool(object, "preserveValueOnDeletion") ?? false,
            derivation: reader.string(object, "derived"),
            originalName: reader.string(object, "originalName"),
            hashModifier: reader.string(object, "hashModifier"),
            scale: reader.integer(object, "scale"),
            validation: Attribute.Validation(
                minimum: value(object, "minimum", type), maximum: value(object, "maximum", type),
                minLength: reader.integer(object, "minLength"),
                maxLength: reader.integer(object, "maxLength"),
                pattern: reader.string(object, "pattern")))
    }

    private mutating func relationship(_ json: JSONValue, at path: SchemaPath) -> Relationship {
        guard let object = reader.object(json, at: path, known: SchemaKey.relationship) else {
            return Relationship(name: "", destination: "")
        }
        var deleteRule = Relationship.DeleteRule.nullify
        if let rule = reader.string(object, "deleteRule") {
            if let known = Relationship.DeleteRule(rawValue: rule) {
                deleteRule = known
            } else {
                reader.report(
                    path["deleteRule"],
                    reader.suggesting(
                        rule, among: Relationship.DeleteRule.allCases.map(\.rawValue),
                        "unknown rule; valid rules are nullify, cascade, deny and noAction"))
            }
        }
        return Relationship(
            name: reader.requiredString(object, "name"),
            destination: reader.requiredString(object, "destination"),
            isToMany: reader.bool(object, "toMany") ?? false,
            isOrdered: reader.bool(object, "ordered") ?? false,
            isOptional: reader.bool(object, "optional") ?? true,
            inverse: reader.string(object, "inverse"),
            deleteRule: deleteRule, minCount: reader.integer(object, "minCount") ?? 0,
            maxCount: reader.integer(object, "maxCount") ?? 0,
            originalName: reader.string(object, "originalName"),
            hashModifier: reader.string(object, "hashModifier"))
    }
}

/// Reading the members that only a schema has.
extension SchemaFileReader {
    /// True, or the word for values without case and accents; nil for false.
    private mutating func matching(
        _ object: DocumentReader.Object, _ key: String
    ) -> Attribute.Matching? {
        switch object[key] {
        case nil, .bool(false)?: return nil
        case .bool(true)?: return .exact
        case .string(SchemaKey.insensitive)?: return .insensitive
        default:
            reader.report(object, key, expected: "true, false or \"\(SchemaKey.insensitive)\"")
            return nil
        }
    }

    private mutating func recordsValues(_ object: DocumentReader.Object) -> Bool {
        switch object["history"] {
        case nil, .string(SchemaKey.changes)?: return false
        case .string(SchemaKey.values)?: return true
        default:
            reader.report(
                object, "history",
                expected: "\"\(SchemaKey.values)\" or \"\(SchemaKey.changes)\"")
            return false
        }
    }

    /// The kinds of indexes that `search` requests: `true` or `{"tokens": …}`.
    private mutating func searchIndexes(
        _ object: DocumentReader.Object
    ) -> Attribute.SearchIndexes {
        switch object["search"] {
        case nil, .bool(false)?: return []
        case .bool(true)?: return .parts
        case .object?: break
        default:
            reader.report(object, "search", expected: "true, false or an object with `tokens`")
            return []
        }
        let path = object.path["search"]
        guard let json = object["search"],
            let search = reader.object(json, at: path, known: SchemaKey.search)
        else { return [] }
        let tokens: [JSONValue]
        switch search["tokens"] {
        case nil: return .parts
        case .array(let elements)?: tokens = elements
        case let single?: tokens = [single]
        }
        var indexes: Attribute.SearchIndexes = []
        let areKnown = tokens.allSatisfy { token in
            switch token {
            case .string(SchemaKey.trigram): indexes.insert(.parts).inserted
            case .string(SchemaKey.words): indexes.insert(.words).inserted
            default: false
            }
        }
        if tokens.isEmpty || !areKnown {
            reader.report(path["tokens"], "expected \"trigram\", \"words\" or a list of both")
        }
        return indexes
    }

    /// A value of the attribute's type. No problem is recorded if the type is unknown.
    private mutating func value(
        _ object: DocumentReader.Object, _ key: String, _ type: AttributeType?
    ) -> Value? {
        guard let type, let json = object[key] else { return nil }
        do throws(LarderError) {
            return try Value(json: json, type: type)
        } catch {
            reader.report(object.path[key], error.message)
            return nil
        }
    }

    private mutating func nameLists(_ object: DocumentReader.Object, _ key: String) -> [[String]] {
        let lists = reader.array(object, key, countMax: Limits.propertiesMax)
        return lists.enumerated().map { index, list in
            let path = object.path[key][index]
            guard case .array(let elements) = list else {
                reader.report(path, "expected an array of names, found \(list.kindDescription)")
                return []
            }
            guard elements.count <= Limits.propertiesMax else {
                reader.report(path, "has more than \(Limits.propertiesMax) elements")
                return []
            }
            return elements.enumerated().map { index, element in
                if case .string(let name) = element { return name }
                reader.report(path[index], "expected a name, found \(element.kindDescription)")
                return ""
            }
        }
    }
}
