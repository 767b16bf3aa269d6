import FoundationEssentials
import LarderModel

extension PredicateExpressions.Variable: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        guard let term = translation.binding(of: self) else {
            throw unsupported("a variable of another predicate")
        }
        return term
    }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        .captured(value)
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Wrapped?> {
        .captured(nil)
    }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        switch try translation.term(root) {
        case .captured(let value):
            .captured(value[keyPath: keyPath as Swift.KeyPath<Root.Output, Output>])
        case .computed(let expression):
            .computed(try property(of: expression, &translation))
        }
    }

    private func property(
        of root: QueryExpression, _ translation: inout Translation
    ) throws(LarderError) -> QueryExpression {
        if let kind { return try measure(kind, of: root) }
        // A raw value is stored as it is.
        if let type = Root.Output.self as? any RawRepresentable.Type, type.isRawValue(keyPath) {
            return root
        }
        guard let entity = Root.Output.self as? any QueryableEntity.Type else {
            if case .keyPath(let base, let steps) = root,
                let names = translation.entity.members(at: keyPath)
            {
                return translation.documentMember(base, steps + names)
            }
            throw unsupported(
                "\(keyPath.words), a property of \(Root.Output.self)",
                hint: "use a property of an entity, or the count of a collection")
        }
        switch entity.property(at: keyPath) {
        case .identifier: return root
        case .named(let name): return try root.property(named: name)
        case nil:
            throw unsupported(
                "\(keyPath.words), which \(entity.entityName) does not declare")
        }
    }

    /// `count` and `isEmpty` of a string or of a to-many relationship.
    private func measure(
        _ kind: CommonKeyPathKind, of root: QueryExpression
    ) throws(LarderError) -> QueryExpression {
        let isString = Root.Output.self == String.self
        guard isString || Root.Output.self is any EntityCollection.Type else {
            throw unsupported("\(keyPath.words) of a stored \(Root.Output.self)")
        }
        switch kind {
        case .collectionCount:
            return isString ? .function(.length, [root]) : .collection(.count, root)
        case .collectionIsEmpty:
            if isString { return .compare(root, .equal, .constant(.string(""))) }
            return .compare(.collection(.count, root), .equal, .constant(.int(0)))
        case .collectionFirst, .bidirectionalCollectionLast:
            throw unsupported("\(keyPath.words) of a to-many relationship")
        }
    }
}

extension QueryExpression {
    /// A property of the object that this expression is.
    func property(named name: String) throws(LarderError) -> QueryExpression {
        switch self {
        case .object, .variable: return .keyPath(self, [name])
        case .keyPath(let base, let steps): return .keyPath(base, steps + [name])
        default: throw unsupported("the property \(name) of a computed object")
        }
    }
}

extension RawRepresentable {
    /// Whether a key path is that of `rawValue`. The key paths of two modules may not be equal, so
    /// the values of all cases are compared.
    fileprivate static func isRawValue(_ keyPath: AnyKeyPath) -> Bool {
        guard let keyPath = keyPath as? Swift.KeyPath<Self, RawValue> else { return false }
        if keyPath == \Self.rawValue { return true }
        guard let type = Self.self as? any CaseIterable.Type else { return false }
        let cases = type.anyCases.compactMap { $0 as? Self }
        return !cases.isEmpty
            && cases.allSatisfy { "\($0[keyPath: keyPath])" == "\($0.rawValue)" }
    }
}

extension CaseIterable {
    fileprivate static var anyCases: [Any] { Array(allCases) }
}

extension AnyKeyPath {
    /// The key path as in the source code, if the compiler recorded it.
    fileprivate var words: String { "the key path \(debugDescription)" }
}
