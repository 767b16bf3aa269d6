public import HTMLPages
public import LarderClient

/// A query as it is typed into the form of the query page.
public struct QueryForm: Equatable, Sendable {
    public struct Column: Equatable, Sendable {
        /// The name of an aggregate function; empty for none.
        public var function = ""
        public var expression = ""

        public init(function: String = "", expression: String = "") {
            self.function = function
            self.expression = expression
        }
    }

    /// The lines of the form for columns, group keys and sort keys.
    public static let linesMax = 4
    public static let limits: ClosedRange<Int64> = 1...500

    public var entityName = ""
    public var predicate = ""
    /// Columns of a fetch; without any, the objects are fetched.
    public var selected: [String] = []
    public var groupBy: [String] = []
    public var columns: [Column] = []
    public var having = ""
    /// As in a table of rows: `title` or `published:desc`.
    public var sort: [String] = []
    public var limit: Int64 = 100

    public init() {}

    /// Whether the query groups or computes over objects.
    public var isAggregate: Bool { !groupBy.isEmpty || !columns.isEmpty }

    /// The format strings with the names that errors use.
    public var texts: [(name: String, text: String)] {
        var texts = [("predicate", predicate), ("having", having)]
        for (index, text) in selected.enumerated() { texts.append(("column \(index + 1)", text)) }
        for (index, text) in groupBy.enumerated() {
            texts.append(("group key \(index + 1)", text))
        }
        for (index, column) in columns.enumerated() {
            texts.append(("aggregate \(index + 1)", column.expression))
        }
        for (index, text) in sort.enumerated() { texts.append(("sort key \(index + 1)", text)) }
        return texts.filter { !$0.1.isEmpty }
    }
}

/// The result of a query with its plan.
public struct QueryResult: Sendable {
    public var names: [String]
    public var rows: [[ShownValue]]
    /// The rows of an aggregate with their values, for the drawing.
    public var groups: [Row]
    public var explanation: Explanation
    public var seconds: Double
    /// Whether there are more rows than were asked for.
    public var isCut: Bool

    public init(
        names: [String], rows: [[ShownValue]], groups: [Row], explanation: Explanation,
        seconds: Double, isCut: Bool
    ) {
        self.names = names
        self.rows = rows
        self.groups = groups
        self.explanation = explanation
        self.seconds = seconds
        self.isCut = isCut
    }
}

public func queryView(
    _ form: QueryForm, _ schema: Schema, result: QueryResult?, error: LarderError?
) -> HTML {
    let message = error.map { queryError($0, in: form.texts) }
    return """
        <h1>Query</h1>
        \(formView(form, schema))
        \(message)
        \(result.map { resultView($0, form) })
        """
}

// MARK: - Form

private func formView(_ form: QueryForm, _ schema: Schema) -> HTML {
    let entity = schema.entity(named: form.entityName)
    let options = schema.entities.map { entity -> HTML in
        let isSelected: HTML = entity.name == form.entityName ? " selected" : ""
        return "<option\(isSelected)>\(entity.name)</option>"
    }
    let names = (entity?.attributes.map(\.name) ?? []) + (entity?.relationships.map(\.name) ?? [])
    let suggestions = names.prefix(200).map { "<option value=\"\($0)\"></option>" as HTML }
    return """
        <form class="query" action="/query">
        <datalist id="names">\(suggestions)</datalist>
        <div class="grid">
        <div><label for="entity">Entity</label><select id="entity" name="entity">\(options)\
        </select></div>
        <div><label for="limit">Rows, at most</label><input id="limit" name="limit" \
        inputmode="numeric" value="\(form.limit)"></div></div>
        <p><label for="where">Predicate</label>\
        <textarea id="where" name="where" rows="2" class="code" spellcheck="false">
        \(exactly: form.predicate)</textarea></p>
        <div class="grid">
        \(lines("Columns of objects", "select", form.selected))
        \(lines("Group by", "group", form.groupBy))
        \(aggregateLines(form.columns))
        \(lines("Order by, such as title:desc", "sort", form.sort))</div>
        <p><label for="having">Having, with the names of result columns</label>\
        <input id="having" name="having" class="wide" spellcheck="false" \
        value="\(exactly: form.having)"></p>
        <p><button class="primary">Run</button></p></form>
        """
}

