import Foundation

/// A predicate over transactions, with the logic of SQL: a comparison with a value that is nil is
/// neither true nor false, unless it asks for nil.
struct HistoryPredicate {
    private let predicate: Predicate<DefaultHistoryTransaction>
    /// The part of the predicate that the store evaluates. It selects every transaction that
    /// matches.
    let selection: StoreSelection

    /// The conditions that a store evaluates.
    struct StoreSelection {
        /// The positions of which all must be before a transaction.
        var after: [DefaultHistoryToken] = []
        /// Tokens in other parts of the predicate.
        var others: [DefaultHistoryToken] = []
        /// One of these; "" is no author.
        var authors: [String]?
        var since: Date?
        var until: Date?
        /// Whether all that the store selects matches.
        var isExact = true
    }

    init(_ predicate: Predicate<DefaultHistoryTransaction>) {
        self.predicate = predicate
        var selection = StoreSelection()
        predicate.expression.anySelect(&selection)
        self.selection = selection
    }

    func holds(for transaction: DefaultHistoryTransaction) throws -> Bool {
        let bindings = PredicateBindings((predicate.variable, transaction))
        return try predicate.expression.anyTruth(bindings) == true
    }
}

/// A part of a predicate over transactions that is true, false or, as nil, unknown.
protocol HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool?

    /// Adds what the store can select by.
    func select(_ selection: inout HistoryPredicate.StoreSelection)
}

extension HistoryExpression {
    func select(_ selection: inout HistoryPredicate.StoreSelection) { selection.isExact = false }
}

extension PredicateExpression where Output == Bool {
    fileprivate func anyTruth(_ bindings: PredicateBindings) throws -> Bool? {
        if let expression = self as? any HistoryExpression {
            return try expression.truth(bindings)
        }
        return try evaluate(bindings)
    }

    fileprivate func anySelect(_ selection: inout HistoryPredicate.StoreSelection) {
        if let expression = self as? any HistoryExpression {
            expression.select(&selection)
        } else {
            selection.isExact = false
        }
    }
}

extension PredicateExpressions.Conjunction: HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool? {
        let left = try lhs.anyTruth(bindings)
        if left == false { return false }
        let right = try rhs.anyTruth(bindings)
        if right == false { return false }
        return left == nil || right == nil ? nil : true
    }

    func select(_ selection: inout HistoryPredicate.StoreSelection) {
        lhs.anySelect(&selection)
        rhs.anySelect(&selection)
    }
}

extension PredicateExpressions.Disjunction: HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool? {
        let left = try lhs.anyTruth(bindings)
        if left == true { return true }
        let right = try rhs.anyTruth(bindings)
        if right == true { return true }
        return left == nil || right == nil ? nil : false
    }

    func select(_ selection: inout HistoryPredicate.StoreSelection) {
        var (left, right) = (
            HistoryPredicate.StoreSelection(), HistoryPredicate.StoreSelection()
        )
        lhs.anySelect(&left)
        rhs.anySelect(&right)
        selection.others += left.after + left.others + right.after + right.others
        selection.isExact = false
        // One of the authors of both sides.
        if let first = left.authors, let second = right.authors {
            selection.intersect(authors: first + second)
        }
    }
}

extension PredicateExpressions.Negation: HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool? {
        try wrapped.anyTruth(bindings).map { !$0 }
    }

    func select(_ selection: inout HistoryPredicate.StoreSelection) {
        var part = HistoryPredicate.StoreSelection()
        wrapped.anySelect(&part)
        selection.others += part.after + part.others
        selection.isExact = false
    }
}

extension PredicateExpressions.Equal: HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool? {
        let (left, right) = (try lhs.evaluate(bindings), try rhs.evaluate(bindings))
        if isUnknown(left, lhs, right, rhs) { return nil }
        return left == right
    }

    func select(_ selection: inout HistoryPredicate.StoreSelection) {
        guard let (property, value) = comparison(lhs, rhs) ?? comparison(rhs, lhs),
            property == \DefaultHistoryTransaction.author
        else {
            selection.isExact = false
            return
        }
        if value == nil {
            selection.intersect(authors: [""])
        } else if let author = value as? String, !author.isEmpty {
            selection.intersect(authors: [author])
        } else {
            selection.isExact = false
        }
    }
}

extension PredicateExpressions.NotEqual: HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool? {
        let (left, right) = (try lhs.evaluate(bindings), try rhs.evaluate(bindings))
        if isUnknown(left, lhs, right, rhs) { return nil }
        return left != right
    }
}

