import LarderModel

// The tree that an evaluator computes: a typed tree with the values of one run. It is as deep as
// the expression, whose depth is within `Limits`.

/// A single value.
indirect enum BoundOperand: Sendable {
    case value(Value)
    /// The object or the value in a slot: 0 is the evaluated object, the others are elements of
    /// collections.
    case slot(Int)
    /// A property of an object, without to-many steps.
    case step(PropertyStep, of: BoundOperand)
    case member([String], of: BoundOperand, MemberKind)
    case function(ScalarFunction, [BoundOperand])
    /// A value converted to a double, a decimal or JSON.
    case converted(BoundOperand, AttributeType)
    /// The aggregate of an operand over the elements, which it reads from the slot.
    case aggregate(AggregateFunction, BoundCollection, BoundOperand, AttributeType?)
    /// The texts of the elements with a separator. `isOrdered` says whether the elements have an
    /// order.
    case join(BoundCollection, BoundOperand, separator: BoundOperand, isOrdered: Bool)
    case truth(BoundPredicate)
}

/// Any number of values: parts, each of which begins at the elements of the one before.
struct BoundCollection: Sendable {
    struct Part: Sendable {
        /// The object at which the part begins.
        let base: BoundOperand
        let steps: [PropertyStep]
        /// The path of the array in the JSON at the end of the steps, whose elements these are.
        let array: [String]?
        /// The slot of an element.
        let slot: Int
        let excludesNil: Bool
        let predicates: [BoundPredicate]
    }

    let parts: [Part]
}

/// A property of an object.
struct PropertyStep: Sendable {
    enum Kind: Sendable {
        case attribute(AttributeType)
        case toOne
        case toMany
        /// No property but the object itself, if it is of one of these entities.
        case cast(Set<String>)
    }

    let name: String
    let kind: Kind
}

/// True or false.
indirect enum BoundPredicate: Sendable {
    case constant(Bool)
    case isTrue(BoundOperand)
    case comparison(
        BoundOperand, Comparison.Operator, BoundOperand, options: Comparison.Options)
    case `in`(BoundOperand, [BoundOperand], options: Comparison.Options)
    case inValues(BoundOperand, ValueList)
    case between(BoundOperand, BoundOperand, BoundOperand, options: Comparison.Options)
    /// Whether the object is of one of these entities.
    case isKind(BoundOperand, Set<String>)
    case and([BoundPredicate])
    case or([BoundPredicate])
    case not(BoundPredicate)
    /// Whether an element satisfies the predicate, which reads it from the slot of the last part.
    case exists(BoundCollection, BoundPredicate)
}
