import LarderModel

/// A single value with its type: one side of a comparison, an operand of a function, a column of a
/// result.
package indirect enum TypedOperand: Hashable, Sendable {
    /// The value at the end of a key path without to-many steps.
    case property(TypedKeyPath, name: String)
    /// An element of a collection that is the value of an attribute.
    case element(TypedElement)
    case value(TypedValue)
    case member(TypedMember)
    /// The operands have the types of the function's parameters; the type is that of the result.
    case function(ScalarFunction, [TypedOperand], OperandType, name: String)
    /// An integer as a double or a decimal, or a number, string or bool as JSON.
    case converted(TypedOperand, OperandType)
    /// A predicate as a Bool, which is never nil.
    case predicate(TypedPredicate)
    /// A value computed over the elements of a collection, without nil. The operand is nil for the
    /// number of objects.
    case collection(AggregateFunction, TypedCollection, TypedOperand?, OperandType, name: String)
    /// Texts of the elements of a collection, one after another.
    case join(TypedJoin)
    /// A value computed over the objects of a group.
    case aggregate(AggregateFunction, TypedOperand?, OperandType, name: String)

    /// Nil if only the other operand of a comparison determines it.
    package var type: OperandType? {
        switch self {
        case .property(let path, _): path.type
        case .element(let element): element.type
        case .value(let value): value.type
        case .member(let member): member.kind.type
        case .function(_, _, let type, _), .converted(_, let type),
            .collection(_, _, _, let type, _), .aggregate(_, _, let type, _):
            type
        case .predicate: .attribute(.bool)
        case .join: .attribute(.string)
        }
    }

    /// The name in messages: `Article.title`.
    package var name: String {
        switch self {
        case .property(_, let name), .function(_, _, _, let name),
            .collection(_, _, _, _, let name), .aggregate(_, _, _, let name):
            name
        case .element(let element): element.name
        case .value(let value): value.name
        case .member(let member): member.name
        case .converted(let operand, _): operand.name
        case .predicate: "a predicate"
        case .join: "the result of join"
        }
    }

    /// A member, also for a computed operand of the type json; nil for other operands.
    package var member: TypedMember? {
        switch self {
        case .member(let member): member
        case .function, .collection, .aggregate:
            type == .attribute(.json) ? TypedMember(document: self, path: []) : nil
        case .property, .element, .value, .converted, .predicate, .join: nil
        }
    }

    /// The type for the check of a comparison. A value that is compared with JSON becomes JSON.
    package var comparedType: OperandType? {
        if case .value(let value) = self, value.isJSON { return nil }
        return type
    }

    /// The operand in a comparison with JSON.
    package var comparedAsJSON: TypedOperand {
        switch self {
        case .value(var value):
            value.isJSON = true
            return .value(value)
        default:
            let isConverted =
                type?.isNumber == true || type?.isString == true || type == .attribute(.bool)
            return isConverted ? .converted(self, .attribute(.json)) : self
        }
    }

    /// The operand, read as a type if it is a member of a JSON document.
    package func reading(as kind: MemberKind) -> TypedOperand {
        guard var member, member.kind != kind else { return self }
        member.kind = kind
        return .member(member)
    }
}

/// An element of a collection that is the value of an attribute.
package struct TypedElement: Hashable, Sendable {
    package let slot: Int
    package let type: OperandType
    package let name: String
}

/// A member of a JSON document, and how it is read.
package struct TypedMember: Hashable, Sendable {
    /// An operand of the type json.
    package let document: TypedOperand
    /// Empty for the document itself.
    package let path: [String]
    package var kind = MemberKind.json

    package var name: String { ([document.name] + path).joined(separator: ".") }
}

/// The elements to which a to-many key path leads, or those of a SUBQUERY.
package struct TypedCollection: Hashable, Sendable {
    /// A key path from an object, with the elements at its end.
    package struct Part: Hashable, Sendable {
        package let path: TypedKeyPath
        /// The path of an array in the document at the end of the key path, whose elements these
        /// are; nil for the elements of the key path itself.
        package var array: [String]?
        /// The slot of an element.
        package let slot: Int
        /// Whether objects that are nil are left out.
        package var excludesNil = false
        /// The elements that satisfy this predicate are in the collection.
        package var predicates: [TypedPredicate] = []
    }

    /// Each part but the first begins at the elements of the one before.
    package var parts: [Part]
    /// An element, as an operand of predicates and aggregates.
    package var element: TypedOperand

    /// The entity of the elements; nil if they are not objects.
    package var object: TypedObject? {
        guard case .property(let path, _) = element else { return nil }
        return path.base
    }

    /// Whether the elements have an order: that of one ordered relationship, or of an array.
    package var isOrdered: Bool {
        if parts.contains(where: { $0.array != nil }) { return true }
        let steps = parts.flatMap(\.path.steps).filter(\.isToMany)
        guard steps.count == 1, case .relationship(let relationship) = steps[0].kind else {
            return false
        }
        return relationship.isOrdered
    }
}

/// A call of `join`: a text of each element of a collection, without nil, with a separator between
/// them. They have the order of the collection, or else that of the texts.
package struct TypedJoin: Hashable, Sendable {
    package let collection: TypedCollection
    /// Computed for each element.
    package let text: TypedOperand
    /// Computed for the object of the query.
    package let separator: TypedOperand
}
