/// Maps the rows of a stream to the lines of the file that they were read from.
///
/// Rows on consecutive lines share one entry.
struct RowLineMap {
    /// The maximum number of entries, to bound memory. The lines of later rows are unknown.
    static let runsMax = 1_000_000

    private var runs: [(row: Int, line: Int)] = []
    private var count = 0

    mutating func append(_ line: Int) {
        defer { count += 1 }
        if let last = runs.last, last.line + count - last.row == line { return }
        if runs.count < Self.runsMax { runs.append((row: count, line: line)) }
    }

    /// The line of a row; nil if it is unknown.
    ///
    /// - Parameter row: The index of the row, from 0.
    func line(of row: Int) -> Int? {
        guard row >= 0, row < count, let run = runs.last(where: { $0.row <= row }),
            runs.count < Self.runsMax || row < runs[runs.count - 1].row
        else { return nil }
        return run.line + row - run.row
    }

    /// Removes entries that only earlier rows need.
    mutating func forget(before row: Int) {
        guard let first = runs.lastIndex(where: { $0.row <= row }), first > 0 else { return }
        runs.removeFirst(first)
    }
}
