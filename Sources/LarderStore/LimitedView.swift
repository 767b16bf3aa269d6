import LarderModel
import LarderQuery
import LarderSQL

/// A store as a user with limited rights sees it: without the names that are hidden, and without
/// the objects that the rules leave out.
///
/// Names are typed against the schema without the hidden ones, and lowered to the tables of the
/// whole schema. ``RowRules`` adds the rules for reading to each table of a query;
/// ``ChangeRights`` and ``RightsCheck`` check changes.
final class LimitedView: StoreView {
    let storeDescription: StoreDescription
    let changeRights: ChangeRights

    /// - Parameter former: The view of the clients of a former schema, whose names the rights have;
    ///   nil for clients of the current one.
    /// - Throws: an error of a rule that does not fit the schema.
    init(
        _ rights: Rights, of store: Store, for former: (any StoreView)?
    ) throws(LarderError) {
        var description = store.storeDescription
        description.schema = rights.schema
        // It says which version of the schema the client has, and not what the user may see of it.
        if let former { description.fingerprint = former.storeDescription.fingerprint }
        storeDescription = description
        let formerNames = store.layout.formerNames.filter {
            rights.names?.contains($0.value) ?? true
        }
        let planner = QueryPlanner(
            layout: store.layout,
            converter: ValueConverter(
                storeIdentifier: description.identifier, schema: rights.schema,
                clock: store.options.clock, formerNames: formerNames),
            rules: try RowRules(rights, store.layout, store.valueConverter))
        changeRights = ChangeRights(rights, planner)
    }

    var planner: QueryPlanner { changeRights.planner }
    var knownNames: KnownNames? { changeRights.limits.names }
    var rights: Rights? { changeRights.limits }

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> any QueryPlan {
        try planner.plan(query, parameters)
    }

    func reader(over reader: any StoreReader) -> any StoreReader {
        guard let reader = reader as? Reader else { preconditionFailure("a reader of this store") }
        return Reader(over: reader, planner.layout, planner.converter, planner.rules)
    }
}
