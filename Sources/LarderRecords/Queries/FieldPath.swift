/// The names along a key path of fields: `author.name` for `\Book.Fields.author.name`.
enum FieldPath {
    /// The number of steps that a key path may have.
    static let stepsMax = 4

    /// The key path as an expression of the store.
    ///
    /// - Throws: `unsupportedPredicate` for a key path that is not one of stored properties.
    static func expression<Record: EntityRecord>(
        _ keyPath: AnyKeyPath, of record: Record.Type
    ) throws(LarderError) -> QueryExpression {
        if Record.Fields.isIdentifier(keyPath) { return .object }
        if let names = names(of: keyPath, from: record, prefix: nil, isOptional: false, stepsMax) {
            return .keyPath(.object, names)
        }
        throw LarderError(
            .unsupportedPredicate,
            "the key path \(keyPath.debugDescription) is not one of stored properties of "
                + Record.entityName,
            hint: "write it as an expression: #Expression { $0.author?.publisher?.name }")
    }

    /// Key paths do not contain names, so they are compared with those of all properties, and then
    /// of the properties of related objects.
    private static func names(
        of keyPath: AnyKeyPath, from record: any EntityRecord.Type, prefix: AnyKeyPath?,
        isOptional: Bool, _ steps: Int
    ) -> [String]? {
        guard steps > 0 else { return nil }
        let properties = record.recordProperties.map { property in
            let field = isOptional ? property.chainedField : property.field
            return (property, whole: prefix.map { $0.appending(path: field) } ?? field)
        }
        if let found = properties.first(where: { $0.whole == keyPath }) { return [found.0.name] }
        for (property, whole) in properties {
            guard case .relationship(let destination, false, let isOptional) = property.kind,
                let prefix = whole,
                let rest = names(
                    of: keyPath, from: destination, prefix: prefix, isOptional: isOptional,
                    steps - 1)
            else { continue }
            return [property.name] + rest
        }
        return nil
    }
}
