#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// A transaction of the writer, in which several change sets may be saved.
///
/// The transactions of the history get their numbers when it commits, in the order of the commits.
/// Until then each has a negative number that no other writer uses.
final class WriteTransaction {
    let session: PostgresChangeSession
    /// In seconds since 2001.
    let time: Double
    private let schema: WritingSchema
    private let firstNumber = Int64.random(in: Int64.min...(-1 << 40))
    private let commit = UUID()
    private var histories: [History] = []
    /// By the number that it had before.
    private(set) var numbers: [Int64: Int64] = [:]

    /// The rows of one transaction of the history.
    private struct History {
        let number: Int64
        let author: String
        let source: ChangeSource
        let runs: [ChangeRun]
        let outcome: (user: Int64, key: String)?
    }

    init(_ session: PostgresChangeSession, _ schema: WritingSchema, time: Double) {
        self.session = session
        self.schema = schema
        self.time = time
    }

    /// The number of the next change set that changes something.
    var nextNumber: Int64 { firstNumber + Int64(histories.count) }

    /// The number of change sets that have changed something.
    var historyCount: Int64 { Int64(histories.count) }

    /// Finds the first transaction of the history, if it has been committed. nil before
    /// ``storeHistory(after:)``.
    var search: PostgresStatement? {
        guard let first = histories.first, let number = numbers[first.number] else { return nil }
        return PostgresStatement(
            SQLDialect.postgres.finished(Layout.findCommit).text,
            [.integer(number), .uuid(commit.bytes)])
    }

    /// Records what a set has changed, if it has changed something. Nothing may fail afterwards.
    ///
    /// - Parameter outcome: Where the outcome of a set with an idempotency key is stored.
    func record(
        _ runs: [ChangeRun], _ number: Int64, author: String, _ source: ChangeSource,
        outcome: (user: Int64, key: String)? = nil
    ) {
        guard !runs.isEmpty else { return }
        histories.append(
            History(
                number: number, author: author, source: source, runs: runs, outcome: outcome))
    }

    // MARK: - The history

    /// Queues the statements that store the history.
    ///
    /// - Parameter last: The number of the last transaction of the store.
    func storeHistory(after last: Int64) throws(SQLError) {
        for (index, history) in histories.enumerated() {
            let number = last + 1 + Int64(index)
            numbers[history.number] = number
            try session.run(
                Layout.insertCommittedTransaction,
                transaction(number, history) + values(history.runs[0]) + [.blob(commit.bytes)])
            try insertRuns(of: history, number)
            if schema.recordsValues {
                try session.run(
                    Layout.renumberPreserved, [.integer(number), .integer(history.number)])
            }
            if let outcome = history.outcome {
                try session.run(
                    Layout.renumberOutcome,
                    [.integer(number), .integer(outcome.user), .text(outcome.key)])
            }
        }
    }

    private func transaction(_ number: Int64, _ history: History) -> [SQLValue] {
        func text(_ text: String) -> SQLValue { text.isEmpty ? .null : .text(text) }
        let source = history.source
        return [
            .integer(number), .real(time), text(history.author), text(source.clientName),
            source.userIdentifier.map { .integer(Int64($0)) } ?? .null,
            source.processIdentifier.map { .integer(Int64($0)) } ?? .null,
        ]
    }

    /// Inserts the runs after the first.
    private func insertRuns(of history: History, _ number: Int64) throws(SQLError) {
        let several = Layout.changesAtOnce
        var index = 1
        while index < history.runs.count {
            let count = history.runs.count - index >= several ? several : 1
            let rows = (index..<index + count).flatMap {
                [.integer(Int64($0))] + values(history.runs[$0])
            }
            try session.run(
                count == 1 ? Layout.insertChange : Layout.insertSeveralChanges,
                [.integer(number)] + rows)
            index += count
        }
    }

    /// Kind, entity, first key, last key, properties.
    private func values(_ run: ChangeRun) -> [SQLValue] {
        [
            .integer(run.kind.rawValue), .text(schema.entities[run.entity].name),
            .integer(run.first), .integer(run.last),
            run.kind == .updated ? .text(run.propertyNames(schema)) : .null,
        ]
    }
}
#endif
