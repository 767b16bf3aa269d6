import LarderModel

/// One side of a comparison, resolved: what is read from where, and of which type.
indirect enum PlanOperand: Hashable, Sendable {
    case column(PlanColumn)
    case value(PlanValue)
    /// How many elements a collection has.
    case count(PlanCollection, name: String)
    /// A value computed over a group.
    case aggregate(AggregateFunction, PlanOperand?, OperandType, name: String)

    /// nil where only what it is compared with could tell.
    var type: OperandType? {
        switch self {
        case .column(let column): column.type
        case .aggregate(_, _, let type, _): type
        case .count: .int64
        case .value(let value): value.type
        }
    }

    var name: String {
        switch self {
        case .column(let column): column.name
        case .count(_, let name), .aggregate(_, _, _, let name): name
        case .value(let value): value.name
        }
    }

    /// Whether SQL may find nil here, apart from a value, of which only the parameters tell.
    var isNullable: Bool {
        switch self {
        case .column(let column): column.isNullable
        case .count: false
        case .value: true
        case .aggregate(let function, _, _, _): function != .count && function != .countDistinct
        }
    }
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

    func and(_ other: PlanPredicate) -> PlanPredicate {
        if self == .yes { return other }
        return other == .yes ? self : .and([self, other])
    }
}
