import LarderModel

/// From the query as it arrives to a plan that can be asked: parses format strings and resolves.
struct QueryPlanner {
    let layout: Layout
    let converter: ValueConverter

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> ReadPlan {
        let resolver = try QueryResolver(
            entityName: query.entityName, layout: layout, converter: converter,
            includesSubentities: query.includesSubentities,
            source: ExpressionSource(parameters))
        let resolved: ResolvedQuery =
            switch query {
            case .fetch(let fetch): try resolver.fetch(fetch)
            case .count(_, let predicate, _): try resolver.count(where: predicate)
            case .aggregate(let aggregate): try resolver.aggregate(aggregate)
            }
        let source = resolver.source
        var converter = converter
        converter.places = source.places
        return ReadPlan(
            resolved, converter: converter, dependsOnArguments: source.dependsOnArguments,
            argumentCount: source.hasTree ? nil : source.argumentCount)
    }
}
