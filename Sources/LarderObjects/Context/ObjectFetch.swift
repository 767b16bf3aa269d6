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
    /// Names of the properties to read; others are read when they are used. Nil reads attributes
    /// and to-one relationships, as does a fetch with relationships to prefetch.
    package var properties: [String]?
    /// The descriptor of which this is the translation, for stores that others write.
    package var source: (any Sendable)?
    /// The untranslated parts of the descriptor; nil if the store needs all of it translated.
    package var untranslated: Untranslated?

    /// The parts of a descriptor that only a store that others write can use. For objects with
    /// pending changes, the instances evaluate them.
    package struct Untranslated: Sendable {
        /// Makes the error of a use of the predicate in a query; nil if it is translated.
        package var predicateFailure: (@Sendable () -> LarderError)?
        /// Makes the error of a use of the order in a query; nil if it is translated.
        package var orderFailure: (@Sendable () -> LarderError)?
        package let matches: @Sendable (any ObjectOwner) throws(LarderError) -> Bool
        package let sorted: @Sendable ([any ObjectOwner]) -> [any ObjectOwner]

        package init(
            matches: @escaping @Sendable (any ObjectOwner) throws(LarderError) -> Bool,
            sorted: @escaping @Sendable ([any ObjectOwner]) -> [any ObjectOwner]
        ) {
            self.matches = matches
            self.sorted = sorted
        }
    }

    /// Whether the result has an order.
    package var isSorted: Bool { !sort.isEmpty || untranslated?.orderFailure != nil }

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
            arguments: arguments(in: store, isKnown: { $0.store == store.identifier }),
            limit: limit.map(Int64.init), offset: offset.map(Int64.init))
    }

    /// The rows to read from the first one on, so that the result is complete without some of them;
    /// nil for all. A program may pass any limit and offset.
    func rowsMax(leavingOut count: Int) -> Int? {
        limit?.addingClamped(offset ?? 0).addingClamped(count)
    }

    /// The arguments of the predicate. An identifier of no object that the predicate could be about
    /// matches nothing: a key of the store that no object has takes its place.
    ///
    /// - Parameter isKnown: Whether an object may have the identifier.
    package func arguments(
        in store: any ObjectStore, isKnown: (PersistentIdentifier) -> Bool
    ) -> [QueryArgument] {
        var targets: [Int: String] = [:]
        predicate?.collectTargets(from: entityName, in: store.schema, into: &targets)
        return arguments.enumerated().map { index, argument in
            argument.mapIdentifiers { identifier in
                let name = identifier.entityName
                let isPossible =
                    targets[index].map { store.schema.isKind(name, of: $0) }
                    ?? (store.schema.entity(named: name) != nil)
                if isPossible, isKnown(identifier) { return identifier }
                return PersistentIdentifier(
                    store: store.identifier,
                    entityName: isPossible ? name : targets[index] ?? entityName, key: .max)
            }
        }
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

extension QueryExpression {
    /// The entities of the objects with which arguments are compared, by the argument's index.
    fileprivate func collectTargets(
        from entityName: String, in schema: Schema, into targets: inout [Int: String]
    ) {
        if case .comparison(let comparison) = self {
            switch (comparison.left, comparison.right) {
            case (let path, .argument(let index)), (.argument(let index), let path):
                targets[index] = path.target(from: entityName, in: schema)
            default: break
            }
        }
        for child in children { child.collectTargets(from: entityName, in: schema, into: &targets) }
    }

    /// The entity of the object that the queried object, or a path from it, is.
    private func target(from entityName: String, in schema: Schema) -> String? {
        switch self {
        case .object: entityName
        case .keyPath(.object, let names):
            names.reduce(entityName) { name, step in
                guard let entity = name.flatMap(schema.entity(named:)) else { return nil }
                if let cast = schema.castDestination(named: step, of: entity) { return cast.name }
                guard case .relationship(let relationship)? = entity.property(named: step)
                else { return nil }
                return relationship.destination
            }
        default: nil
        }
    }
}

extension QueryArgument {
    fileprivate func mapIdentifiers(
        _ transform: (PersistentIdentifier) -> PersistentIdentifier
    ) -> QueryArgument {
        func mapped(_ value: Value) -> Value {
            if case .object(let identifier) = value {
                .object(transform(identifier))
            } else {
                value
            }
        }
        switch self {
        case .value(let value): return .value(mapped(value))
        case .list(let values): return .list(values.map(mapped))
        }
    }
}
