import LarderModel
import LarderQuery

/// The view of a former schema of a fake store. In the objects that are read by their identifiers,
/// the name of the property has the version of the schema: `number 0.9.0`.
final class FakeFormerView: StoreView {
    let storeDescription: StoreDescription
    let knownNames: KnownNames?
    private let records: FakeStore.Records

    init(_ schema: Schema, _ store: StoreDescription, _ records: FakeStore.Records) {
        var description = store
        (description.schema, description.fingerprint) = (schema, schema.fingerprint)
        storeDescription = description
        knownNames = KnownNames(schema)
        self.records = records
    }

    func plan(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> any QueryPlan {
        records.state.withLock { $0.plans += 1 }
        guard storeDescription.schema.entity(named: query.entityName) != nil else {
            throw LarderError(.unknownEntity, "unknown entity")
        }
        if let items = FakeItems(query) { return FakePlan(items, records) }
        return FakePlan(words: ["rows", "1"])
    }

    func reader(over reader: any StoreReader) -> any StoreReader {
        FakeFormerReader(reader, version: storeDescription.schema.version)
    }
}

private final class FakeFormerReader: StoreReader {
    private let base: any StoreReader
    private let version: String

    init(_ base: any StoreReader, version: String) {
        self.base = base
        self.version = version
    }

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch] {
        var batches = try base.objects(identifiers, properties: properties, budget: budget)
        for batch in batches.indices {
            for column in batches[batch].columns.indices {
                batches[batch].columns[column].name += " \(version)"
            }
        }
        return batches
    }

    func stamp(of object: PersistentIdentifier, properties: [String]?) -> ObjectStamp? {
        base.stamp(of: object, properties: properties)
    }

    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget,
        workers: (any ReadWorkers)?
    ) throws(ReadFailure) -> any ResultCursor {
        try base.open(plan, parameters, budget: budget)
    }

    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> Explanation {
        try base.explain(plan, parameters, budget: budget)
    }

    func pinSnapshot() throws(LarderError) -> Int64 { try base.pinSnapshot() }
    func unpinSnapshot() { base.unpinSnapshot() }

    func history(
        _ request: HistoryPageRequest, budget: ReadBudget
    ) throws(ReadFailure) -> HistoryPage {
        try base.history(request, budget: budget)
    }

    func migrationSummary(
        to schema: Schema, budget: ReadBudget
    ) throws(ReadFailure) -> MigrationSummary {
        try base.migrationSummary(to: schema, budget: budget)
    }

    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport {
        try base.check(budget: budget)
    }

    func releaseMemory() { base.releaseMemory() }
    func setCacheBytes(_ bytes: Int) throws(LarderError) { try base.setCacheBytes(bytes) }
    func statistics() throws(LarderError) -> [Statistic] { try base.statistics() }
}
