import LarderModel

/// The values of a uniqueness constraint: at most one object of the entity has them.
struct UniqueKey: Hashable, Sendable {
    /// A uniqueness constraint and the entity that declares it.
    struct Constraint: Hashable, Sendable {
        let entityName: String
        let properties: [String]

        /// A constraint that an entity has or inherits. Keys of two entities are equal only if they
        /// name the one that declares the constraint.
        init(_ properties: [String], of entity: Entity, in schema: Schema) {
            var owner = entity
            while let parent = owner.parent.flatMap({ schema.entity(named: $0) }),
                parent.uniquenessConstraints.contains(properties)
            {
                owner = parent
            }
            entityName = owner.name
            self.properties = properties
        }
    }

    let constraint: Constraint
    /// One value for each property of the constraint.
    let values: [Value]

    /// The approximate memory of the key in a cache, in bytes.
    var byteCount: Int {
        values.reduce(400) { count, value in
            switch value {
            case .string(let text), .json(let text): count + text.utf8.count
            case .data(let data): count + data.count
            case .url(let url): count + url.absoluteString.utf8.count
            default: count + 32
            }
        }
    }
}

extension UniqueKey {
    /// The number of keys of one request.
    static func keysMax(of constraint: Constraint) -> Int {
        constraint.properties.count == 1
            ? 5_000 : max(1, 250 / constraint.properties.count)
    }

    /// A fetch of the objects that have one of these keys, which are of the same constraint.
    static func fetch(
        _ keys: [UniqueKey], of constraint: Constraint
    ) -> (fetch: Fetch, parameters: QueryParameters) {
        let names = constraint.properties
        let predicate: QueryExpression
        let arguments: [QueryArgument]
        if names.count == 1 {
            predicate = .comparison(Comparison(.keyPath(names[0]), .in, .argument(0)))
            arguments = [.list(keys.map { $0.values[0] })]
        } else {
            predicate = .or(
                keys.indices.map { index in
                    .and(
                        names.indices.map {
                            .comparison(
                                Comparison(
                                    .keyPath(names[$0]), .equal,
                                    .argument(index * names.count + $0)))
                        })
                })
            arguments = keys.flatMap { $0.values.map { .value($0) } }
        }
        let fetch = Fetch(
            constraint.entityName, where: .tree(predicate),
            selection: .columns(names.map { QueryColumn(.tree(.keyPath($0)), name: $0) }))
        return (fetch, QueryParameters(arguments: arguments))
    }
}
