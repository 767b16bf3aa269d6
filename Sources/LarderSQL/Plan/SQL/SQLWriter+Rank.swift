import LarderModel
import LarderQuery

extension SQLWriter {
    /// The search of a query that an index of words decides and whose score the query uses. The
    /// statement then begins at the index, which has the numbers for the score.
    mutating func rankedSearch(of query: ResolvedQuery) throws(LarderError) -> RankedSearch? {
        let scores = query.scores
        guard dialect == .sqlite, !scores.isEmpty else { return nil }
        for conjunct in query.predicate.conjuncts {
            guard case .isTrue(.function(.search, let operands, _, _)) = conjunct,
                let index = SearchedIndex(operands), index.key.alias == 0
            else { continue }
            let search = RankedSearch(operands: operands, index: index)
            if scores.contains(where: search.hasTexts), try !isNil(.value(index.text)) {
                return search
            }
        }
        return nil
    }

    /// Whether the index alone decides which objects a page has: a search is all that selects them,
    /// and its score and the keys order them.
    mutating func ranksKeys(
        _ query: ResolvedQuery, by search: RankedSearch
    ) throws(LarderError) -> Bool {
        guard case .isTrue(.function(.search, search.operands, _, _)) = query.predicate,
            query.entityNames == nil, !query.isDistinct, query.groupBy.isEmpty,
            query.having == .yes, query.sources.dropFirst().allSatisfy({ $0.join == .left }),
            query.order.count == 2,
            case .operand(.function(.score, let score, _, _)) = query.order[0].key,
            case .operand(.column(let key)) = query.order[1].key,
            key.reference == search.index.key
        else { return false }
        guard try search.isScored(by: score, &self) else { return false }
        return try ask(.hasLimit)
    }

    /// The statement that reads only the objects of a page, after the index has ranked the keys.
    package mutating func statement(
        _ query: ResolvedQuery, ranking search: RankedSearch
    ) throws(LarderError) -> SQL {
        let order = zip(["score", "k"] as [SQL], query.order)
            .map { key, order in order.isDescending ? "\(key) DESC" : key }
        // The index finds rows by their keys, which decide between equal scores.
        let skipsRows = query.order[0].isDescending && !query.order[1].isDescending
        let matches = search.matches + (skipsRows ? [search.isOnPage] : [])
        var keys: SQL = """
            SELECT \(name: search.index.table).rowid AS k, \
            \(skipsRows ? search.pageScore : search.score) AS score \
            FROM \(search.tables) WHERE \(matches.joined(separator: " AND ")) ORDER BY \(order)
            """
        try appendLimit(to: &keys)
        rankedSearch = search
        rankedSearch?.readsRanked = true
        return """
            SELECT \(try results(query)) FROM (\(keys)) AS ranked \
            CROSS JOIN \(try from(query.sources)) WHERE \(search.index.key.sql) = ranked.k \
            ORDER BY \(try terms(of: query, nil))
            """
    }

    /// Whether the beginning of the statement at the index has decided a predicate.
    func isRanked(_ predicate: PlanPredicate) -> Bool {
        guard let rankedSearch, case .isTrue(.function(.search, let operands, _, _)) = predicate
        else { return false }
        return operands == rankedSearch.operands
    }
}

/// A search whose index of words is the first table of a statement.
package struct RankedSearch {
    package let operands: [PlanOperand]
    package let index: SearchedIndex
    /// Whether the objects are read after a subquery that has their keys and scores.
    var readsRanked = false

    private var table: SQL { "\(name: index.table)" }

    /// The index, and the table in which FTS5 stores the numbers of words. A join with it costs a
    /// fraction of asking FTS5, which runs a statement per row.
    package var tables: SQL {
        "\(table) CROSS JOIN \(name: index.table + SearchTable.sizesSuffix) AS sizes"
    }

    package var score: SQL {
        readsRanked
            ? "ranked.score"
            : "\(function: SearchFunctions.matchScore)(\(table), \(requiredTerms), sizes.sz)"
    }

    /// The form for the first rows of the order by score. The rows for which ``isOnPage`` is false
    /// are left out before their numbers of words are read.
    package var pageScore: SQL {
        """
        \(function: SearchFunctions.pageScore)\
        (\(table), \(requiredTerms), \(pageRowCount), sizes.sz)
        """
    }

    var isOnPage: SQL {
        """
        \(function: SearchFunctions.pageScore)(\(table), \(requiredTerms), \(pageRowCount))
        """
    }

    private var requiredTerms: SQL { "\(.requiredTerms(index.text))" }

    /// The number of rows up to the end of the page.
    private var pageRowCount: SQL { "\(.limit) + \(.offset)" }

    /// The conditions for the rows of ``tables``.
    package var matches: [SQL] {
        [
            "\(table) MATCH \(.words(index.text, columns: index.columns))",
            "sizes.id = \(table).rowid",
        ]
    }

    /// The conditions for the rows of ``tables`` and of the objects.
    package var conditions: [SQL] { matches + ["\(index.key.sql) = \(table).rowid"] }

    /// Whether a score is that of the texts that are searched.
    func hasTexts(_ score: [PlanOperand]) -> Bool {
        Set(score.dropLast()) == Set(operands.dropLast())
    }

    /// Whether a score is that of this search, by the values of both search texts.
    func isScored(
        by score: [PlanOperand], _ writer: inout SQLWriter
    ) throws(LarderError) -> Bool {
        guard hasTexts(score), score.count == operands.count, case .value(let text)? = score.last
        else { return false }
        if text.source == index.text.source { return true }
        return try writer.ask(
            .holds(ValueComparison(left: text, operator: .equal, right: index.text)))
    }
}

extension ResolvedQuery {
    /// The operands of the scores that the rows have or are sorted by.
    fileprivate var scores: [[PlanOperand]] {
        let columns = columns.compactMap { column in
            if case .operand(let operand) = column.content { operand } else { nil }
        }
        let keys = order.compactMap { order in
            if case .operand(let operand) = order.key { operand } else { nil }
        }
        return (columns + keys).flatMap(\.scores)
    }
}

extension PlanOperand {
    fileprivate var scores: [[PlanOperand]] {
        if case .function(.score, let operands, _, _) = self { return [operands] }
        return operands.flatMap(\.scores)
    }
}
