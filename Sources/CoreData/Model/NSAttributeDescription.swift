internal import CoreDataPredicates
internal import Foundation
internal import LarderModel

/// An attribute.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The type, by its newer name.
    public struct AttributeType: Hashable, Sendable {
        public let rawValue: NSAttributeType

        public static let integer16 = Self(rawValue: .integer16AttributeType)
        public static let integer32 = Self(rawValue: .integer32AttributeType)
        public static let integer64 = Self(rawValue: .integer64AttributeType)
        public static let decimal = Self(rawValue: .decimalAttributeType)
        public static let double = Self(rawValue: .doubleAttributeType)
        public static let float = Self(rawValue: .floatAttributeType)
        public static let string = Self(rawValue: .stringAttributeType)
        public static let boolean = Self(rawValue: .booleanAttributeType)
        public static let date = Self(rawValue: .dateAttributeType)
        public static let binaryData = Self(rawValue: .binaryDataAttributeType)
        public static let uuid = Self(rawValue: .UUIDAttributeType)
        public static let uri = Self(rawValue: .URIAttributeType)
        public static let transformable = Self(rawValue: .transformableAttributeType)
        public static let objectID = Self(rawValue: .objectIDAttributeType)
        public static let undefined = Self(rawValue: .undefinedAttributeType)
    }

    open var attributeType = NSAttributeType.undefinedAttributeType
    /// The value of a new object.
    open var defaultValue: Any?
    /// Whether the history has the value of a deleted object.
    open var preservesValueInHistoryOnDeletion = false

    /// The constraints of a model file.
    private(set) var validation = Attribute.Validation()

    override var filePredicates: [NSPredicate] {
        var predicates: [NSPredicate] = []
        if let minimum = validation.minimum?.anyValue {
            predicates.append(NSPredicate(format: "SELF >= %@", minimum))
        }
        if let maximum = validation.maximum?.anyValue {
            predicates.append(NSPredicate(format: "SELF <= %@", maximum))
        }
        if let least = validation.minLength {
            predicates.append(NSPredicate(format: "length(SELF) >= %d", least))
        }
        if let greatest = validation.maxLength {
            predicates.append(NSPredicate(format: "length(SELF) <= %d", greatest))
        }
        if let pattern = validation.pattern {
            predicates.append(NSPredicate(format: "SELF MATCHES %@", pattern))
        }
        return predicates
    }

    public override init() {}

    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The expression of a derived attribute.
    var derivation: NSExpression? { nil }

    convenience init(_ attribute: Attribute) {
        self.init()
        name = attribute.name
        isOptional = attribute.isOptional
        attributeType = NSAttributeType(attribute.type)
        defaultValue = attribute.defaultValue?.anyValue
        preservesValueInHistoryOnDeletion = attribute.preservesValueOnDeletion
        renamingIdentifier = attribute.originalName
        versionHashModifier = attribute.hashModifier
        validation = attribute.validation
    }

    /// - Throws: `malformedSchema` for an attribute that no store has.
    func storeAttribute(of entityName: String) throws(LarderError) -> Attribute {
        guard let type = attributeType.storeType else {
            throw NSEntityDescription.malformed(
                "\(entityName).\(name) has no type", hint: "set attributeType")
        }
        return Attribute(
            name: name, type: type, isOptional: isOptional,
            defaultValue: try storeValue(of: defaultValue),
            preservesValueOnDeletion: preservesValueInHistoryOnDeletion,
            derivation: derivation?.description, originalName: renamingIdentifier,
            hashModifier: versionHashModifier, validation: validation)
    }

    /// The value of the store for a value of a program.
    ///
    /// - Throws: `wrongType` with the name of the attribute.
    func storeValue(of value: Any?) throws(LarderError) -> Value {
        do throws(LarderError) {
            guard let type = attributeType.storeType else { return try Value(of: value) }
            return try Value(of: value, as: type)
        } catch {
            var named = error
            named.message = "\(entity?.name ?? "").\(name): \(error.message)"
            throw named
        }
    }
}

/// An attribute whose values the store computes when an object is saved.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// A key path, also with a collection operator, or a function: `articles.@count`,
    /// `canonical:(name)`.
    open var derivationExpression: NSExpression?

    public override init() {}

    override var derivation: NSExpression? { derivationExpression }
}

/// A value that a request with dictionaries computes, with its name.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    open var expression: NSExpression?
    /// The type of the values in the result; undefined for that of the expression.
    open var expressionResultType = NSAttributeType.undefinedAttributeType

    public override init() {}

    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }
}
