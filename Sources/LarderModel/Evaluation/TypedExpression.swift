// The tree that an evaluator computes. All names are resolved, and all literals have the types they
// are compared with. It is as deep as the expression, whose depth is within `Limits`.

/// A single value.
indirect enum TypedExpression: Sendable {
    case value(Value)
    /// The object in a slot: 0 is the evaluated object, the others are elements of collections.
    case object(slot: Int)
    /// A property of an object, without to-many steps.
    case step(PropertyStep, of: TypedExpression)
    case member([String], of: TypedExpression, MemberKind)
    case function(ScalarFunction, [TypedExpression])
    /// A number converted to a double or a decimal.
    case converted(TypedExpression, AttributeType)
    case aggregate(AggregateFunction, TypedCollection, AttributeType?)
    case truth(TypedPredicate)
}

/// Any number of values.
indirect enum TypedCollection: Sendable {
    /// One object, or none if it is nil: the start of a key path.
    case single(TypedExpression)
    case step(PropertyStep, of: TypedCollection)
    /// The elements that satisfy the predicate, which reads each element from the slot.
    case filtered(TypedCollection, slot: Int, TypedPredicate)
    /// The elements that are not nil.
    case existing(TypedCollection)
    /// The members of JSON documents.
    case member([String], of: TypedCollection, MemberKind)
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

/// The type as which a member of a JSON document is read.
enum MemberKind: Sendable {
    /// An integer if it is one, otherwise a double.
    case number
    case attribute(AttributeType)
}

/// True or false.
indirect enum TypedPredicate: Sendable {
    case constant(Bool)
    case isTrue(TypedExpression)
    case comparison(TypedComparison)
    case `in`(TypedExpression, [TypedExpression], Comparison.Options)
    case inValues(TypedExpression, ValueList)
    case between(TypedExpression, TypedExpression, TypedExpression, Comparison.Options)
    /// Whether the object is of one of these entities.
    case isKind(TypedExpression, Set<String>)
    case and([TypedPredicate])
    case or([TypedPredicate])
    case not(TypedPredicate)
    /// Whether one element, or every element, satisfies the predicate, which reads it from the
    /// slot.
    case any(TypedCollection, slot: Int, TypedPredicate)
    case all(TypedCollection, slot: Int, TypedPredicate)
}

/// A comparison of two values.
struct TypedComparison: Sendable {
    var left: TypedExpression
    var `operator`: Comparison.Operator
    var right: TypedExpression
    var options: Comparison.Options
}
