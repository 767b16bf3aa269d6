import FoundationEssentials
import LarderModel
import LarderSQL

/// Computes the derived attributes whose values a migration may change.
struct DerivedValueMigration {
    private let plan: MigrationPlan
    private let converter: ValueConverter
    private let connection: Connection
    private let report: (String) -> Void

    private static let table: SQL = "temp.\(name: "_derived")"

    init(
        _ plan: MigrationPlan, _ store: UUID, _ connection: Connection,
        _ report: @escaping (String) -> Void
    ) {
        self.plan = plan
        self.connection = connection
        self.report = report
        converter = ValueConverter(storeIdentifier: store, schema: plan.mapping.new)
    }

    func run() throws {
        let now = Date().timeIntervalSinceReferenceDate
        for derivation in plan.mapping.new.derivations where mayChange(derivation) {
            guard let entity = plan.mapping.new.entity(named: derivation.entityName),
                plan.mapping.origin(of: entity) != nil
            else { continue }
            report("computes \(derivation.qualifiedName)")
            try compute(derivation, of: entity, now)
        }
    }

    /// A derivation is unchanged if the old schema had the same one, and no value changes.
    private func mayChange(_ derivation: Derivation) -> Bool {
        guard plan.conversions.isEmpty, plan.links.isEmpty, plan.removedKinds.isEmpty,
            let entity = plan.mapping.new.entity(named: derivation.entityName),
            case .attribute(let former)? =
                plan.mapping.origin(of: derivation.attribute.name, in: entity)
        else { return true }
        return former.derivation != derivation.attribute.derivation
            || former.type != derivation.attribute.type
    }

    /// The values go to a temporary table first: a query whose rows change while it runs may return
    /// some of them twice.
    private func compute(_ derivation: Derivation, of entity: Entity, _ now: Double) throws {
        let plan = try DerivationPlan(
            derivation, isOfOneObject: false, layout: self.plan.new, converter: converter)
        try connection.execute(
            "CREATE TABLE \(Self.table) (key INTEGER PRIMARY KEY, value)")
        let insert = try connection.prepare("INSERT INTO \(Self.table) VALUES (?, ?)")
        let rows = try connection.prepare(plan.sql)
        try rows.bind(plan.values(key: nil, now: now))
        while try rows.step() {
            let value = try plan.stored(rows.value(at: DerivationPlan.computedColumn))
            if value == rows.value(at: DerivationPlan.storedColumn) { continue }
            try insert.run([.integer(rows.int64(at: DerivationPlan.keyColumn)), value])
        }
        rows.reset()
        let column = self.plan.new.column(for: derivation.attribute, of: entity)
        let table: SQL = "\(name: self.plan.new.table(for: entity))"
        try connection.execute(
            """
            UPDATE \(table) SET \(name: column) = computed.value FROM \(Self.table) AS computed \
            WHERE computed.key = \(table).\(name: Layout.keyColumn);
            DROP TABLE \(Self.table)
            """)
    }
}