extension PredicateExpressions.Comparison: HistoryExpression {
    func truth(_ bindings: PredicateBindings) throws -> Bool? {
        let (left, right) = (try lhs.evaluate(bindings), try rhs.evaluate(bindings))
        guard let first = left as? DefaultHistoryToken, let second = right as? DefaultHistoryToken
        else { return try evaluate(bindings) }
        // Transactions are compared with a position in their own store.
        let isFlipped = path(of: rhs) == \DefaultHistoryTransaction.token
        guard isFlipped || path(of: lhs) == \DefaultHistoryTransaction.token,
            let (token, store) = try transaction(isFlipped ? rhs : lhs, bindings)
        else { return try evaluate(bindings) }
        let position = (isFlipped ? first : second).position(in: store)
        let own = token.position(in: store)
        let (a, b) = isFlipped ? (position, own) : (own, position)
        return switch op {
        case .lessThan: a < b
        case .lessThanOrEqual: a <= b
        case .greaterThan: a > b
        case .greaterThanOrEqual: a >= b
        @unknown default: try evaluate(bindings)
        }
    }

    func select(_ selection: inout HistoryPredicate.StoreSelection) {
        if let (property, value) = comparison(lhs, rhs) {
            select(property, value, isAfter: op == .greaterThan || op == .greaterThanOrEqual)
        } else if let (property, value) = comparison(rhs, lhs) {
            select(property, value, isAfter: op == .lessThan || op == .lessThanOrEqual)
        } else {
            selection.isExact = false
        }

        func select(_ property: AnyKeyPath, _ value: Any?, isAfter: Bool) {
            let isStrict = op == .lessThan || op == .greaterThan
            switch value {
            case let token as DefaultHistoryToken
            where property == \DefaultHistoryTransaction.token && isAfter && isStrict:
                selection.after.append(token)
            case let time as Date where property == \DefaultHistoryTransaction.timestamp:
                if isAfter {
                    selection.since = max(selection.since ?? time, time)
                    if isStrict { selection.isExact = false }
                } else if isStrict {
                    selection.until = min(selection.until ?? time, time)
                } else {
                    selection.isExact = false
                }
            default: selection.isExact = false
            }
        }
    }
}

extension HistoryPredicate.StoreSelection {
    mutating func intersect(authors: [String]) {
        guard let known = self.authors else {
            self.authors = authors
            return
        }
        self.authors = known.filter(authors.contains)
        // An empty list selects all authors.
        if self.authors?.isEmpty == true {
            self.authors = nil
            isExact = false
        }
    }
}

// MARK: - Operands

private protocol ConstantExpression { var constant: Any? { get } }

extension PredicateExpressions.Value: ConstantExpression {
    fileprivate var constant: Any? {
        let any: Any = value
        if let optional = any as? any OptionalValue { return optional.wrapped }
        return any
    }
}

extension PredicateExpressions.NilLiteral: ConstantExpression {
    fileprivate var constant: Any? { nil }
}

private protocol OptionalValue { var wrapped: Any? { get } }

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self.map { $0 as Any } }
}

private protocol PropertyExpression {
    var property: AnyKeyPath? { get }
    func owner(_ bindings: PredicateBindings) throws -> Any
}

extension PredicateExpressions.KeyPath: PropertyExpression {
    fileprivate var property: AnyKeyPath? {
        root is PredicateExpressions.Variable<DefaultHistoryTransaction> ? keyPath : nil
    }

    fileprivate func owner(_ bindings: PredicateBindings) throws -> Any {
        try root.evaluate(bindings)
    }
}

private func path(of expression: Any) -> AnyKeyPath? {
    (expression as? any PropertyExpression)?.property
}

/// The token and the store of the transaction whose property an expression is.
private func transaction(
    _ expression: Any, _ bindings: PredicateBindings
) throws -> (DefaultHistoryToken, store: String)? {
    let owner = try (expression as? any PropertyExpression)?.owner(bindings)
    guard let transaction = owner as? DefaultHistoryTransaction else { return nil }
    return (transaction.token, transaction.storeIdentifier)
}

/// A property of the transaction, and the constant that it is compared with.
private func comparison(_ left: Any, _ right: Any) -> (property: AnyKeyPath, constant: Any?)? {
    guard let property = path(of: left), let constant = right as? any ConstantExpression else {
        return nil
    }
    return (property, constant.constant)
}

/// Whether one of two values is nil, and no constant.
private func isUnknown<Output>(
    _ left: Output, _ leftExpression: Any, _ right: Output, _ rightExpression: Any
) -> Bool {
    func isNil(_ value: Output) -> Bool {
        guard let optional = value as? any OptionalValue else { return false }
        return optional.wrapped == nil
    }
    switch (isNil(left), isNil(right)) {
    case (true, false): return !(leftExpression is any ConstantExpression)
    case (false, true): return !(rightExpression is any ConstantExpression)
    default: return false
    }
}
