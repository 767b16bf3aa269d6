import LarderModel

/// The changes of a transaction, in one line: `+2 Article, ~1 Category (name), -1 Tag`.
struct ChangeSummary {
    /// The changes of one kind and entity.
    private struct Group {
        let kind: HistoryRun.Kind
        let entityName: String
        var count = 0
        /// In the order of their first change.
        var properties: [String] = []
    }

    private static let propertiesMax = 6
    private var groups: [Group] = []

    init(of transaction: HistoryTransaction) {
        for run in transaction.runs {
            // The runs of one kind and entity follow each other.
            if groups.last.map({ $0.kind == run.kind && $0.entityName == run.entityName }) != true {
                groups.append(Group(kind: run.kind, entityName: run.entityName))
            }
            let index = groups.count - 1
            groups[index].count = groups[index].count.addingClamped(run.keys.count)
            for name in run.properties where !groups[index].properties.contains(name) {
                groups[index].properties.append(name)
            }
        }
    }

    var text: String { groups.map(Self.text).joined(separator: ", ") }

    private static func text(_ group: Group) -> String {
        let sign =
            switch group.kind {
            case .inserted: "+"
            case .updated: "~"
            case .deleted: "-"
            }
        let text = "\(sign)\(group.count) \(group.entityName)"
        guard !group.properties.isEmpty else { return text }
        let shown = group.properties.prefix(propertiesMax)
        let rest = group.properties.count - shown.count
        return text + " (\(shown.joined(separator: ", "))\(rest > 0 ? ", \(rest) more" : ""))"
    }
}
