import LarderModel

/// From the query as it arrives to a plan that can be asked: parses format strings and resolves.
struct QueryPlanner {
    let layout: Layout
    let converter: ValueConverter

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> ReadPlan {
        let resolver = try QueryResolver(
            entityName: query.entityName, layout: layout, converter: converter)
        var source = ExpressionSource(parameters)
        let resolved: ResolvedQuery
        switch query {
        case .fetch(let fetch): resolved = try resolver.fetch(fetch, &source)
        case .count(_, let predicate):
            resolved = try resolver.count(where: try source.predicate(predicate))
        case .aggregate(let aggregate): resolved = try resolver.aggregate(aggregate, &source)
        }
        return ReadPlan(
            resolved, converter: converter, dependsOnArguments: source.dependsOnArguments,
            argumentCount: source.hasTree ? nil : source.argumentCount)
    }
}
