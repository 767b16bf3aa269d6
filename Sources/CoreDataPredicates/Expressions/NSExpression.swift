public import Foundation
internal import LarderModel

/// A value that a predicate or a request computes: a constant, a key path, a function, or others.
///
/// An expression is made without an error. A mistake in it, such as an unknown function, is the
/// error of the request or the evaluation that uses it.
open class NSExpression: NSObject {
    public enum ExpressionType: UInt, Sendable {
        case constantValue = 0
        case evaluatedObject = 1
        case variable = 2
        case keyPath = 3
        case function = 4
        case subquery = 13
        case aggregate = 14
        case conditional = 20
    }

    package let form: ExpressionForm

    package init(_ form: ExpressionForm) { self.form = form }

    /// An expression of Core Data's format: `wordCount * 2`, `length(title)`.
    public convenience init(format expressionFormat: String, _ args: Any?...) {
        self.init(ExpressionForm(format: expressionFormat, args))
    }

    /// An expression whose format has the elements of the array in place of `%@` and `%K`.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(ExpressionForm(format: expressionFormat, arguments))
    }

    /// An expression of Core Data's format.
    ///
    /// - Throws: the error in the format, with its column.
    public convenience init(
        parsing expressionFormat: String, argumentArray arguments: [Any] = []
    ) throws {
        self.init(ExpressionForm(format: expressionFormat, arguments))
        if case .failed(let error) = form { throw NSError.coreData(error) }
    }

    public convenience init(forConstantValue obj: Any?) { self.init(.constant(obj)) }

    public convenience init(forVariable string: String) { self.init(.variable(string)) }

    /// - Parameter keyPath: Names of properties, with periods between them; a collection operator
    ///   such as `@count` may be one.
    public convenience init(forKeyPath keyPath: String) { self.init(.keyPath(keyPath)) }

    /// A call of a function by its name in Core Data or in format strings: `sum:`, `length:`.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        self.init(.function(name, parameters.map(Self.expression)))
    }

    /// A list of values, such as the right side of IN.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(.list(subexpressions.map(Self.expression)))
    }

    /// The objects of a to-many relationship that satisfy a predicate, in which the variable is one
    /// of them.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String,
        predicate: NSPredicate
    ) {
        self.init(.subquery(expression, variable, predicate))
    }

    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression,
        falseExpression: NSExpression
    ) {
        self.init(.conditional(predicate, trueExpression, falseExpression))
    }

    /// The object for which the expression is evaluated: `SELF`.
    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.object) }

    private static func expression(_ value: Any) -> NSExpression {
        value as? NSExpression ?? NSExpression(forConstantValue: value)
    }

    // MARK: - What it is

    /// The kind of the expression; one of a format is a function, unless it has the form of another
    /// kind.
    open var expressionType: ExpressionType { form.type }

    /// The value of a constant; nil for other kinds.
    open var constantValue: Any? { if case .constant(let value) = form { value } else { nil } }

    /// The key path; empty for other kinds.
    open var keyPath: String { if case .keyPath(let path) = form { path } else { "" } }

    /// The name of the function; empty for other kinds.
    open var function: String { if case .function(let name, _) = form { name } else { "" } }

    /// The name of the variable, also of a subquery; empty for other kinds.
    open var variable: String {
        switch form {
        case .variable(let name), .subquery(_, let name, _): name
        default: ""
        }
    }

    /// The operands of a function; nil for other kinds.
    open var arguments: [NSExpression]? {
        if case .function(_, let arguments) = form { arguments } else { nil }
    }

    /// The elements of an aggregate, or the expression of a subquery's collection; nil for other
    /// kinds.
    open var collection: Any? {
        switch form {
        case .list(let elements): elements
        case .subquery(let collection, _, _): collection
        default: nil
        }
    }

    /// The predicate of a subquery or a conditional expression; nil for other kinds.
    open var predicate: NSPredicate? {
        switch form {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate
        default: nil
        }
    }

    /// The value of a conditional expression if its predicate is true; nil for other kinds.
    open var `true`: NSExpression? {
        if case .conditional(_, let value, _) = form { value } else { nil }
    }

    /// The value of a conditional expression if its predicate is false; nil for other kinds.
    open var `false`: NSExpression? {
        if case .conditional(_, _, let value) = form { value } else { nil }
    }

    /// The value of the expression for an object of a context, a dictionary or a single value; nil
    /// also if it cannot be computed.
    ///
    /// ``value(for:)`` throws the reason.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        (try? value(for: object)) ?? nil
    }

    /// The value of the expression for an object of a context, a dictionary or a single value.
    ///
    /// - Throws: an `NSError` for an expression that cannot be evaluated for the object.
    public func value(for object: Any?) throws -> Any? {
        try translating { () throws(LarderError) in
            let term = try BoundTerm(self)
            guard let queried = object as? any QueriedObject else {
                let plain = try PlainObject(object, for: term)
                return try plain.location.locating(self) { () throws(LarderError) in
                    try plain.value(of: term).anyValue
                }
            }
            return try queried.termLocation.locating(self) { () throws(LarderError) in
                try queried.value(of: term)
            }
        }
    }

    // MARK: - NSObject

    /// The expression as a format string.
    open override var description: String { form.text }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || description == other.description
    }

    open override var hash: Int { description.hashValue }
}
