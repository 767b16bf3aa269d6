import LarderModel
import LarderQuery

/// Makes a plan of a query: types it, and lowers it to the tables of the store.
package final class QueryPlanner: Sendable {
    package let layout: Layout
    package let converter: ValueConverter
    /// nil if the user may see all objects.
    package let rules: RowRules?

    package init(layout: Layout, converter: ValueConverter, rules: RowRules? = nil) {
        self.layout = layout
        self.converter = converter
        self.rules = rules
    }

    package func plan(
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
    /// - Parameters:
    ///   - name: The role of the predicate, for messages.
    ///   - right: The right that the user must have for the selected objects; nil for a condition.
    package func plan(
        _ selection: ObjectSelection, _ assignments: [PropertyAssignment],
        _ parameters: QueryParameters, named name: String = "predicate",
        for right: EntityRights.Right?
    ) throws(LarderError) -> (plan: ReadPlan, selection: TypedSelection) {
        let typer = try QueryTyper(
            entityName: selection.entityName, conversion: converter.conversion,
            includesSubentities: selection.includesSubentities,
            source: ExpressionSource(parameters))
        let typed = try typer.selection(selection, named: name, assignments)
        return (try plan(typed.query, typer, for: right), typed)
    }

    private func plan(
        _ query: TypedQuery, _ typer: QueryTyper, for right: EntityRights.Right? = nil
    ) throws(LarderError) -> ReadPlan {
        let source = typer.source
        var converter = converter
        converter.conversion.sourceMaps = source.sourceMaps
        let lowering = QueryLowering(query.entity, layout, converter, rules)
        var lowered = try lowering.query(query)
        if let right {
            lowered.predicate = lowered.predicate.and(
                try lowering.visibility(of: query.entity, alias: 0, for: right))
        }
        return ReadPlan(
            lowered, converter: converter, source: source, givenValues: typer.givenValues)
    }

    /// Selects, among some objects of an entity, the ones for which the user does not have a right,
    /// by the rules alone; nil if the user has it for all objects.
    package func violations(
        _ right: EntityRights.Right, of entityName: String
    ) throws(LarderError) -> KeyStatement? {
        let entity = try layout.schema.existingEntity(named: entityName)
        guard let rules, rules.restriction(right, of: entity) != nil else { return nil }
        let lowering = QueryLowering(entity, layout, converter, rules)
        var holds = try lowering.visibility(of: entity, alias: 0, for: right)
        if layout.kinds(inTableOf: entity) != nil {
            let kind = try lowering.entityColumn(of: lowering.root)
            holds = .and([.isKind(kind, layout.concreteNames(of: entity)), holds])
        }
        let query = ResolvedQuery(
            verb: .fetch, entityName: entityName, sources: lowering.rootClause.sources,
            predicate: .not(holds), hasIdentity: true, columns: [])
        var writer = SQLWriter(QueryParameters(), converter)
        return try KeyStatement(writer.statementByKeys(query), converter)
    }
}
