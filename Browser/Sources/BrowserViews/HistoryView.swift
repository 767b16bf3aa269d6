public import HTMLPages
public import LarderClient

/// A page of the history, the newest transaction first.
public struct HistoryPage: Sendable {
    /// The object whose history it is; nil for that of the store.
    public var object: PersistentIdentifier?
    public var transactions: [HistoryTransaction]
    /// The number before which the next page begins; nil if there are no older transactions.
    public var older: Int64?
    /// Why there is no history.
    public var error: LarderError?

    public init(
        object: PersistentIdentifier?, transactions: [HistoryTransaction], older: Int64?,
        error: LarderError? = nil
    ) {
        self.object = object
        self.transactions = transactions
        self.older = older
        self.error = error
    }
}

/// The number of runs of changes that are shown of one transaction.
private let runsMax = 20

public func historyView(_ page: HistoryPage) -> HTML {
    let title: HTML =
        page.object.map { "History of <a href=\"\(Link.object($0))\">\($0.shortText)</a>" }
        ?? "History"
    if let error = page.error {
        return "<h1>\(title)</h1>\n<p class=\"error\">\(error.sentence)</p>"
    }
    let older: HTML? = page.older.map { number in
        let address =
            page.object.map { Link.history(of: $0, before: number) }
            ?? Link.address(Link.history, [("before", number.description)])
        return "<p class=\"links\"><a id=\"next\" rel=\"next\" href=\"\(address)\">Older</a></p>"
    }
    let empty: HTML =
        page.older == nil
        ? "<p class=\"empty\">The history has no changes.</p>"
        : "<p class=\"empty\">There are no changes among the transactions that were searched.</p>"
    return """
        <h1>\(title)</h1>
        \(page.transactions.isEmpty ? empty : table(page.transactions))
        \(older)
        """
}

private func table(_ transactions: [HistoryTransaction]) -> HTML {
    """
    <div class="scroll" role="region" aria-label="Transactions" tabindex="0">
    <table class="rows"><thead><tr><th scope="col" class="number">Number</th>
    <th scope="col">Time</th><th scope="col">By</th><th scope="col">Changes</th></tr></thead>
    <tbody>\(transactions.map(transactionRow))</tbody></table></div>
    """
}

private func transactionRow(_ transaction: HistoryTransaction) -> HTML {
    let runs = transaction.runs.prefix(runsMax).map { run($0, in: transaction) }
    let others = transaction.runs.count - runs.count
    let more: HTML = others > 0 ? "<li class=\"quiet\">and \(others) more</li>" : ""
    let time = ShownValue(.date(transaction.timestamp), charactersMax: 40).cell
    return """
        <tr data-id="\(transaction.id)"><th scope="row" class="number">\(transaction.id)</th>\
        <td>\(time)</td><td>\(author(transaction))</td>\
        <td><ul class="runs">\(runs)\(more)</ul></td></tr>
        """
}

private func author(_ transaction: HistoryTransaction) -> HTML {
    let source = transaction.source
    var parts: [HTML] = []
    if !transaction.author.isEmpty { parts.append("<b>\(transaction.author)</b>") }
    if !source.clientName.isEmpty { parts.append("\(source.clientName)") }
    if let process = source.processIdentifier {
        parts.append("<span class=\"quiet\">process \(process)</span>")
    }
    return parts.joined(separator: " ")
}

private func run(_ run: HistoryRun, in transaction: HistoryTransaction) -> HTML {
    let first = PersistentIdentifier(
        store: transaction.token.store, entityName: run.entityName, key: run.keys.lowerBound)
    let objects: HTML
    if run.keys.count == 1 {
        objects =
            run.kind == .deleted
            ? "\(first.shortText)" : "<a href=\"\(Link.object(first))\">\(first.shortText)</a>"
    } else {
        objects = """
            \(grouped(Int64(run.keys.count))) \(run.entityName) \
            <span class="quiet">p\(run.keys.lowerBound) to p\(run.keys.upperBound)</span>
            """
    }
    let properties: HTML =
        run.properties.isEmpty
        ? "" : ": <span class=\"quiet\">\(run.properties.joined(separator: ", "))</span>"
    let kind = run.kind.word
    let rest: HTML = "\(objects)\(properties)\(preserved(run, in: transaction))"
    return "<li class=\"\(kind)\">\(kind) \(rest)</li>"
}

/// The values that the history keeps of a deleted object.
private func preserved(_ run: HistoryRun, in transaction: HistoryTransaction) -> HTML? {
    guard run.kind == .deleted,
        let tombstone = transaction.tombstones.first(where: {
            $0.entityName == run.entityName && run.keys.contains($0.key)
        })
    else { return nil }
    let values = tombstone.values.sorted { $0.key < $1.key }.map { name, value -> HTML in
        "<span class=\"quiet\">\(name)</span> \(ShownValue(value, charactersMax: 100).cell)"
    }
    return " \(values.joined(separator: ", "))"
}

extension HistoryRun.Kind {
    public var word: String {
        switch self {
        case .inserted: "inserted"
        case .updated: "updated"
        case .deleted: "deleted"
        }
    }
}
