import LarderModel

extension QueryResolver {
    /// The prefetches of a fetch. Adds the lists of to-many steps to the columns of its rows.
    func prefetch(
        _ fetch: Fetch, _ columns: inout [ResolvedQuery.OutputColumn]
    ) throws(LarderError) -> [PlanPrefetch] {
        guard !fetch.prefetch.isEmpty else { return [] }
        guard fetch.selection == .objects else {
            throw LarderError(
                .unsupported, "only a fetch of whole objects prefetches others",
                hint: "select key paths instead, such as category.name")
        }
        var paths = PrefetchPaths()
        for text in fetch.prefetch {
            paths.insert(text.split(separator: ".", omittingEmptySubsequences: false)[...])
        }
        guard paths.stepCount <= Limits.prefetchedRelationshipsMax else {
            throw LarderError(
                .resourceExhausted,
                "a fetch prefetches at most \(Limits.prefetchedRelationshipsMax) relationships")
        }
        return try prefetch(paths, after: "", &columns)
    }

    private func prefetch(
        _ paths: PrefetchPaths, after prefix: String,
        _ columns: inout [ResolvedQuery.OutputColumn]
    ) throws(LarderError) -> [PlanPrefetch] {
        var result: [PlanPrefetch] = []
        for (name, further) in paths.steps {
            guard
                case .relationship(let relationship) = try Self.property(named: name, of: entity)
            else {
                throw LarderError(
                    .wrongType,
                    "\(entity.name).\(name) is an attribute; only relationships can be prefetched")
            }
            if relationship.isToMany { columns.append(list(of: relationship)) }
            guard let column = columns.firstIndex(where: { $0.name == name }) else {
                preconditionFailure("objects have a column for each to-one relationship")
            }
            let keyPath = prefix + name
            let resolver = try QueryResolver(
                entityName: relationship.destination, layout: layout, converter: converter)
            let query = try resolver.related(along: further, after: keyPath + ".")
            var writer = SQLWriter(QueryParameters(), converter)
            result.append(
                PlanPrefetch(
                    keyPath: keyPath, column: column, query: query,
                    sql: try writer.statementByKeys(query)))
        }
        return result
    }

    /// A query for whole objects by their keys.
    private func related(
        along paths: PrefetchPaths, after prefix: String
    ) throws(LarderError) -> ResolvedQuery {
        guard prefix.utf8.count <= Limits.keyPathStepsMax * (Limits.nameBytesMax + 1) else {
            throw LarderError(
                .resourceExhausted, "a key path must have 1 to \(Limits.keyPathStepsMax) steps")
        }
        var columns = try objectColumns()
        let prefetch = try prefetch(paths, after: prefix, &columns)
        return ResolvedQuery(
            verb: .fetch, entityName: entity.name, sources: rootScope.sources,
            predicate: .yes, hasIdentity: true, hasEntity: includesSubentities, columns: columns,
            order: [ResolvedQuery.Order(key: .operand(.column(rootColumn)))], prefetch: prefetch)
    }
}

/// Key paths as a tree of their common prefixes, so that each step is read once.
private struct PrefetchPaths {
    private(set) var steps: [(name: String, further: PrefetchPaths)] = []

    var stepCount: Int { steps.reduce(0) { $0 + 1 + $1.further.stepCount } }

    mutating func insert(_ names: ArraySlice<Substring>) {
        guard let name = names.first else { return }
        let index =
            steps.firstIndex { $0.name == name }
            ?? {
                steps.append((String(name), PrefetchPaths()))
                return steps.count - 1
            }()
        steps[index].further.insert(names.dropFirst())
    }
}
