import LarderModel
import LarderQuery

extension SQLWriter {
    /// Writes `SEARCH(text, …, search)`. An index of words decides it alone, since it has exactly
    /// the words that the function would compare.
    package mutating func search(
        _ operands: [PlanOperand], _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        try dialect.refuse("SEARCH")
        guard let last = operands.last, try !isNil(last) else { return polarity.always(false) }
        if !comparesWords, let index = SearchedIndex(operands) {
            let table: SQL = "\(name: index.table)"
            var test: SQL = """
                \(index.key.sql) IN (SELECT rowid FROM \(table) \
                WHERE \(table) MATCH \(.words(index.text, columns: index.columns)))
                """
            test.depth += Self.existsDepth
            return .sql(finished(test, polarity))
        }
        let isTrue: SQL = polarity == .negated ? " IS NOT 1" : " = 1"
        return .sql(try searchCall(.search, operands) + isTrue)
    }

    /// A function of a search for words, computed from the texts.
    mutating func searchCall(
        _ function: ScalarFunction, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        guard let name = SearchFunctions.name(of: function) else {
            preconditionFailure("\(function) is no function of a search")
        }
        if function == .score, let ranked = rankedSearch, try ranked.isScored(by: operands, &self) {
            return ranked.score
        }
        return try call(name, operands)
    }

    /// The index of words that has exactly the objects that a query counts.
    mutating func decidingIndex(of query: ResolvedQuery) throws(LarderError) -> SearchedIndex? {
        guard dialect == .sqlite, query.verb == .count, query.entityNames == nil,
            query.sources.count == 1,
            case .isTrue(.function(.search, let operands, _, _)) = query.predicate,
            let index = SearchedIndex(operands), try !isNil(.value(index.text))
        else { return nil }
        return index
    }
}

/// The index of words that decides a search.
package struct SearchedIndex {
    package let table: String
    /// The key of the searched object.
    package let key: ColumnReference
    /// The searched columns of the index; nil for all.
    package let columns: [Int]?
    package let text: TypedValue

    /// - Parameter operands: Those of the search: the texts, and the search text. Nil if no index
    ///   has all the texts.
    package init?(_ operands: [PlanOperand]) {
        guard case .value(let text)? = operands.last else { return nil }
        var searched: [PlanColumn] = []
        for operand in operands.dropLast() {
            guard case .column(let column) = operand else { return nil }
            searched.append(column)
        }
        guard let first = searched.first,
            searched.allSatisfy({ $0.reference.alias == first.reference.alias })
        else { return nil }
        var best: (index: PlanWordIndex, columns: [Int])?
        for index in first.wordIndexes {
            let columns = searched.compactMap { column in
                column.wordIndexes.first { $0.table == index.table }?.column
            }
            guard columns.count == searched.count else { continue }
            // The index with the fewest other texts.
            if index.columnCount < best?.index.columnCount ?? .max { best = (index, columns) }
        }
        guard let best else { return nil }
        table = best.index.table
        key = ColumnReference(alias: first.reference.alias, column: Layout.keyColumn)
        let columns = Set(best.columns).sorted()
        self.columns = columns.count == best.index.columnCount ? nil : columns
        self.text = text
    }
}
