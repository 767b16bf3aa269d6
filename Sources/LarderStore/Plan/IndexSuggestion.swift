import LarderModel

/// The indexes of texts that would serve a query and do not exist, for EXPLAIN.
struct IndexSuggestions {
    /// By the alias of the table, what the schema would have to say.
    private(set) var ofRows: [Int: String] = [:]
    /// For the order of the rows; nil if nothing would help.
    private(set) var ofOrder: String?

    init(_ query: ResolvedQuery, _ collections: [PlanCollection]) {
        for collection in collections {
            for conjunct in collection.predicate.conjuncts { add(conjunct) }
        }
        guard let order = query.order.first, order.stringOrder == .caseInsensitive,
            case .operand(.column(let column)) = order.key, !column.textIndexes.contains(.caseless)
        else { return }
        ofOrder = Self.insensitive(column)
    }

    private mutating func add(_ predicate: PlanPredicate) {
        switch predicate {
        case .comparison(.column(let column), let name, .value, let options):
            switch name {
            case .equal, .beginsWith, .lessThan, .lessThanOrEqual, .greaterThan,
                .greaterThanOrEqual:
                addInsensitive(column, options)
            case .contains, .endsWith, .like, .matches:
                guard column.searchTable == nil, column.type == .attribute(.string) else { return }
                ofRows[column.reference.alias] = "`\"search\": true` at \(column.name) would"
            default: break
            }
        case .isTrue(.function(.search, let operands, _, _)): addWords(operands)
        case .between(.column(let column), _, _, let options),
            .oneOf(.column(let column), _, let options),
            .oneOfList(.column(let column), _, let options):
            addInsensitive(column, options)
        default: break
        }
    }

    private mutating func addWords(_ operands: [PlanOperand]) {
        var columns: [PlanColumn] = []
        for operand in operands.dropLast() {
            guard case .column(let column) = operand else { return }
            columns.append(column)
        }
        guard let first = columns.first, SearchedIndex(operands) == nil,
            columns.allSatisfy({ $0.reference.alias == first.reference.alias })
        else { return }
        let names = columns.map { "\"\($0.name.split(separator: ".").last ?? "")\"" }
        let owner = first.name.split(separator: ".").dropLast().joined(separator: ".")
        ofRows[first.reference.alias] =
            columns.count == 1
            ? "`\"search\": {\"tokens\": \"words\"}` at \(first.name) would"
            : "`\"search\": [[\(names.joined(separator: ", "))]]` at \(owner) would"
    }

    private mutating func addInsensitive(_ column: PlanColumn, _ options: Comparison.Options) {
        guard options == .insensitive, !column.isIndexed(for: options) else { return }
        ofRows[column.reference.alias] = Self.insensitive(column)
    }

    private static func insensitive(_ column: PlanColumn) -> String {
        "`\"indexed\": \"insensitive\"` at \(column.name) would"
    }
}
