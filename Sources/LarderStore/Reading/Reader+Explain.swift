import LarderModel

extension Reader {
    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> Explanation {
        guard let plan = plan as? ReadPlan else { preconditionFailure("a plan of another store") }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        let statements =
            try session.statements(plan, parameters)
            + plan.query.prefetched.map { $0.sql.with([.constant(.text("[]"))]) }
        var steps: [QueryStep] = []
        for statement in statements { steps += try self.steps(of: statement) }
        let tables = plan.query.tables
        // Sorting groups is cheap compared with reading the rows, which is a step of its own.
        let isOfGroups = steps.first?.text.hasPrefix("SCAN \(GroupFunctions.table) ") == true
        return Explanation(
            plan: plan.query.description,
            sql: statements.map(\.text).joined(separator: ";\n"),
            steps: steps.map { String(repeating: "  ", count: $0.depth) + $0.text },
            warnings: steps.compactMap { step in
                isOfGroups && step.depth == 0 ? nil : Self.warning(for: step.text, tables)
            })
    }

    private struct QueryStep {
        let depth: Int
        let text: String
    }

    /// SQLite's query plan.
    private func steps(of sql: SQL) throws(ReadFailure) -> [QueryStep] {
        let statement = try session.statement("EXPLAIN QUERY PLAN \(sql)")
        defer {
            statement.reset()
            statement.clearBindings()
        }
        try session.bind(sql.values, to: statement)
        var depths: [Int64: Int] = [:]
        var steps: [QueryStep] = []
        while try session.step(statement) {
            let depth = depths[statement.int64(at: 1)].map { $0 + 1 } ?? 0
            depths[statement.int64(at: 0)] = depth
            steps.append(QueryStep(depth: depth, text: statement.string(at: 3)))
        }
        return steps
    }

    private static func warning(for step: String, _ tables: [String: String]) -> String? {
        let words = step.split(separator: " ")
        if words.first == "SCAN", words.count >= 2, let table = tables[String(words[1])] {
            return words.contains("INDEX")
                ? "every row of \(table) is read through an index"
                : "every row of \(table) is read: no index serves this"
        }
        guard step.hasPrefix("USE TEMP B-TREE FOR ") else { return nil }
        let purpose = step.dropFirst("USE TEMP B-TREE FOR ".count)
        return "the rows are sorted apart (\(purpose)): no index gives this order"
    }
}

extension ResolvedQuery {
    /// Everything that is prefetched, at any depth.
    fileprivate var prefetched: [PlanPrefetch] {
        prefetch.flatMap { [$0] + $0.query.prefetched }
    }

    /// The tables by their aliases, with those of all subqueries.
    fileprivate var tables: [String: String] {
        var tables: [String: String] = [:]
        var collections = [PlanCollection(sources: sources, predicate: predicate)]
        for column in columns {
            if case .operand(let operand) = column.content { collections += operand.collections }
        }
        for prefetch in prefetched {
            collections.append(
                PlanCollection(sources: prefetch.query.sources, predicate: .yes))
        }
        while let collection = collections.popLast() {
            for source in collection.sources {
                tables["t\(source.alias)"] = source.table
                // SQLite counts a whole table without an alias.
                tables[source.table] = source.table
            }
            collections += collection.predicate.collections
        }
        return tables
    }
}

extension PlanOperand {
    fileprivate var collections: [PlanCollection] {
        switch self {
        case .collection(_, let collection, let operand, _, _):
            [collection] + (operand?.collections ?? [])
        case .predicate(let predicate): predicate.collections
        default: operands.flatMap(\.collections)
        }
    }
}

extension PlanPredicate {
    /// The collections directly below, not those within them.
    fileprivate var collections: [PlanCollection] {
        switch self {
        case .and(let parts), .or(let parts): parts.flatMap(\.collections)
        case .not(let part): part.collections
        case .exists(let collection): [collection]
        default: operands.flatMap(\.collections)
        }
    }
}
