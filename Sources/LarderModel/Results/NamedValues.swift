public import FoundationEssentials

/// Values by name, and their typed accessors. ``Record`` and ``Row`` have them.
///
///     let title = try record.string("title")
///     let price: Decimal? = try record.value("price")
public protocol NamedValues {
    /// The value of a name; nil if there is no such name.
    subscript(name: String) -> Value? { get }

    /// The owner of the names, in messages: `Book`, or `the row`.
    var valuesDescription: String { get }
    var valueNames: [String] { get }
}

extension NamedValues {
    /// The value as a Swift type. An optional type accepts nil.
    ///
    /// - Throws: `unknownProperty` if there is no such name, `missingValue` for nil and
    ///   `wrongType` for a value of another type.
    public func value<Wanted: AttributeValue>(
        _ name: String, as type: Wanted.Type = Wanted.self
    ) throws(LarderError) -> Wanted {
        let stored = try storeValue(name)
        guard let value = Wanted(storeValue: stored) else {
            throw mismatch(name, stored, "a value of the Swift type \(type)")
        }
        return value
    }

    /// The value of a string that is not nil. Throws as `value` does.
    public func string(_ name: String) throws(LarderError) -> String { try value(name) }

    /// The value of an integer that is not nil. Throws as `value` does.
    public func int(_ name: String) throws(LarderError) -> Int { try value(name) }

    /// The value of a float or a double that is not nil. Throws as `value` does.
    public func double(_ name: String) throws(LarderError) -> Double { try value(name) }

    /// The value of a decimal that is not nil. Throws as `value` does.
    public func decimal(_ name: String) throws(LarderError) -> Decimal { try value(name) }

    /// The value of a bool that is not nil. Throws as `value` does.
    public func bool(_ name: String) throws(LarderError) -> Bool { try value(name) }

    /// The value of a date that is not nil. Throws as `value` does.
    public func date(_ name: String) throws(LarderError) -> Date { try value(name) }

    /// The object of a to-one relationship; nil if there is none.
    ///
    /// - Throws: `unknownProperty` and `wrongType`, as `value` does.
    public func object(_ name: String) throws(LarderError) -> PersistentIdentifier? {
        switch try storeValue(name) {
        case .null: nil
        case .object(let identifier): identifier
        case let other: throw mismatch(name, other, "an object")
        }
    }

    /// The objects of a to-many relationship.
    ///
    /// - Throws: `unknownProperty` and `wrongType`, as `value` does.
    public func objects(_ name: String) throws(LarderError) -> [PersistentIdentifier] {
        let stored = try storeValue(name)
        guard case .objects(let identifiers) = stored else {
            throw mismatch(name, stored, "a list of objects")
        }
        return identifiers
    }

    private func storeValue(_ name: String) throws(LarderError) -> Value {
        if let value = self[name] { return value }
        throw unknownName(name)
    }

    func unknownName(_ name: String) -> LarderError {
        LarderError(
            .unknownProperty, "\(valuesDescription) has no value `\(name)`",
            hint: NameSuggestion.hint(for: name, among: valueNames))
    }

    func mismatch(_ name: String, _ found: Value, _ wanted: String) -> LarderError {
        found.isNull
            ? LarderError(
                .missingValue, "`\(name)` of \(valuesDescription) is nil",
                hint: "read it as an optional: `let value: String? = try row.value(\"\(name)\")`")
            : LarderError(
                .wrongType,
                "`\(name)` of \(valuesDescription) is \(found.kindWithArticle), not \(wanted)")
    }
}

extension Record: NamedValues {
    public var valuesDescription: String { entityName }
    public var valueNames: [String] { values.keys.sorted() }
}

extension Row: NamedValues {
    public var valuesDescription: String { "the row" }
    public var valueNames: [String] { names }
}
