import LarderModel

/// The indexes that would serve a query and do not exist, for EXPLAIN.
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
                addIndex(column, options)
            case .contains, .endsWith, .like, .matches:
                guard column.searchTable == nil, column.type == .attribute(.string) else { return }
                ofRows[column.reference.alias] = "`\"search\": true` at \(column.name) would"
            default: break
            }
        case .isTrue(.function(.search, let operands, _, _)): addWords(operands)
        case .between(.column(let column), _, _, let options),
            .oneOf(.column(let column), _, let options),
            .oneOfList(.column(let column), _, let options):
            addIndex(column, options)
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

    /// The first comparison counts, unless a later one needs an index of texts.
    private mutating func addIndex(_ column: PlanColumn, _ options: Comparison.Options) {
        guard case .attribute = column.type, !column.isIndexed(for: options) else { return }
        let alias = column.reference.alias
        if options == .insensitive {
            ofRows[alias] = Self.insensitive(column)
        } else if options.isEmpty, ofRows[alias] == nil {
            ofRows[alias] = "`\"indexed\": true` at \(column.name) would"
        }
    }

    private static func insensitive(_ column: PlanColumn) -> String {
        "`\"indexed\": \"insensitive\"` at \(column.name) would"
    }
}
