import LarderModel
import LarderQuery

/// A resolved operand: its value's source and type.
package indirect enum PlanOperand: Hashable, Sendable {
    case column(PlanColumn)
    case value(TypedValue)
    case member(PlanMember)
    /// The operands have the types of the function's parameters; the type is that of the result.
    case function(ScalarFunction, [PlanOperand], OperandType, name: String)
    /// An integer as a double or a decimal, or a number, string or bool as JSON.
    case converted(PlanOperand, OperandType)
    /// A predicate as a Bool, which is never nil.
    case predicate(PlanPredicate)
    /// A value computed over the elements of a collection. The operand is nil for objects.
    case collection(AggregateFunction, PlanCollection, PlanOperand?, OperandType, name: String)
    /// Texts of the elements of a collection, with a separator between them.
    case join(PlanJoin)
    /// A value computed over a group.
    case aggregate(AggregateFunction, PlanOperand?, OperandType, name: String)

    /// The number of elements of a collection.
    package static func count(_ collection: PlanCollection, name: String) -> PlanOperand {
        .collection(.count, collection, nil, .int64, name: name)
    }

    /// nil if only the other operand of a comparison determines it.
    package var type: OperandType? {
        switch self {
        case .column(let column): column.type
        case .member(let member): member.type
        case .aggregate(_, _, let type, _), .function(_, _, let type, _), .converted(_, let type),
            .collection(_, _, _, let type, _):
            type
        case .predicate: .attribute(.bool)
        case .join: .attribute(.string)
        case .value(let value): value.type
        }
    }

    package var name: String {
        switch self {
        case .column(let column): column.name
        case .member(let member): member.name
        case .aggregate(_, _, _, let name), .function(_, _, _, let name),
            .collection(_, _, _, _, let name):
            name
        case .converted(let operand, _): operand.name
        case .predicate: "a predicate"
        case .join: "the result of join"
        case .value(let value): value.name
        }
    }

    /// Whether it may be nil in SQL. For a value, the parameters decide.
    var isNullable: Bool {
        switch self {
        case .column(let column): column.isNullable
        case .value, .member, .join: true
        case .predicate: false
        case .converted(let operand, _): operand.isNullable
        case .aggregate(let function, _, let type, _),
            .collection(let function, _, _, let type, _):
            // The sum of both infinities is nil.
            !function.isZeroOverNone || (function == .sum && type == .attribute(.double))
        case .function(let function, let operands, _, _):
            function.isNullable(operands.map(\.isNullable))
        }
    }

    /// Whether it is the same for all objects.
    package var isConstant: Bool {
        switch self {
        case .value: true
        case .function(_, let operands, _, _): operands.allSatisfy(\.isConstant)
        case .converted(let operand, _): operand.isConstant
        case .column, .member, .predicate, .collection, .join, .aggregate: false
        }
    }

    /// The direct operands.
    package var operands: [PlanOperand] {
        switch self {
        case .column, .value, .predicate: []
        case .member(let member): [member.document]
        case .function(_, let operands, _, _): operands
        case .converted(let operand, _): [operand]
        case .collection, .join: []
        case .aggregate(_, let operand, _, _): operand.map { [$0] } ?? []
        }
    }
}

extension AggregateFunction {
    /// Whether it is 0 for no values; others are nil.
    var isZeroOverNone: Bool { self == .count || self == .countDistinct || self == .sum }
}

/// A stored value of an object: an attribute, or the key of an object.
package struct PlanColumn: Hashable, Sendable {
    package var reference: ColumnReference
    package var type: OperandType
    var isNullable: Bool
    /// Whether it is the first column of an index.
    var isIndexed: Bool
    /// The indexes of a string's text.
    var textIndexes: TextIndexes = []
    /// The name of the index of the parts of a string's text.
    var searchTable: String?
    /// The indexes of the words of a string's text.
    var wordIndexes: [PlanWordIndex] = []
    /// For messages: `Article.title`.
    package var name: String
    /// The attribute, and the entity of the row; nil for a column of the system or a relationship.
    package var attribute: PlanAttribute?

    /// Whether an index finds values that are compared with these options.
    func isIndexed(for options: Comparison.Options) -> Bool {
        options.isEmpty
            ? isIndexed : options == .insensitive && textIndexes.contains(.canonical)
    }
}

/// An attribute, and an entity that has it.
package struct PlanAttribute: Hashable, Sendable {
    package var entityName: String
    package var name: String
}

/// The kinds of indexes of texts that an attribute may have.
package struct TextIndexes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An index of the texts without case and accents.
    package static let canonical = TextIndexes(rawValue: 1)
    /// An index of the texts without case, in the order `:caseinsensitive`.
    package static let caseless = TextIndexes(rawValue: 2)
}

/// Objects to which to-many steps lead, and a predicate for them.
package struct PlanCollection: Hashable, Sendable {
    package var sources: [PlanSource]
    package var predicate: PlanPredicate

    package init(sources: [PlanSource], predicate: PlanPredicate) {
        self.sources = sources
        self.predicate = predicate
    }
}

/// A call of `join`.
package struct PlanJoin: Hashable, Sendable {
    /// The columns by which the elements are ordered; nil for the order of the texts.
    package struct Position: Hashable, Sendable {
        package var index: ColumnReference
        /// Decides between equal ones.
        package var key: ColumnReference
    }

    package var collection: PlanCollection
    /// The text of an element.
    package var text: PlanOperand
    package var separator: PlanOperand
    package var position: Position?
}

/// A resolved predicate. It is true or false, never unknown: see `SQLWriter`.
package indirect enum PlanPredicate: Hashable, Sendable {
    case constant(Bool)
    /// A Boolean operand alone.
    case isTrue(PlanOperand)
    /// Decided by the values when the query is run.
    case decided(ValueComparison)
    case comparison(
        PlanOperand, Comparison.Operator, PlanOperand, options: Comparison.Options)
    case between(PlanOperand, PlanOperand, PlanOperand, options: Comparison.Options)
    case oneOf(PlanOperand, [PlanOperand], options: Comparison.Options)
    /// Equal to an element of a list that is one argument.
    case oneOfList(PlanOperand, TypedValue, options: Comparison.Options)
    /// The object has one of these entities. False if there is no object.
    case isKind(PlanColumn, [String])
    case and([PlanPredicate])
    case or([PlanPredicate])
    case not(PlanPredicate)
    /// The collection has an element.
    case exists(PlanCollection)

    package static let yes = PlanPredicate.constant(true)

    /// The parts of a conjunction.
    var conjuncts: [PlanPredicate] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    /// The direct operands, without those of inner predicates and collections.
    package var operands: [PlanOperand] {
        switch self {
        case .constant, .decided, .and, .or, .not, .exists: []
        case .isTrue(let operand), .oneOfList(let operand, _, _): [operand]
        case .isKind(let column, _): [.column(column)]
        case .comparison(let left, _, let right, _): [left, right]
        case .between(let value, let lower, let upper, _): [value, lower, upper]
        case .oneOf(let operand, let list, _): [operand] + list
        }
    }

    package func and(_ other: PlanPredicate) -> PlanPredicate {
        if self == .yes { return other }
        return other == .yes ? self : .and([self, other])
    }
}
