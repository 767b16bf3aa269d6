// The tree that an evaluator computes: every name is known to exist, every literal has the type of
// what it stands beside. Its depth is that of the expression, which is within `Limits`.

/// A single value.
indirect enum TypedExpression: Sendable {
    case value(Value)
    /// The object in a place: 0 is the one that is asked about, others are variables of SUBQUERY.
    case object(place: Int)
    /// The last of some steps, none of them to many.
    case step(PropertyStep, of: TypedExpression)
    case member([String], of: TypedExpression, MemberKind)
    case function(ScalarFunction, [TypedExpression])
    /// A number as a double or a decimal.
    case converted(TypedExpression, AttributeType)
    case aggregate(AggregateFunction, TypedCollection, AttributeType?)
    case truth(TypedPredicate)
}

/// Any number of values.
indirect enum TypedCollection: Sendable {
    /// One object, or none if it is nil: what a key path begins with.
    case single(TypedExpression)
    case step(PropertyStep, of: TypedCollection)
    /// The objects for which the predicate holds, each as the object in the place.
    case filtered(TypedCollection, place: Int, TypedPredicate)
    /// Without what is nil.
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
    }

    let name: String
    let kind: Kind
}

/// As what a member of a JSON document is read.
enum MemberKind: Sendable {
    /// An integer where it is one, else a double.
    case number
    case attribute(AttributeType)
}

/// True or false.
indirect enum TypedPredicate: Sendable {
    case constant(Bool)
    case isTrue(TypedExpression)
    case comparison(TypedComparison)
    case `in`(TypedExpression, [TypedExpression], Comparison.Options)
    case between(TypedExpression, TypedExpression, TypedExpression, Comparison.Options)
    /// An object of one of these entities.
    case isKind(TypedExpression, Set<String>)
    case and([TypedPredicate])
    case or([TypedPredicate])
    case not(TypedPredicate)
    /// Holds for one element, or for every one, each as the value in the place.
    case any(TypedCollection, place: Int, TypedPredicate)
    case all(TypedCollection, place: Int, TypedPredicate)
}

/// Two values, side by side.
struct TypedComparison: Sendable {
    var left: TypedExpression
    var `operator`: Comparison.Operator
    var right: TypedExpression
    var options: Comparison.Options
}
