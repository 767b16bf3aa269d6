import FoundationEssentials
import LarderClient
import LarderModel
import LarderPrograms
import LarderQuery

/// Imports objects as a stream of rows: in transactions of some thousand rows, or in one.
///
/// It reads the next rows while the server stores the previous ones. After an error, the file is
/// committed exactly up to one line, which the error names; with one transaction, nothing is
/// committed.
struct StreamImporter {
    private let stream: InsertionStream
    private let insertion: Insertion
    private let file: InputFile
    private var lines = RowLineMap()
    /// The rows that the server has not confirmed yet, by the index of the first, for messages.
    private var batches: [(first: Int, rows: Batch)] = []
    private var progress = Progress("imported")

    init(
        _ client: StoreClient, _ file: InputFile, _ insertion: Insertion
    ) throws(LarderError) {
        stream = try client.openInsertion(insertion)
        self.insertion = insertion
        self.file = file
    }

    /// The line of the last row, if it is known.
    var lastLine: Int? { lines.line(of: Int(stream.progress.rowCount) - 1) }

    /// Imports all rows of the source.
    mutating func run(_ source: inout some RowSource) throws(LarderError) -> InsertedRows {
        defer { progress.end() }
        do throws(LarderError) {
            while let rows = try source.next() { try send(rows) }
            return try stream.finish()
        } catch {
            throw settled(error)
        }
    }

    private mutating func send(_ rows: SourceRows) throws(LarderError) {
        for line in rows.lines { lines.append(line) }
        if !insertion.isAtomic {
            let next = batches.last.map { $0.first + $0.rows.rowCount } ?? 0
            batches.append((next, rows.batch))
        }
        try stream.send(rows.batch)
        let count = Int(stream.progress.rowCount)
        progress.show(count, fraction: file.readFraction)
        if !insertion.isAtomic {
            lines.forget(before: count - 1)
            // The last one has the index of the next.
            while batches.count > 1, batches[1].first <= count { batches.removeFirst() }
        }
    }

    /// The error with its line and with the part of the file that was committed. An error of the
    /// rows that the server has not confirmed yet comes first: they precede it in the file.
    private func settled(_ error: LarderError) -> LarderError {
        var error = error
        if !insertion.isAtomic {
            do throws(LarderError) { try stream.settle() } catch let earlier { error = earlier }
        }
        stream.cancel()
        error = located(error)
        if error.code == .indeterminate { return error }
        let count = insertion.isAtomic ? 0 : stream.progress.rowCount
        let lastLine = lines.line(of: Int(count) - 1)
        return error.adding(
            hint: ImportOutcome.hint(file.name, lastLine: lastLine, objectCount: count))
    }

    /// The error with line numbers instead of the row indexes of the stream.
    private func located(_ error: LarderError) -> LarderError {
        let found = error.details.map { $0.change.flatMap { lines.line(of: $0) } }
        guard let first = found.lazy.compactMap(\.self).first else { return error }
        var located = error.at(line: first, of: file.name).showing(value)
        located.problems = zip(error.details, found).map { problem, line in
            line.map { "line \($0): \(problem.message)" } ?? problem.message
        }
        // The message of the error already contains a single problem.
        if located.problems.count == 1 { located.problems = [] }
        return located
    }

    /// The value of a row of the stream.
    private func value(_ row: Int, _ property: String) -> Value? {
        guard let batch = batches.last(where: { $0.first <= row }),
            row - batch.first < batch.rows.rowCount,
            let column = batch.rows.columns.firstIndex(where: { $0.name == property })
        else { return nil }
        return batch.rows.value(row: row - batch.first, column: column, store: UUID())
    }
}
