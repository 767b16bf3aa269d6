import LarderModel
import LarderSQL

extension MigrationPlan {
    /// The steps of the plan.
    ///
    /// - Parameter connection: A connection to the store, from which rows are counted; nil without
    ///   a store.
    func summary(of connection: Connection?) throws(SQLError) -> MigrationSummary {
        func rows(_ table: String) throws(SQLError) -> Int64? {
            try connection?.integer("SELECT count(*) FROM \(name: table)")
        }
        func rows(_ tables: [String]) throws(SQLError) -> Int64? {
            var sum: Int64? = connection == nil ? nil : 0
            for table in tables {
                let count = try rows(table)
                sum = count.flatMap { count in sum.map { $0 + count } }
            }
            return sum
        }
        var steps: [MigrationSummary.Step] = []
        for kind in removedKinds {
            steps.append(
                MigrationSummary.Step(
                    "removes the objects of \(kind.name)", rowCount: try rows(old.table(for: kind)),
                    isRewriting: true))
        }
        var rewritten: Int64 = 0
        for table in tables {
            let name = table.root.name
            switch table.method {
            case .create:
                steps.append(MigrationSummary.Step("creates the table of \(name)", rowCount: 0))
            case .rewrite:
                let count = try rows(table.sources)
                rewritten += count ?? 0
                steps.append(
                    MigrationSummary.Step(
                        "rewrites the table of \(name)", rowCount: count, isRewriting: true))
            case .alter(let alteration) where !alteration.droppedColumns.isEmpty:
                let count = try rows(table.sources)
                rewritten += count ?? 0
                steps.append(
                    MigrationSummary.Step(
                        "removes columns of the table of \(name)", rowCount: count,
                        isRewriting: true))
            case .alter(let alteration):
                guard alteration.changesDescription(table.name) else { continue }
                steps.append(
                    MigrationSummary.Step(
                        "changes the description of the table of \(name)", rowCount: 0))
            }
        }
        for table in droppedTables where !tables.contains(where: { $0.sources.contains(table) }) {
            steps.append(
                MigrationSummary.Step(
                    "removes the table of \(table)", rowCount: try rows(table), isRewriting: true))
        }
        for link in links {
            steps.append(
                MigrationSummary.Step(
                    "moves the links of \(link.name)", rowCount: try rows(link.sourceTables),
                    isRewriting: true))
        }
        steps += try indexSteps(rows) + searchSteps(rows)
        let total = try rows(old.roots.map(old.table)) ?? 0
        let pages = try connection?.integer("PRAGMA page_count") ?? 0
        let pageBytes = try connection?.integer("PRAGMA page_size") ?? 0
        // The old rows stay until the commit, and the new ones are in the log and then in the file.
        let bytes = total > 0 ? pages * pageBytes * 2 / max(1, total) * rewritten : 0
        return MigrationSummary(
            changes: mapping.changes, steps: steps, isAdditive: mapping.isAdditive,
            byteCount: connection == nil ? nil : bytes)
    }

    /// The indexes of parts of texts that are filled.
    private func searchSteps(
        _ rows: ([String]) throws(SQLError) -> Int64?
    ) throws(SQLError) -> [MigrationSummary.Step] {
        var steps: [MigrationSummary.Step] = []
        for table in createdSearchTables {
            let sources = tables.first { $0.name == table.table }?.sources ?? []
            guard !sources.isEmpty else { continue }
            steps.append(
                MigrationSummary.Step(
                    "creates the search index of \(table.attributeName)",
                    rowCount: try rows(sources), isRewriting: true))
        }
        return steps
    }

    /// The indexes that no old table has.
    private func indexSteps(
        _ rows: ([String]) throws(SQLError) -> Int64?
    ) throws(SQLError) -> [MigrationSummary.Step] {
        var names: [String: TableMigration] = [:]
        for table in tables { names[table.name] = table }
        var former: [IndexDefinition.Key: Set<[String]>] = [:]
        for index in old.indexes {
            former[index.key, default: []].insert([index.table] + index.columns)
        }
        var steps: [MigrationSummary.Step] = []
        for index in new.indexes {
            guard let table = names[index.table], case .alter(let alteration) = table.method
            else { continue }
            let columns = index.columns.map { column in
                alteration.renamedColumns.first { $0.new == column }?.old ?? column
            }
            let isFormer = former[index.key]?.contains([alteration.source] + columns) ?? false
            guard !isFormer else { continue }
            let list = index.columns.joined(separator: ", ")
            steps.append(
                MigrationSummary.Step(
                    "creates an index on \(index.table) (\(list))\(index.key.note)",
                    rowCount: try rows(table.sources)))
        }
        return steps
    }
}

extension IndexDefinition.Key {
    fileprivate var note: String {
        switch self {
        case .values: ""
        case .canonical: " without case and accents"
        case .caseless: " without case"
        }
    }
}

extension TableAlteration {
    /// Whether there is anything to do.
    func changesDescription(_ name: String) -> Bool {
        source != name || !renamedColumns.isEmpty || !addedColumns.isEmpty || addedEntityName != nil
            || !renamedKinds.isEmpty
    }
}
