public import Foundation
internal import LarderModel

/// A condition for objects, as a format string, a comparison, a compound of others, or a closure.
///
///     NSPredicate(format: "name == %@ AND articles.@count > %d", name, 5)
///
/// A predicate is made without an error. A mistake in its format or its values is the error of the
/// fetch or the evaluation that uses it; ``init(parsing:argumentArray:)`` throws it at once.
open class NSPredicate: NSObject {
    package let form: PredicateForm

    package init(_ form: PredicateForm) { self.form = form }

    /// A predicate of Core Data's format, with values in place of `%@`, `%d`, `%f` and so on, and
    /// key paths in place of `%K`. A value may be an expression.
    public convenience init(format predicateFormat: String, _ args: Any?...) {
        self.init(PredicateForm(format: predicateFormat, args))
    }

    /// A predicate of a format that has the elements of an array in place of `%@` and `%K`.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(PredicateForm(format: predicateFormat, arguments ?? []))
    }

    /// A predicate of Core Data's format.
    ///
    /// - Throws: the error in the format, with its column.
    public convenience init(
        parsing predicateFormat: String, argumentArray arguments: [Any] = []
    ) throws {
        self.init(PredicateForm(format: predicateFormat, arguments))
        if case .failed(let error, _) = form { throw NSError.coreData(error) }
    }

    /// A predicate that is always true, or never.
    public convenience init(value: Bool) { self.init(.value(value)) }

    /// A predicate for objects in memory. A fetch with it is an error.
    public convenience init(
        block: @escaping (_ evaluatedObject: Any?, _ bindings: [String: Any]?) -> Bool
    ) {
        self.init(.block(block))
    }

    /// The predicate with values in place of its variables.
    open func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        NSPredicate(.substituted(self, variables))
    }

    // MARK: - Evaluation

    /// Whether an object satisfies the predicate: an object of a context with its changes, a
    /// dictionary, or a single value, which is `SELF`.
    ///
    /// False also if the predicate cannot be evaluated; ``holds(for:substitutionVariables:)``
    /// throws the reason.
    open func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether an object satisfies the predicate with values in place of its variables.
    open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        (try? holds(for: object, substitutionVariables: bindings)) ?? false
    }

    /// Whether an object satisfies the predicate, as ``evaluate(with:)`` returns it.
    ///
    /// - Throws: an `NSError` for a predicate with a mistake, and for one that names what the
    ///   object does not have.
    public func holds(
        for object: Any?, substitutionVariables bindings: [String: Any]? = nil
    ) throws -> Bool {
        try translating { () throws(LarderError) in
            try form.holds(for: object, bindings, of: self)
        }
    }

    // MARK: - NSObject

    /// The predicate as a format string with its values. That of a format with an error is the
    /// format.
    open var predicateFormat: String { form.text(of: self) }

    open override var description: String { predicateFormat }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        if self === other { return true }
        return !form.hasBlock && !other.form.hasBlock && predicateFormat == other.predicateFormat
    }

    open override var hash: Int {
        form.hasBlock ? ObjectIdentifier(self).hashValue : predicateFormat.hashValue
    }
}
