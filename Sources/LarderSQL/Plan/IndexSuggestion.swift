import LarderModel

/// The indexes that would serve a query and do not exist, for EXPLAIN.
package struct IndexSuggestions {
    package struct Suggestion {
        /// A clause of a sentence: `"indexed": true` at Article.score would.
        package let text: String
        /// The entity, and the line of its schema file.
        package let line: String
    }

    /// By the alias of the table, what the schema would have to say.
    package private(set) var ofRows: [Int: Suggestion] = [:]
    /// For the order of the rows; nil if nothing would help.
    package private(set) var ofOrder: Suggestion?
    private let schema: Schema

    /// - Parameter schema: As the client has it.
    package init(_ query: ResolvedQuery, _ collections: [PlanCollection], in schema: Schema) {
        self.schema = schema
        for collection in collections {
            for conjunct in collection.predicate.conjuncts { add(conjunct) }
        }
        guard let order = query.order.first, order.stringOrder == .caseInsensitive,
            case .operand(.column(let column)) = order.key, !column.textIndexes.contains(.caseless)
        else { return }
        ofOrder = suggestion(column, "indexed", Self.insensitive)
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
                ofRows[column.reference.alias] = suggestion(column, "search", .bool(true))
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
        let alias = first.reference.alias
        guard columns.count > 1 else {
            ofRows[alias] = suggestion(
                first, "search", .object(["tokens": .string("words")]), #"{"tokens": "words"}"#)
            return
        }
        let names = columns.map { "\"\($0.name.split(separator: ".").last ?? "")\"" }
        let owner = first.name.split(separator: ".").dropLast().joined(separator: ".")
        let member = "\"search\": [[\(names.joined(separator: ", "))]]"
        ofRows[alias] = Suggestion(
            text: "`\(member)` at \(owner) would",
            line: "\(first.attribute?.entityName ?? owner): \(member)")
    }

    /// The first comparison counts, unless a later one needs an index of texts.
    private mutating func addIndex(_ column: PlanColumn, _ options: Comparison.Options) {
        guard case .attribute = column.type, !column.isIndexed(for: options) else { return }
        let alias = column.reference.alias
        if options == .insensitive {
            ofRows[alias] = suggestion(column, "indexed", Self.insensitive)
        } else if options.isEmpty, ofRows[alias] == nil {
            ofRows[alias] = suggestion(column, "indexed", .bool(true))
        }
    }

    private static let insensitive = JSONValue.string(SchemaKey.insensitive)

    /// - Parameters:
    ///   - key: The member of the attribute in the schema file.
    ///   - value: The value that it should have.
    ///   - text: The value as a text; nil for its shortest form.
    private func suggestion(
        _ column: PlanColumn, _ key: String, _ value: JSONValue, _ text: String? = nil
    ) -> Suggestion {
        let member = "\"\(key)\": \(text ?? value.text)"
        return Suggestion(
            text: "`\(member)` at \(column.name) would",
            line: line(column, key, value) ?? "\(column.name): \(member)")
    }

    /// The attribute with the member, at the entity that declares it.
    private func line(_ column: PlanColumn, _ key: String, _ value: JSONValue) -> String? {
        guard let attribute = column.attribute else { return nil }
        var entity = schema.entity(named: attribute.entityName)
        while let one = entity {
            if let declared = one.declared.attributes.first(where: { $0.name == attribute.name }) {
                return "\(one.name): \(declared.fileLine(with: [key: value]))"
            }
            entity = one.parent.flatMap { schema.entity(named: $0) }
        }
        return nil
    }
}
