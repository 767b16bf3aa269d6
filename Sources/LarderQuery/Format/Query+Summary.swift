import LarderModel

extension Query {
    /// The maximum length of a summary, in characters.
    private static let summaryCharactersMax = 256

    /// The query in brief: `fetch where wordCount > %@ sort by title`. It has the predicate, the
    /// group keys and the sort keys as they were written, and is cut off if it is long.
    package var summary: String {
        let text: String
        switch self {
        case .fetch(let fetch):
            text = "fetch" + Self.text(fetch.predicate) + Self.text(fetch.sort)
        case .count(_, let predicate, _): text = "count" + Self.text(predicate)
        case .aggregate(let aggregate):
            let columns = aggregate.columns.map(\.name).joined(separator: ", ")
            let groups = aggregate.groupBy.map(\.name).joined(separator: ", ")
            text =
                "aggregate \(columns)" + Self.text(aggregate.predicate)
                + (groups.isEmpty ? "" : " group by \(groups)") + Self.text(aggregate.sort)
        }
        guard text.count > Self.summaryCharactersMax else { return text }
        return text.prefix(Self.summaryCharactersMax - 1) + "…"
    }

    private static func text(_ predicate: QueryTerm?) -> String {
        predicate.map { " where \($0.text)" } ?? ""
    }

    private static func text(_ sort: [SortKey]) -> String {
        guard !sort.isEmpty else { return "" }
        let keys = sort.map { $0.term.text + ($0.isDescending ? ":desc" : "") }
        return " sort by \(keys.joined(separator: ", "))"
    }
}

extension QueryTerm {
    /// The term as a format string.
    fileprivate var text: String {
        switch self {
        case .format(let text): text
        case .tree(let tree): tree.format
        }
    }
}
