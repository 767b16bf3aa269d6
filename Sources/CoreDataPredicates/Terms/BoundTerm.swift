package import LarderModel

/// The tree of a predicate or an expression with its arguments, for one use of it.
package struct BoundTerm: Sendable {
    package let expression: QueryExpression
    package let arguments: [QueryArgument]

    init(_ expression: QueryExpression, arguments: [QueryArgument] = []) {
        self.expression = expression
        self.arguments = arguments
    }

    package init(_ predicate: NSPredicate) throws(LarderError) {
        var builder = TermBuilder()
        expression = try builder.tree(of: predicate)
        arguments = builder.arguments
    }

    package init(_ expression: NSExpression) throws(LarderError) {
        var builder = TermBuilder()
        self.expression = try builder.tree(of: expression)
        arguments = builder.arguments
    }
}

/// An object of a context, as predicates use it.
package protocol QueriedObject: AnyObject {
    /// The identifier that the object has now.
    var queriedIdentifier: PersistentIdentifier { get }

    /// Whether the object satisfies a predicate, with the changes of its context.
    func satisfies(_ predicate: BoundTerm) throws(LarderError) -> Bool

    /// The value of an expression for the object.
    func value(of expression: BoundTerm) throws(LarderError) -> Any?

    /// Where names and types of predicates for the object are checked; nil for an object in no
    /// context.
    var termLocation: TermLocation? { get }
}

/// The identifier of an object, as predicates use it.
package protocol ObjectReference {
    var queriedIdentifier: PersistentIdentifier { get }
}
