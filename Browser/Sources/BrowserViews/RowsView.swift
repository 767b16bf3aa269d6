public import HTMLPages
public import LarderClient

/// A column of a table of objects.
public struct ShownColumn: Sendable {
    public var name: String
    /// The text of the sort key for it; nil if it cannot be sorted by.
    public var sortText: String?
    public var isNumber: Bool

    public init(name: String, sortText: String?, isNumber: Bool) {
        self.name = name
        self.sortText = sortText
        self.isNumber = isNumber
    }
}

public struct ShownRow: Sendable {
    public var object: ShownObject
    public var version: Int64
    public var values: [ShownValue]

    public init(object: ShownObject, version: Int64, values: [ShownValue]) {
        self.object = object
        self.version = version
        self.values = values
    }
}

/// The filter, the order and the position that a page of rows was requested with.
public struct RowsRequest: Equatable, Sendable {
    public var entityName: String
    public var predicate = ""
    /// `title` or `published:desc`; empty for the order of identifiers.
    public var sort = ""
    /// The keyset cursor as a JSON array; empty for the first page.
    public var after = ""
    /// The largest number of rows before a page, with which sums stay exact.
    public static let countMax: Int64 = 1 << 53
    /// The rows to skip, for an order whose cursor would be too long.
    public var offset: Int64 = 0
    /// The number of rows on the pages before.
    public var precedingCount: Int64 = 0

    public init(entityName: String) { self.entityName = entityName }

    public var isFirstPage: Bool { after.isEmpty && offset == 0 }

    /// The request as an address below a path, such as `/rows`.
    public func address(below path: String = "/rows") -> String {
        let fields = [
            ("where", predicate), ("sort", sort), ("after", after),
            ("offset", offset == 0 ? "" : offset.description),
            ("n", precedingCount == 0 ? "" : precedingCount.description),
        ]
        return Link.address("\(path)/\(entityName)", fields.filter { !$0.1.isEmpty })
    }
}

public struct RowsPage: Sendable {
    public var request: RowsRequest
    public var columns: [ShownColumn]
    public var rows: [ShownRow]
    /// The following page; nil on the last one.
    public var next: RowsRequest?
    /// The page before; nil on the first one.
    public var previous: RowsRequest?
    /// The number of properties without a column, because the entity has very many.
    public var hiddenColumnCount = 0

    public init(_ request: RowsRequest, columns: [ShownColumn], rows: [ShownRow]) {
        self.request = request
        self.columns = columns
        self.rows = rows
    }
}

/// The rows of an entity, with a filter and links to other pages.
///
/// - Parameters:
///   - error: What is wrong with the filter or the order; there are no rows then.
///   - names: The names of properties, which the filter suggests.
public func rowsView(
    _ page: RowsPage, error: LarderError?, isEditable: Bool, names: [String]
) -> HTML {
    let name = page.request.entityName
    let new: HTML =
        isEditable ? "<a class=\"button\" href=\"\(Link.new(name))\">New \(name)</a>" : ""
    let message = error.map {
        queryError(
            $0, in: [("predicate", page.request.predicate), ("sort key 1", page.request.sort)])
    }
    return """
        <h1>\(name) <span class="count quiet" id="count" data-count="\(countAddress(page))"></span>\
        </h1>
        <p class="links"><a href="\(Link.schema(of: name))">Schema</a>
        <a href="\(Link.address(Link.query, [("entity", name)]))">Query</a> \(new)</p>
        \(filterForm(page.request, hasError: error != nil, names))
        \(message)
        <p id="live" class="quiet" role="status"></p>
        \(error == nil ? rowsTable(page) : "")
        """
}

private func countAddress(_ page: RowsPage) -> String {
    var request = RowsRequest(entityName: page.request.entityName)
    request.predicate = page.request.predicate
    return request.address(below: "/count")
}

private func filterForm(_ request: RowsRequest, hasError: Bool, _ names: [String]) -> HTML {
    let invalid: HTML = hasError ? " aria-invalid=\"true\" aria-describedby=\"query-error\"" : ""
    let options = names.map { name -> HTML in "<option value=\"\(name)\"></option>" }
    return """
        <form class="filter" role="search" action="/rows/\(request.entityName)">
        <label for="where">Filter, a predicate such as <code>name BEGINSWITH[c] "a"</code></label>
        <div class="line"><input id="where" name="where" value="\(exactly: request.predicate)" \
        autocomplete="off" autocapitalize="off" spellcheck="false"\(invalid)>
        <label for="sort" class="hidden">Sort key</label>
        <input id="sort" name="sort" value="\(exactly: request.sort)" placeholder="Sort key" \
        list="names" autocomplete="off" autocapitalize="off" spellcheck="false">
        <datalist id="names">\(options)</datalist>
        <button class="primary">Show</button></div></form>
        """
}

