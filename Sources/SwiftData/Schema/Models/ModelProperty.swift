package import LarderModel

/// A persisted property of a model.
///
/// A key path of a property captures no values, and metadata and default values are not changed
/// after they were read from the class; so both are safe to share.
package struct ModelProperty: @unchecked Sendable {
    package enum Kind: Sendable {
        case attribute(AttributeCoding)
        case toOne(any PersistentModel.Type)
        case toMany(any PersistentModel.Type)
    }

    package let name: String
    /// The name in the store, which is another one if the store does not accept the name.
    package let storeName: String
    package let slot: Int
    package let keyPath: AnyKeyPath
    package let kind: Kind
    /// The type of the property, which may be an optional.
    package let valueType: any Any.Type
    package let isOptional: Bool
    /// The default value as the class declares it; nil for none.
    package let declaredDefault: Any?
    /// The default value as the store has it; nil for none and for a relationship.
    package let defaultValue: LarderModel.Value?
    /// Whether the default value is the same in every process, so that it belongs to the schema.
    package let isDefaultConstant: Bool
    /// The options that the class names.
    package let metadata: (any SchemaProperty)?

    package var attributeOptions: [Schema.Attribute.Option] {
        (metadata as? Schema.Attribute)?.options ?? []
    }

    // The type of a property decides whether it is an attribute or a relationship, and both
    // `@Attribute` and `@Relationship` may name these.

    package var originalName: String {
        metadata.flatMap { $0.originalName.isEmpty ? nil : $0.originalName } ?? name
    }

    package var hashModifier: String? {
        (metadata as? Schema.Attribute)?.hashModifier
            ?? (metadata as? Schema.Relationship)?.hashModifier
    }

    /// Whether the store does not have the attribute.
    package var isEphemeral: Bool { attributeOptions.contains(.ephemeral) }

    package var preservesValueOnDeletion: Bool {
        attributeOptions.contains(.preserveValueOnDeletion)
    }

    package var coding: AttributeCoding? {
        if case .attribute(let coding) = kind { coding } else { nil }
    }

    /// The type of the related models; nil for an attribute.
    package var destination: (any PersistentModel.Type)? {
        switch kind {
        case .attribute: nil
        case .toOne(let type), .toMany(let type): type
        }
    }

    /// A value for an object that has none, so that reading it does not trap: the default value, or
    /// what the type has for nothing. Nil if the property is optional, and for a relationship to
    /// one model that is required.
    package func blank() -> Any? {
        if isOptional { return nil }
        switch kind {
        case .toOne: return nil
        case .toMany: return declaredDefault ?? [Any]()
        case .attribute(let coding):
            return declaredDefault ?? coding.blank()
        }
    }

    init(_ metadata: Schema.PropertyMetadata, slot: Int, isConstant: Bool) {
        name = metadata.name
        storeName = StoreName.of(metadata.name)
        self.slot = slot
        keyPath = metadata.keypath
        self.metadata = metadata.metadata
        valueType = type(of: metadata.keypath).valueType
        let value = ValueType(valueType)
        isOptional = value.isOptional
        declaredDefault = metadata.defaultValue
        if let relationship = RelationshipType(valueType) {
            kind =
                relationship.isToMany
                ? .toMany(relationship.destination) : .toOne(relationship.destination)
            defaultValue = nil
            isDefaultConstant = false
        } else {
            let options = (metadata.metadata as? Schema.Attribute)?.options ?? []
            let coding = AttributeCoding.coding(of: value.wrapped, options)
            kind = .attribute(coding)
            defaultValue = metadata.defaultValue.flatMap { try? coding.encode($0) }
            isDefaultConstant = isConstant && coding.hasConstantMembers
        }
    }
}

/// Names of properties and entities as the store accepts them: a letter followed by letters, digits
/// and underscores, in ASCII.
enum StoreName {
    /// The name itself if the store accepts it. Otherwise each other byte is written as `_` and two
    /// hexadecimal digits after an `x`: `_title` becomes `x_5Ftitle`.
    static func of(_ name: String) -> String {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, !isLetter(first) || !bytes.allSatisfy(isAccepted) else {
            return name
        }
        var text = isLetter(first) ? "" : "x"
        for (index, byte) in bytes.enumerated() {
            if isAccepted(byte), index > 0 || isLetter(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "_" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return text
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte)
    }

    private static func isAccepted(_ byte: UInt8) -> Bool {
        isLetter(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "_")
    }
}
