import LarderModel

/// One side of a comparison, resolved: what is read from where, and of which type.
indirect enum PlanOperand: Hashable, Sendable {
    case column(PlanColumn)
    case value(PlanValue)
    case member(PlanMember)
    /// Operands have the types that the function asks for; `type` is that of the result.
    case function(ScalarFunction, [PlanOperand], OperandType, name: String)
    /// An integer as a double or a decimal.
    case converted(PlanOperand, OperandType)
    /// A predicate as a Bool, which is never nil.
    case predicate(PlanPredicate)
    /// A value computed over the elements of a collection; over objects the operand is nil.
    case collection(AggregateFunction, PlanCollection, PlanOperand?, OperandType, name: String)
    /// A value computed over a group.
    case aggregate(AggregateFunction, PlanOperand?, OperandType, name: String)

    /// How many elements a collection has.
    static func count(_ collection: PlanCollection, name: String) -> PlanOperand {
        .collection(.count, collection, nil, .int64, name: name)
    }

    /// nil where only what it is compared with could tell.
    var type: OperandType? {
        switch self {
        case .column(let column): column.type
        case .member(let member): member.type
        case .aggregate(_, _, let type, _), .function(_, _, let type, _), .converted(_, let type),
            .collection(_, _, _, let type, _):
            type
        case .predicate: .attribute(.bool)
        case .value(let value): value.type
        }
    }

    var name: String {
        switch self {
        case .column(let column): column.name
        case .member(let member): member.name
        case .aggregate(_, _, _, let name), .function(_, _, _, let name),
            .collection(_, _, _, _, let name):
            name
        case .converted(let operand, _): operand.name
        case .predicate: "a predicate"
        case .value(let value): value.name
        }
    }

    /// Whether SQL may find nil here, apart from a value, of which only the parameters tell.
    var isNullable: Bool {
        switch self {
        case .column(let column): column.isNullable
        case .value, .member: true
        case .predicate: false
        case .converted(let operand, _): operand.isNullable
        case .aggregate(let function, _, let type, _),
            .collection(let function, _, _, let type, _):
            // A sum of both infinities is nil.
            !function.isZeroOverNone || (function == .sum && type == .attribute(.double))
        case .function(let function, let operands, _, _):
            switch function {
            case .now: false
            case .coalesce: operands.allSatisfy(\.isNullable)
            case .conditional: operands.dropFirst().contains(where: \.isNullable)
            case .length, .uppercase, .lowercase, .canonical:
                operands.contains(where: \.isNullable)
            default: true
            }
        }
    }

    /// Whether it is the same for all objects.
    var isConstant: Bool {
        switch self {
        case .value: true
        case .function(_, let operands, _, _): operands.allSatisfy(\.isConstant)
        case .converted(let operand, _): operand.isConstant
        case .column, .member, .predicate, .collection, .aggregate: false
        }
    }

    /// The operands and predicates right below.
    var operands: [PlanOperand] {
        switch self {
        case .column, .value, .predicate: []
        case .member(let member): [.column(member.document)]
        case .function(_, let operands, _, _): operands
        case .converted(let operand, _): [operand]
        case .collection: []
        case .aggregate(_, let operand, _, _): operand.map { [$0] } ?? []
        }
    }
}

extension AggregateFunction {
    /// Whether it is 0 over no values, where others are nil.
    var isZeroOverNone: Bool { self == .count || self == .countDistinct || self == .sum }
}

/// What is stored for an object: an attribute, or the key of an object.
struct PlanColumn: Hashable, Sendable {
    var reference: ColumnReference
    var type: OperandType
    var isNullable: Bool
    /// Whether an index of its table begins with it.
    var isIndexed: Bool
    /// For sentences: `Article.title`.
    var name: String
}

/// A value that the query brings along: a constant, or an argument of each time it is asked.
struct PlanValue: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        case constant(Value)
        /// The place among the arguments, from 0.
        case argument(Int)
        /// The name among the variables.
        case variable(String)
        /// The value of the sort key with this number, from 0, at the place after which to go on.
        case place(Int)

        /// The node of a tree that it comes from; nil if it comes from none.
        var expression: QueryExpression? {
            switch self {
            case .constant(let value): .constant(value)
            case .argument(let place): .argument(place)
            case .variable(let name): .variable(name)
            case .place: nil
            }
        }
    }

    var source: Source
    /// The type of what it is compared with; nil where that is a value too.
    var type: OperandType?
    /// What it is compared with, for sentences: `Article.title`.
    var name: String
    /// Of a list of two bounds the one that is the value: 0 or 1.
    var bound: Int?

    static func null(named name: String) -> PlanValue {
        PlanValue(source: .constant(.null), type: nil, name: name)
    }
}

/// Objects reached through to-many steps, and what must hold of them.
struct PlanCollection: Hashable, Sendable {
    var sources: [PlanSource]
    var predicate: PlanPredicate
}

/// A predicate, resolved. It is true or false, never unknown: see `SQLWriter`.
indirect enum PlanPredicate: Hashable, Sendable {
    case constant(Bool)
    /// A Boolean column, standing alone.
    case isTrue(PlanOperand)
    /// Decided by the values alone, when the query is asked.
    case decided(ValueComparison)
    case comparison(
        PlanOperand, Comparison.Operator, PlanOperand, options: Comparison.Options)
    case between(PlanOperand, PlanOperand, PlanOperand, options: Comparison.Options)
    case oneOf(PlanOperand, [PlanOperand], options: Comparison.Options)
    /// One of the values of a list that is one argument.
    case oneOfList(PlanOperand, PlanValue, options: Comparison.Options)
    /// The name of an object's entity is one of these. Nil where there is no object.
    case isKind(PlanColumn, [String])
    case and([PlanPredicate])
    case or([PlanPredicate])
    case not(PlanPredicate)
    /// The collection has an element.
    case exists(PlanCollection)

    static let yes = PlanPredicate.constant(true)

    /// The parts that have to hold all.
    var conjuncts: [PlanPredicate] {
        if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    /// The operands right below, not those of the predicates and collections within.
    var operands: [PlanOperand] {
        switch self {
        case .constant, .decided, .and, .or, .not, .exists: []
        case .isTrue(let operand), .oneOfList(let operand, _, _): [operand]
        case .isKind(let column, _): [.column(column)]
        case .comparison(let left, _, let right, _): [left, right]
        case .between(let value, let lower, let upper, _): [value, lower, upper]
        case .oneOf(let operand, let list, _): [operand] + list
        }
    }

    func and(_ other: PlanPredicate) -> PlanPredicate {
        if self == .yes { return other }
        return other == .yes ? self : .and([self, other])
    }
}
