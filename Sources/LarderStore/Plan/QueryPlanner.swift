import LarderModel

/// Makes a plan of a query: parses its format strings and resolves its names.
final class QueryPlanner: Sendable {
    let layout: Layout
    let converter: ValueConverter

    init(layout: Layout, converter: ValueConverter) {
        self.layout = layout
        self.converter = converter
    }

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
        return readPlan(resolved, resolver)
    }

    /// The plan of a change by predicate or of a condition, and the new values of the assigned
    /// properties.
    ///
    /// - Parameter name: The role of the predicate, for messages.
    func plan(
        _ selection: ObjectSelection, _ assignments: [PropertyAssignment],
        _ parameters: QueryParameters, named name: String = "predicate"
    ) throws(LarderError) -> (plan: ReadPlan, resolved: ResolvedSelection) {
        let resolver = try QueryResolver(
            entityName: selection.entityName, layout: layout, converter: converter,
            includesSubentities: selection.includesSubentities,
            source: ExpressionSource(parameters))
        let resolved = try resolver.selection(selection, named: name, assignments)
        return (readPlan(resolved.query, resolver), resolved)
    }

    private func readPlan(_ query: ResolvedQuery, _ resolver: QueryResolver) -> ReadPlan {
        let source = resolver.source
        var converter = converter
        converter.sourceMaps = source.sourceMaps
        return ReadPlan(
            query, converter: converter, dependsOnArguments: source.dependsOnArguments,
            argumentCount: source.hasTree ? nil : source.argumentCount,
            givenValues: resolver.givenValues, nodeCount: source.nodeCount)
    }
}
