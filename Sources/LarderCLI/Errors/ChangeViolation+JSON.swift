import LarderModel

extension ChangeViolation {
    /// A JSON object with the parts that are set.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "code": .string(code.name), "message": .string(message),
        ]
        members["change"] = change.map { .integer(Int64($0)) }
        members["entity"] = entityName.map { .string($0) }
        if !propertyNames.isEmpty {
            members["properties"] = .array(propertyNames.map { .string($0) })
        }
        members["uri"] = uri.map { .string($0) }
        members["valueKind"] = valueKind.map { .string($0) }
        members["rule"] = (rule?.rawValue).map { .string($0) }
        members["conflict"] = conflict?.json
        members["condition"] = condition.map { .integer(Int64($0)) }
        members["found"] = found.map { .integer($0) }
        return .object(members)
    }
}

extension MergeConflict {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["storedVersion": .integer(storedVersion)]
        members["expectedVersion"] = expectedVersion.map { .integer($0) }
        members["properties"] = .array(
            properties.map { property in
                var members: [String: JSONValue] = [
                    "name": .string(property.name), "stored": property.stored.jsonValue,
                ]
                members["base"] = property.base?.jsonValue
                members["given"] = property.given?.jsonValue
                return .object(members)
            })
        return .object(members)
    }
}