private func rowsTable(_ page: RowsPage) -> HTML {
    let name = page.request.entityName
    guard !page.rows.isEmpty else {
        let text: HTML =
            page.request.isFirstPage
            ? (page.request.predicate.isEmpty
                ? "There are no objects of \(name)." : "No object satisfies the filter.")
            : "There are no further rows."
        return """
            <table class="rows live" hidden><tbody id="rows"></tbody></table>
            <p class="empty" id="empty">\(text)</p>\(pageLinks(page))
            """
    }
    let hidden: HTML =
        page.hiddenColumnCount == 0
        ? ""
        : """
        <p class="quiet">\(page.hiddenColumnCount) more properties are on the page of each \
        object.</p>
        """
    return """
        <div class="scroll" role="region" aria-label="Objects of \(name)" tabindex="0">
        <table class="rows live"><thead><tr><th scope="col">\(name)</th>\
        \(page.columns.map { header($0, page.request) }.joined())</tr></thead>
        <tbody id="rows">\(rowElements(page))</tbody></table></div>
        \(hidden)\(pageLinks(page))
        """
}

/// The rows alone, which a live page replaces.
public func rowElements(_ page: RowsPage) -> HTML {
    page.rows.map { row($0, page.columns) }.joined(separator: "\n")
}

private func row(_ row: ShownRow, _ columns: [ShownColumn]) -> HTML {
    let cells = zip(row.values, columns).map { value, column -> HTML in
        let kind: HTML = column.isNumber ? " class=\"number\"" : ""
        return "<td\(kind)>\(value.cell)</td>"
    }
    let identifier = row.object.identifier.shortText
    return """
        <tr data-id="\(identifier)" data-version="\(row.version)"><th scope="row">\
        <a href="\(Link.object(row.object.identifier))">\(identifier)</a></th>\(cells.joined())</tr>
        """
}

/// The name of a column, as a link that sorts by it: ascending, then descending, then not.
private func header(_ column: ShownColumn, _ request: RowsRequest) -> HTML {
    let kind: HTML = column.isNumber ? " class=\"number\"" : ""
    guard let sortText = column.sortText else {
        return "<th scope=\"col\"\(kind)>\(column.name)</th>"
    }
    var sorted = RowsRequest(entityName: request.entityName)
    sorted.predicate = request.predicate
    let isAscending = request.sort == sortText || request.sort == sortText + ":asc"
    let isDescending = request.sort == sortText + ":desc"
    sorted.sort = isAscending ? sortText + ":desc" : isDescending ? "" : sortText
    let order: HTML =
        isAscending
        ? " aria-sort=\"ascending\"" : isDescending ? " aria-sort=\"descending\"" : ""
    let arrow = isAscending ? " ▲" : isDescending ? " ▼" : ""
    return """
        <th scope="col"\(kind)\(order)><a href="\(sorted.address())">\(column.name)\
        <span aria-hidden="true">\(arrow)</span></a></th>
        """
}

private func pageLinks(_ page: RowsPage) -> HTML {
    var first = page.request
    (first.after, first.offset, first.precedingCount) = ("", 0, 0)
    let start: HTML =
        page.request.isFirstPage ? "" : "<a href=\"\(first.address())\">First page</a>"
    let previous: HTML? = page.previous.map {
        "<a id=\"previous\" rel=\"prev\" href=\"\($0.address())\">Previous page</a>"
    }
    let next: HTML? = page.next.map {
        "<a id=\"next\" rel=\"next\" href=\"\($0.address())\">Next page</a>"
    }
    // Both are bounded where they enter.
    let from = page.request.precedingCount + 1
    let until = page.request.precedingCount + Int64(page.rows.count)
    let range: HTML =
        page.rows.isEmpty
        ? "" : "<span class=\"quiet\">Rows \(grouped(from)) to \(grouped(until))</span>"
    return "<p class=\"links\">\(range) \(start) \(previous) \(next)</p>"
}
