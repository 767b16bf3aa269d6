import LarderModel

extension QueryTyper {
    /// The prefetches of a fetch. Adds the lists of to-many steps to the columns of its rows.
    func prefetch(
        _ fetch: Fetch, _ columns: inout [TypedQuery.OutputColumn]
    ) throws(LarderError) -> [TypedQuery.Prefetch] {
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
        _ columns: inout [TypedQuery.OutputColumn]
    ) throws(LarderError) -> [TypedQuery.Prefetch] {
        var result: [TypedQuery.Prefetch] = []
        for (name, further) in paths.steps {
            guard case .relationship(let relationship) = try entity.existingProperty(named: name)
            else {
                throw LarderError(
                    .wrongType,
                    "\(entity.name).\(name) is an attribute; only relationships can be prefetched")
            }
            if relationship.isToMany {
                columns.append(
                    TypedQuery.OutputColumn(name: name, content: .list(relationship)))
            }
            guard let column = columns.firstIndex(where: { $0.name == name }) else {
                preconditionFailure("objects have a column for each to-one relationship")
            }
            let keyPath = prefix + name
            let typer = try QueryTyper(
                entityName: relationship.destination, conversion: conversion)
            result.append(
                TypedQuery.Prefetch(
                    keyPath: keyPath, column: column,
                    query: try typer.related(along: further, after: keyPath + ".")))
        }
        return result
    }

    /// A query for whole objects by their keys.
    private func related(
        along paths: PrefetchPaths, after prefix: String
    ) throws(LarderError) -> TypedQuery {
        guard prefix.utf8.count <= Limits.keyPathStepsMax * (Limits.nameBytesMax + 1) else {
            throw LarderError(
                .resourceExhausted, "a key path must have 1 to \(Limits.keyPathStepsMax) steps")
        }
        var columns = try objectColumns()
        let prefetch = try prefetch(paths, after: prefix, &columns)
        return TypedQuery(
            verb: .fetch, entity: entity, includesSubentities: includesSubentities,
            predicate: .constant(true), columns: columns,
            order: [TypedQuery.Order(key: .operand(ownIdentifier))], givesIdentity: true,
            prefetch: prefetch)
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
