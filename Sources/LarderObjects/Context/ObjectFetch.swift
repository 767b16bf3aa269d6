package import LarderModel

/// A query for objects of a context.
package struct ObjectFetch: Sendable {
    package var entityName: String
    package var predicate: QueryExpression?
    package var arguments: [QueryArgument] = []
    package var sort: [SortKey] = []
    package var limit: Int?
    package var offset: Int?
    /// Whether the result is that of a store in which the changes are saved.
    package var includesPendingChanges = true
    package var includesSubentities = true
    /// Names of relationships whose objects are read at once.
    package var prefetch: [String] = []
    /// The descriptor of which this is the translation, for stores that others write.
    package var source: (any Sendable)?

    package init(_ entityName: String) { self.entityName = entityName }

    /// The query of a store. Temporary identifiers are unknown to it.
    package func query(_ selection: Fetch.Selection, prefetch: [String] = []) -> Query {
        .fetch(
            Fetch(
                entityName, where: predicate.map { .tree($0) }, sort: sort, selection: selection,
                prefetch: prefetch, includesSubentities: includesSubentities))
    }

    var countQuery: Query {
        .count(
            entityName: entityName, predicate: predicate.map { .tree($0) },
            includesSubentities: includesSubentities)
    }

    func parameters(
        limit: Int?, offset: Int?, _ store: any ObjectStore
    ) -> QueryParameters {
        QueryParameters(
            arguments: arguments.map { $0.withoutTemporaryIdentifiers(in: store) },
            limit: limit.map(Int64.init), offset: offset.map(Int64.init))
    }

    /// Whether the result may depend on values of other objects than its own.
    package var readsOtherObjects: Bool { expressions.contains(where: \.readsOtherObjects) }

    /// The names of the properties on which the result depends.
    var names: Set<String> { Set(expressions.flatMap(\.names)) }

    private var expressions: [QueryExpression] {
        let sortTerms = sort.compactMap { key in
            if case .tree(let tree) = key.term { tree } else { nil }
        }
        return [predicate].compactMap { $0 } + sortTerms
    }
}

extension QueryExpression {
    fileprivate var readsOtherObjects: Bool {
        switch self {
        case .keyPath(_, let names): names.count > 1
        case .collection, .subquery: true
        default: children.contains(where: \.readsOtherObjects)
        }
    }

    fileprivate var names: [String] {
        if case .keyPath(_, let names) = self { return names }
        return children.flatMap(\.names)
    }
}

extension QueryArgument {
    /// The same value for a store: it has no object with a temporary identifier, so another
    /// identifier of no object takes its place.
    fileprivate func withoutTemporaryIdentifiers(in store: any ObjectStore) -> QueryArgument {
        func replaced(_ value: Value) -> Value {
            guard case .object(let identifier) = value, identifier.isTemporary else { return value }
            return .object(
                PersistentIdentifier(
                    store: store.identifier, entityName: identifier.entityName, key: .max))
        }
        switch self {
        case .value(let value): return .value(replaced(value))
        case .list(let values): return .list(values.map(replaced))
        }
    }
}
