import LarderModel

extension Query {
    /// The maximum length of a shape, in characters.
    private static let shapeCharactersMax = 512

    /// The query with `%@` for each value, and without limit and offset, which are not part of a
    /// plan: `fetch where wordCount > %@ sort by title`. Names of columns that a client has chosen
    /// are left out, because they may have values. It is cut off if it is long.
    package var shape: String {
        var parts: [String]
        switch self {
        case .fetch(let fetch):
            let columns = fetch.selection.columns.map { $0.term.shape }
            parts = [
                (fetch.isDistinct ? "fetch distinct" : "fetch")
                    + (fetch.selection == .identifiers ? " identifiers" : "")
                    + (columns.isEmpty ? "" : " \(columns.joined(separator: ", "))")
            ]
            parts += Self.part("where", fetch.predicate)
            parts += Self.parts(fetch.sort)
            if !fetch.prefetch.isEmpty {
                parts.append("prefetch \(fetch.prefetch.joined(separator: ", "))")
            }
            if !fetch.includesSubentities { parts.append("without subentities") }
        case .count(_, let predicate, let includesSubentities):
            parts = ["count"] + Self.part("where", predicate)
            if !includesSubentities { parts.append("without subentities") }
        case .aggregate(let aggregate):
            parts = ["aggregate " + aggregate.columns.map(\.shape).joined(separator: ", ")]
            parts += Self.part("where", aggregate.predicate)
            if !aggregate.groupBy.isEmpty {
                let keys = aggregate.groupBy.map { $0.term.shape }
                parts.append("group by \(keys.joined(separator: ", "))")
            }
            parts += Self.part("having", aggregate.having)
            parts += Self.parts(aggregate.sort)
            if !aggregate.includesSubentities { parts.append("without subentities") }
        }
        return Self.cut(parts.joined(separator: " "))
    }

    /// The text of a shape, cut off if it is long.
    package static func cut(_ text: String) -> String {
        guard text.count > shapeCharactersMax else { return text }
        return text.prefix(shapeCharactersMax - 1) + "…"
    }

    private static func part(_ name: String, _ predicate: QueryTerm?) -> [String] {
        predicate.map { ["\(name) \($0.shape)"] } ?? []
    }

    private static func parts(_ sort: [SortKey]) -> [String] {
        guard !sort.isEmpty else { return [] }
        let keys = sort.map {
            $0.term.shape + ($0.isDescending ? ":desc" : "")
        }
        return ["sort by \(keys.joined(separator: ", "))"]
    }
}

extension Aggregate.Column {
    fileprivate var shape: String {
        function.rawValue + (term.map { "(\($0.shape))" } ?? "")
            + (filter.map { " where \($0.shape)" } ?? "")
    }
}

extension QueryTerm {
    fileprivate var shape: String {
        switch self {
        case .format(let text): PredicateFormat.shape(of: text)
        case .tree(let tree): tree.withoutConstants.format
        }
    }
}

extension QueryExpression {
    /// The expression with an argument for each constant but nil.
    fileprivate var withoutConstants: QueryExpression {
        switch self {
        case .constant(.null): self
        case .constant: .argument(0)
        default: mapChildren { $0.withoutConstants }
        }
    }
}
