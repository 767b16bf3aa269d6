import LarderModel

/// From the query as it arrives to a plan that can be asked: parses format strings and resolves.
struct QueryPlanner {
    let layout: Layout
    let converter: ValueConverter

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> ReadPlan {
        var source = ExpressionSource(parameters)
        var predicate: QueryExpression?
        var having: QueryExpression?
        switch query {
        case .fetch(let fetch): predicate = try source.expression(fetch.predicate)
        case .count(_, let counted): predicate = try source.expression(counted)
        case .aggregate(let aggregate):
            predicate = try source.expression(aggregate.predicate)
            having = try source.expression(aggregate.having, name: "having")
        }
        let resolver = try QueryResolver(
            entityName: query.entityName, layout: layout, converter: converter,
            places: source.places)
        let resolved: ResolvedQuery =
            switch query {
            case .fetch(let fetch): try resolver.fetch(fetch, where: predicate)
            case .count: try resolver.count(where: predicate)
            case .aggregate(let aggregate):
                try resolver.aggregate(aggregate, where: predicate, having: having)
            }
        var converter = converter
        converter.places = source.places
        return ReadPlan(
            resolved, converter: converter, dependsOnArguments: source.dependsOnArguments,
            argumentCount: source.hasTree ? nil : source.argumentCount)
    }
}
