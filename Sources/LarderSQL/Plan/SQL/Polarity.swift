/// The form in which a predicate is written; see ``SQLWriter``.
package enum Polarity {
    /// SQL's true means true; its false and its unknown mean false.
    case positive
    /// SQL's true means that the predicate is not true.
    case negated

    var opposite: Polarity { self == .positive ? .negated : .positive }

    /// A predicate that has this value for all rows.
    func always(_ bool: Bool) -> WrittenPredicate { .always(written(bool)) }

    /// The value as SQL has it in this form.
    package func written(_ bool: Bool) -> Bool { (self == .positive) == bool }
}
