import FoundationEssentials
import Glibc
import LarderClient
import TestSupport
import Testing

/// Runs the blocks of a ``LiveScript`` in an empty store: one client observes, another one saves.
final class LiveScriptRun {
    /// How long a check waits for a result that equals a fetch.
    static let patience = Duration.seconds(600)

    let client: StoreClient
    let writer: StoreClient
    let patience: Duration
    private let loses: (LiveResult) -> Bool
    private var observed: [Observed] = []
    var observedValues: [ObservedValues] = []
    private var names: [String: PersistentIdentifier] = [:]

    private struct Observed {
        let query: LiveScript.Query
        let results: LiveResults
        /// The rows of the last result.
        var received: [Record]
        /// The rows of the last result that was not lost.
        var rows: [Record]
    }

    /// Deletes all objects.
    ///
    /// - Parameters:
    ///   - aggregates: Counts and aggregates to observe besides the queries of a script.
    ///   - loses: A planted error: whether the observer loses a result.
    init(
        _ client: StoreClient, writer: StoreClient, patience: Duration = LiveScriptRun.patience,
        aggregates: [(Query, QueryParameters)] = [],
        loses: @escaping (LiveResult) -> Bool = { _ in false }
    ) throws {
        (self.client, self.writer, self.patience, self.loses) = (client, writer, patience, loses)
        // The server would share the evaluation with the observers of an earlier run.
        let hasEnded = try eventually {
            try client.statistics().contains { $0.name == "liveQueries" && $0.value == .int(0) }
        }
        #expect(hasEnded, "the observers of an earlier run have ended")
        for entityName in ["Article", "Category", "ArticleCollection"] {
            _ = try writer.deleteAll(entityName, where: nil)
        }
        for (query, parameters) in aggregates { try observe(query, parameters) }
    }

    /// The output of all checks; empty if each query has always equaled a fetch.
    func run(_ script: LiveScript) throws -> String {
        for query in script.queries { try observe(query) }
        for step in script.steps {
            let output = try run(step)
            if !output.isEmpty { return output }
        }
        return ""
    }

    /// Runs a block of a golden script.
    func run(_ block: String) throws -> String {
        guard block.hasPrefix("observe ") else { return try run(LiveScript.Step(parsing: block)) }
        try observe(LiveScript.Query(parsing: block))
        return ""
    }

    func observe(_ query: LiveScript.Query) throws {
        let results = client.observe(query.fetch, query.parameters)
        guard let first = try results.next(timeout: Self.patience) else {
            throw LiveScript.Unreadable(description: "no first result of\n\(query.text)")
        }
        observed.append(
            Observed(query: query, results: results, received: first.rows, rows: first.rows))
    }

    func run(_ step: LiveScript.Step) throws -> String {
        switch step {
        case .save(let edits): try save(edits)
        case .increment(let predicate):
            _ = try writer.updateAll(
                "Article", expressions: ["wordCount": "wordCount + 1"], where: predicate)
        case .check: return try check()
        }
        return ""
    }

    /// The names of the objects of an entity that exist.
    func existing(_ entityName: String) throws -> [String] {
        let known = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
        return try writer.fetch(entityName).compactMap { known[$0.identifier] }
    }

    // MARK: - Commits

    private func save(_ edits: [LiveScript.Edit]) throws {
        var inserted: [String: PersistentIdentifier] = [:]
        for edit in edits {
            if case .insert(let entityName) = edit.kind {
                inserted[edit.object] = PersistentIdentifier(
                    temporary: edit.object, entityName: entityName)
            }
        }
        func value(_ json: JSONValue) -> Value {
            guard case .string(let text) = json, text.hasPrefix("@") else { return json.value }
            let name = String(text.dropFirst())
            return (inserted[name] ?? names[name]).map { .object($0) } ?? .null
        }
        var changes: [Change] = []
        var order: [String] = []
        for edit in edits {
            let values = edit.values.mapValues(value)
            switch (edit.kind, inserted[edit.object] ?? names[edit.object]) {
            case (.insert, let object?):
                changes.append(.insert(object, values: values))
                order.append(edit.object)
            case (.update, let object?):
                changes.append(.update(object, ifVersion: nil, values: values))
            case (.delete, let object?): changes.append(.delete(object, ifVersion: nil))
            case (_, nil): break
            }
        }
        do throws(LarderError) {
            let result = try writer.save(ChangeSet(changes))
            for (name, object) in zip(order, result.inserted) { names[name] = object }
        } catch {
            // For example, a change deletes an object that another one refers to.
            guard (200..<500).contains(error.code.rawValue) else { throw error }
        }
    }

    // MARK: - Checks

    private func check() throws -> String {
        let current = try writer.currentToken()
        var differences: [String] = []
        for index in observed.indices {
            let query = observed[index].query
            let expected = try writer.fetch(query.fetch, query.parameters).objects
            // The last result may be of an earlier commit that is the last to concern it.
            while observed[index].received != expected,
                let result = try observed[index].results.next(timeout: patience)
            {
                observed[index].received = result.rows
                if !loses(result) { observed[index].rows = result.rows }
                if result.position > current, result.rows != expected {
                    differences.append("query \(index + 1) has a result of a later commit")
                }
            }
            guard observed[index].rows != expected else { continue }
            differences.append(
                "query \(index + 1) has \(text(observed[index].rows)) instead of \(text(expected))")
        }
        return (differences + (try checkValues())).joined(separator: "\n")
    }

    private func text(_ rows: [Record]) -> String {
        let known = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
        let rows = rows.map { row in
            let values = row.values.sorted { $0.key < $1.key }.map { name, value in
                if case .object(let object) = value {
                    return "\(name): @\(known[object] ?? "?")"
                }
                return "\(name): \(value.jsonValue.text)"
            }
            return "\(known[row.identifier] ?? "?") {\(values.joined(separator: ", "))}"
        }
        return "[\(rows.joined(separator: "; "))]"
    }
}
