/// The kinds of requests, with the names that they have in the protocol's `Envelope`.
enum RequestKind: Int, CaseIterable, Sendable {
    case get, query, explain, analyze, save, saveInParts, insertRows, history, deleteHistory
    case openSnapshot, observe, backup, migrate, schema, statistics, queryStatistics, activity
    case metrics, endRequests, check, ping

    /// The name with lower-case words and underscores.
    var name: String {
        "\(self)".reduce(into: "") { name, character in
            if character.isUppercase { name.append("_") }
            name.append(contentsOf: character.lowercased())
        }
    }
}

extension Operation.Kind {
    var requestKind: RequestKind {
        switch self {
        case .get: .get
        case .query: .query
        case .explain: .explain
        case .analyze: .analyze
        case .save: .save
        case .saveInParts: .saveInParts
        case .insertRows: .insertRows
        case .history: .history
        case .deleteHistory: .deleteHistory
        case .openSnapshot: .openSnapshot
        case .observe: .observe
        case .backup: .backup
        case .migrate: .migrate
        case .schema: .schema
        case .statistics: .statistics
        case .queryStatistics: .queryStatistics
        case .activity: .activity
        case .metrics: .metrics
        case .endRequests: .endRequests
        case .check: .check
        case .ping: .ping
        }
    }
}