/// As many fields as there are values, and one more.
private func lineCount(_ values: [some Any]) -> Int {
    min(QueryForm.linesMax, values.count + 1)
}

private func lines(_ title: String, _ name: String, _ values: [String]) -> HTML {
    let fields = (0..<lineCount(values)).map { index -> HTML in
        let value = index < values.count ? values[index] : ""
        return """
            <input name="\(name)" list="names" value="\(exactly: value)" \
            aria-label="\(title) \(index + 1)" autocomplete="off" spellcheck="false">
            """
    }
    return "<fieldset><legend>\(title)</legend>\(fields)</fieldset>"
}

private func aggregateLines(_ columns: [QueryForm.Column]) -> HTML {
    let fields = (0..<lineCount(columns)).map { index -> HTML in
        let column = index < columns.count ? columns[index] : QueryForm.Column()
        let options = AggregateFunction.allCases.map { function -> HTML in
            let isSelected: HTML = function.rawValue == column.function ? " selected" : ""
            return "<option\(isSelected)>\(function.rawValue)</option>"
        }
        return """
            <div class="pair"><select name="function" aria-label="Function \(index + 1)">\
            <option value=""></option>\(options)</select>
            <input name="of" list="names" value="\(exactly: column.expression)" \
            aria-label="Expression of function \(index + 1)" autocomplete="off" \
            spellcheck="false"></div>
            """
    }
    return "<fieldset><legend>Compute</legend>\(fields)</fieldset>"
}

// MARK: - Result

private func resultView(_ result: QueryResult, _ form: QueryForm) -> HTML {
    let chart = Chart.points(result.groups, keyCount: form.groupBy.count).map {
        Chart.html($0.name, $0.points)
    }
    let milliseconds = Value.double((result.seconds * 10_000).rounded() / 10).text
    let count = Int64(result.rows.count)
    return """
        <h2>Result</h2>
        <p class="quiet" role="status">\(grouped(count)) \(count == 1 ? "row" : "rows")\
        \(result.isCut ? ", and there are more," : "") in \(milliseconds) ms</p>
        \(chart)
        \(count == 0 ? "<p class=\"empty\">No row was found.</p>" as HTML : table(result))
        \(plan(result.explanation))
        """
}

private func table(_ result: QueryResult) -> HTML {
    let numeric = result.names.indices.map { index in
        result.rows.contains { index < $0.count && $0[index].isNumber }
    }
    let head = zip(result.names, numeric).map { name, isNumber -> HTML in
        let kind: HTML = isNumber ? " class=\"number\"" : ""
        return "<th scope=\"col\"\(kind)>\(name)</th>"
    }
    let rows = result.rows.map { row -> HTML in
        let cells = zip(row, numeric).map { value, isNumber -> HTML in
            let kind: HTML = isNumber ? " class=\"number\"" : ""
            return "<td\(kind)>\(value.cell)</td>"
        }
        return "<tr>\(cells.joined())</tr>"
    }
    return """
        <div class="scroll" role="region" aria-label="Result" tabindex="0">
        <table class="rows"><thead><tr>\(head.joined())</tr></thead>
        <tbody>\(rows)</tbody></table></div>
        """
}

private func plan(_ explanation: Explanation) -> HTML {
    let warnings = explanation.warnings.map { "<p class=\"notice\">\($0)</p>" as HTML }
    return """
        \(warnings)
        <details class="plan"><summary>Plan</summary>
        <h3>Plan</h3><pre>\(explanation.plan)</pre>
        <h3>SQL</h3><pre>\(explanation.sql)</pre>
        <h3>Steps</h3><pre>\(explanation.steps.joined(separator: "\n"))</pre></details>
        """
}
