import LarderModel

/// Makes a plan of a query: types it, and lowers it to the tables of the store.
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
        let typer = try QueryTyper(
            entityName: query.entityName, conversion: converter.conversion,
            includesSubentities: query.includesSubentities, source: ExpressionSource(parameters))
        return try plan(typer.query(query), typer)
    }

    /// The plan of a change by predicate or of a condition, and the new values of the assigned
    /// properties.
    ///
    /// - Parameter name: The role of the predicate, for messages.
    func plan(
        _ selection: ObjectSelection, _ assignments: [PropertyAssignment],
        _ parameters: QueryParameters, named name: String = "predicate"
    ) throws(LarderError) -> (plan: ReadPlan, selection: TypedSelection) {
        let typer = try QueryTyper(
            entityName: selection.entityName, conversion: converter.conversion,
            includesSubentities: selection.includesSubentities,
            source: ExpressionSource(parameters))
        let typed = try typer.selection(selection, named: name, assignments)
        return (try plan(typed.query, typer), typed)
    }

    private func plan(
        _ query: TypedQuery, _ typer: QueryTyper
    ) throws(LarderError) -> ReadPlan {
        let source = typer.source
        var converter = converter
        converter.conversion.sourceMaps = source.sourceMaps
        let lowered = try QueryLowering(query.entity, layout, converter).query(query)
        return ReadPlan(
            lowered, converter: converter, dependsOnArguments: source.dependsOnArguments,
            argumentCount: source.hasTree ? nil : source.argumentCount,
            givenValues: typer.givenValues, nodeCount: source.nodeCount)
    }
}
