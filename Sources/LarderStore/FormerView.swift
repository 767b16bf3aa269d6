import LarderModel
import LarderQuery
import LarderSQL
import Synchronization

/// A store as clients of a former schema see it.
///
/// A migration that only adds to a schema leaves the tables and columns as they are that the schema
/// had, except for indexes. So queries are planned with the former layout, and read the same
/// tables. Change sets are checked with the former schema, and then executed with the current one.
final class FormerView: StoreView {
    let storeDescription: StoreDescription
    let knownNames: KnownNames?
    private let planner: QueryPlanner
    private let writing = Mutex<WritingSchema?>(nil)

    /// - Parameter text: The schema as canonical JSON.
    /// - Returns: nil if the text is damaged.
    init?(_ text: String, of store: Store) {
        guard let schema = try? SchemaFile.schema(parsing: text) else { return nil }
        let names = KnownNames(schema)
        var description = store.storeDescription
        (description.schema, description.fingerprint) = (schema, names.fingerprint)
        let formerNames = store.layout.formerNames.filter { names.contains($0.value) }
        storeDescription = description
        knownNames = names
        planner = QueryPlanner(
            layout: Layout(
                schema, formerNames: formerNames,
                presentSearchTables: Set(store.layout.searchTables)),
            converter: ValueConverter(
                storeIdentifier: description.identifier, schema: schema,
                clock: store.options.clock, formerNames: formerNames))
    }

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> any QueryPlan {
        try planner.plan(query, parameters)
    }

    func reader(over reader: any StoreReader) -> any StoreReader {
        guard let reader = reader as? Reader else { preconditionFailure("a reader of this store") }
        return Reader(over: reader, planner.layout, planner.converter, nil)
    }

    /// Checks that everything which a change set names is in the schema. Errors of single values
    /// are left to the check with the current schema, which has the same types and bounds.
    func check(
        _ set: ChangeSet, values: ValueCheck, _ conversions: Conversions
    ) throws(LarderError) {
        var check = try makeCheck(values, conversions)
        _ = try check.plan(set)
    }

    /// Checks a set that is read in parts.
    func check(
        reading changes: any ChangeSetReader, values: ValueCheck, _ conversions: Conversions
    ) throws(LarderError) {
        var check = try makeCheck(values, conversions)
        let options = try check.findSubjects(reading: changes)
        let error: LarderError?
        do throws(SQLError) {
            error = try check.plan(options, reading: changes) { _, _ in }
        } catch let failure {
            throw failure.larderError
        }
        if let error { throw error }
    }

    private func makeCheck(
        _ values: ValueCheck, _ conversions: Conversions
    ) throws(LarderError) -> ChangeSetCheck {
        let schema = try writingSchema()
        return ChangeSetCheck(
            schema, store: storeDescription.identifier, values: values, planner: planner,
            lastKeys: Array(repeating: 0, count: schema.entities.count), conversions)
    }

    private func writingSchema() throws(LarderError) -> WritingSchema {
        if let known = writing.withLock({ $0 }) { return known }
        let made = try WritingSchema(planner.layout, planner.converter)
        writing.withLock { $0 = made }
        return made
    }
}
