import BrowserViews
import LarderClient

/// Runs the query of a form, and reads a bounded number of rows of bounded texts.
struct QueryRunner {
    private static let charactersMax = 200

    let client: StoreClient
    let form: QueryForm

    private var predicate: QueryTerm? {
        form.predicate.isEmpty ? nil : .format(form.predicate)
    }

    private var sort: [SortKey] { form.sort.map(SortKey.init(text:)) }

    /// - Throws: `unsupported` for a function without an expression.
    private func query(_ schema: Schema) throws -> Query {
        guard form.isAggregate else {
            return .fetch(
                Fetch(
                    form.entityName, where: predicate, sort: sort, selection: try selection(schema))
            )
        }
        let columns = try form.columns.map { column -> Aggregate.Column in
            guard let function = AggregateFunction(rawValue: column.function) else {
                throw LarderError(
                    .unsupported, "the expression \(column.expression) has no function",
                    hint: "choose one, such as sum, or move the expression to the group keys")
            }
            let expression = column.expression.isEmpty ? nil : column.expression
            guard expression != nil || function == .count else {
                throw LarderError(
                    .unsupported, "\(column.function) needs an expression",
                    hint: "write what it computes over, such as an attribute")
            }
            return Aggregate.Column(function, expression)
        }
        return .aggregate(
            Aggregate(
                form.entityName, where: predicate, groupBy: form.groupBy.map { QueryColumn($0) },
                columns, having: form.having.isEmpty ? nil : .format(form.having), sort: sort))
    }

    /// The given columns, or the attributes whose texts are cut.
    private func selection(_ schema: Schema) throws(BrowseError) -> Fetch.Selection {
        guard form.selected.isEmpty else {
            return .columns(form.selected.map { QueryColumn($0) })
        }
        let entity = try schema.requiredEntity(form.entityName)
        let columns = entity.attributes.prefix(RowsReader.columnsMax).compactMap {
            attribute -> QueryColumn? in
            switch attribute.type {
            case .data: nil
            case .string:
                QueryColumn(
                    startOf: [attribute.name], characters: Self.charactersMax,
                    name: attribute.name)
            default: QueryColumn(path: [attribute.name], name: attribute.name)
            }
        }
        return columns.isEmpty ? .identifiers : .columns(columns)
    }

    func result(_ schema: Schema) async throws -> QueryResult {
        let query = try query(schema)
        let parameters = QueryParameters(
            argumentsAreText: true, assumesUTC: true, limit: form.limit + 1)
        let explanation = try await client.explain(query, parameters)
        let start = ContinuousClock.now
        var result = QueryResult(
            names: [], rows: [], groups: [], explanation: explanation, seconds: 0, isCut: false)
        let stream = try await client.stream(query, parameters)
        if case .fetch = query {
            while let records = try await stream.nextRecords() {
                for record in records { add(record, to: &result, query) }
            }
        } else {
            while let rows = try await stream.nextRows() {
                for row in rows { add(row, to: &result) }
            }
        }
        result.seconds = (ContinuousClock.now - start) / .seconds(1)
        return result
    }

    private func add(_ record: Record, to result: inout QueryResult, _ query: Query) {
        guard case .fetch(let fetch) = query else { return }
        let names = fetch.selection.columns.map(\.name)
        result.names = [form.entityName] + names
        guard result.rows.count < form.limit else {
            result.isCut = true
            return
        }
        let object = ShownValue.object(ShownObject(record.identifier, label: nil))
        result.rows.append(
            [object]
                + names.map {
                    ShownValue(record[$0] ?? .null, charactersMax: Self.charactersMax)
                })
    }

    private func add(_ row: Row, to result: inout QueryResult) {
        result.names = row.names
        guard result.rows.count < form.limit else {
            result.isCut = true
            return
        }
        result.rows.append(
            row.values.map { ShownValue($0, charactersMax: Self.charactersMax) })
        result.groups.append(row)
    }
}

extension QueryForm {
    init(_ fields: Fields) {
        self.init()
        entityName = fields["entity"]
        predicate = fields["where"]
        having = fields["having"]
        func lines(_ name: String) -> [String] {
            fields.all(name).prefix(Self.linesMax).filter { !$0.isEmpty }
        }
        selected = lines("select")
        groupBy = lines("group")
        sort = lines("sort")
        let expressions = fields.all("of")
        columns = fields.all("function").prefix(Self.linesMax).enumerated().map {
            index, function in
            Column(
                function: function, expression: index < expressions.count ? expressions[index] : "")
        }.filter { !$0.function.isEmpty || !$0.expression.isEmpty }
        if fields.has("limit") {
            limit = min(max(fields.number("limit"), Self.limits.lowerBound), Self.limits.upperBound)
        }
    }
}
