import LarderModel
import LarderQuery
import LarderSQL

extension Reader {
    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> Explanation {
        guard let plan = plan as? ReadPlan else { preconditionFailure("a plan of another store") }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        let statements =
            try session.statements(plan, parameters)
            + plan.query.prefetched.map { $0.statement.filled(key: .text("[]"), now: 0) }
        var steps: [QueryStep] = []
        for statement in statements { steps += try session.steps(of: statement) }
        let collections = plan.query.collections
        let tables = Self.tables(collections)
        let suggestions = IndexSuggestions(plan.query, collections, in: converter.schema)
        // Sorting groups is cheap compared with reading the rows, which is a step of its own.
        let isOfGroups = steps.first?.text.hasPrefix("SCAN \(GroupFunctions.table) ") == true
        let warnings = steps.compactMap { step in
            isOfGroups && step.depth == 0
                ? nil : Self.warning(for: step, tables, suggestions)
        }
        return Explanation(
            plan: plan.query.description,
            sql: statements.map(\.text).joined(separator: ";\n"),
            steps: steps.map { String(repeating: "  ", count: $0.depth) + $0.text },
            warnings: warnings.map(\.text), indexes: Self.indexes(warnings))
    }

    private struct Warning {
        let text: String
        /// The index that would help.
        var index: String?
    }

    /// Each index once.
    private static func indexes(_ warnings: [Warning]) -> [String] {
        var indexes: [String] = []
        for case let index? in warnings.map(\.index) where !indexes.contains(index) {
            indexes.append(index)
        }
        return indexes
    }

    /// The tables by their aliases.
    private static func tables(_ collections: [PlanCollection]) -> [String: String] {
        var tables: [String: String] = [:]
        for source in collections.flatMap(\.sources) where source.array == nil {
            tables["t\(source.alias)"] = source.table
            // SQLite counts a whole table without an alias.
            tables[source.table] = source.table
        }
        return tables
    }

    private static func warning(
        for step: QueryStep, _ tables: [String: String], _ suggestions: IndexSuggestions
    ) -> Warning? {
        if let alias = step.scanned, let table = tables[alias] {
            if step.usesIndex {
                return Warning(text: "every row of \(table) is read through an index")
            }
            let suggestion = Int(alias.dropFirst()).flatMap { suggestions.ofRows[$0] }
            return Warning(
                text: "every row of \(table) is read: no index serves this"
                    + (suggestion.map { "; \($0.text)" } ?? ""), index: suggestion?.line)
        }
        guard step.text.hasPrefix("USE TEMP B-TREE FOR ") else { return nil }
        let purpose = step.text.dropFirst("USE TEMP B-TREE FOR ".count)
        return Warning(
            text: "the rows are sorted apart (\(purpose)): no index gives this order"
                + (suggestions.ofOrder.map { "; \($0.text)" } ?? ""),
            index: suggestions.ofOrder?.line)
    }
}

/// One step of SQLite's query plan.
struct QueryStep {
    let depth: Int
    let text: String

    /// The alias of the table of which it reads all rows; nil if it looks rows up.
    var scanned: String? {
        let words = text.split(separator: " ")
        // SQLite calls a scan for the least or the greatest value a search, but names no index.
        let isScan = words.first == "SCAN" || (words.first == "SEARCH" && words.count == 2)
        return isScan && words.count >= 2 ? String(words[1]) : nil
    }

    var usesIndex: Bool { text.split(separator: " ").contains("INDEX") }
}

extension ReadSession {
    /// SQLite's query plan.
    func steps(of sql: SQL) throws(ReadFailure) -> [QueryStep] {
        let statement = try statement("EXPLAIN QUERY PLAN \(sql)")
        defer {
            statement.reset()
            statement.clearBindings()
        }
        try bind(sql.values, to: statement)
        var depths: [Int64: Int] = [:]
        var steps: [QueryStep] = []
        while try step(statement) {
            let depth = depths[statement.int64(at: 1)].map { $0 + 1 } ?? 0
            depths[statement.int64(at: 0)] = depth
            steps.append(QueryStep(depth: depth, text: statement.string(at: 3)))
        }
        return steps
    }
}

extension ResolvedQuery {
    /// Everything that is prefetched, at any depth.
    fileprivate var prefetched: [PlanPrefetch] {
        prefetch.flatMap { [$0] + $0.query.prefetched }
    }

    /// The objects of the query itself, and those of all its subqueries.
    fileprivate var collections: [PlanCollection] {
        var found: [PlanCollection] = []
        var collections = [PlanCollection(sources: sources, predicate: predicate)]
        for column in columns {
            if case .operand(let operand) = column.content { collections += operand.collections }
        }
        for prefetch in prefetched {
            collections.append(
                PlanCollection(sources: prefetch.query.sources, predicate: .yes))
        }
        while let collection = collections.popLast() {
            found.append(collection)
            collections += collection.predicate.collections
        }
        return found
    }
}

extension PlanOperand {
    fileprivate var collections: [PlanCollection] {
        switch self {
        case .collection(_, let collection, let operand, _, _):
            [collection] + (operand?.collections ?? [])
        case .join(let join):
            [join.collection] + join.text.collections + join.separator.collections
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
