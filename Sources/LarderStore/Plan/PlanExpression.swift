import LarderModel

/// One side of a comparison, resolved: what is read from where, and of which type.
indirect enum PlanOperand: Hashable, Sendable {
    /// `name` is for sentences: `Article.title`.
    case column(ColumnReference, OperandType, isNullable: Bool, name: String)
    case value(PlanValue)
    /// How many elements a collection has.
    case count(PlanCollection, name: String)
    /// A value computed over a group.
    case aggregate(Aggregate.Function, PlanOperand?, OperandType, name: String)

    /// nil where only what it is compared with could tell.
    var type: OperandType? {
        switch self {
        case .column(_, let type, _, _), .aggregate(_, _, let type, _): type
        case .count: .int64
        case .value(let value): value.type
        }
    }

    var name: String {
        switch self {
        case .column(_, _, _, let name), .count(_, let name), .aggregate(_, _, _, let name): name
        case .value(let value): value.name
        }
    }

    /// Whether SQL may find nil here, apart from a value, of which only the parameters tell.
    var isNullable: Bool {
        switch self {
        case .column(_, _, let isNullable, _): isNullable
        case .count: false
        case .value: true
        case .aggregate(let function, _, _, _): function != .count && function != .countDistinct
        }
    }
}

/// A value that the query brings along: a constant, or an argument of each time it is asked.
struct PlanValue: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        case constant(Value)
        /// The place among the arguments, from 0.
        case argument(Int)
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
    /// The object is in the list of objects that the value holds.
    case oneOfObjects(PlanOperand, PlanValue)
    case and([PlanPredicate])
    case or([PlanPredicate])
    case not(PlanPredicate)
    /// The collection has an element.
    case exists(PlanCollection)

    static let yes = PlanPredicate.constant(true)

    func and(_ other: PlanPredicate) -> PlanPredicate {
        if self == .yes { return other }
        return other == .yes ? self : .and([self, other])
    }
}
