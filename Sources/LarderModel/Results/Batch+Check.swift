import FoundationEssentials

extension Batch {
    /// Checks everything that reading rows relies on: counts, end offsets, UTF-8, the form of
    /// values.
    ///
    /// Call this once for a batch that was received from outside. After that, reading a row never
    /// traps.
    ///
    /// - Throws: `malformedMessage`, naming the column.
    package func check() throws(LarderError) {
        guard rowCount >= 0 else { throw Self.malformed("its row count is negative") }
        if let identity {
            guard identity.keys.count == rowCount, identity.versions.count == rowCount else {
                throw Self.malformed("it must have one key and one version per row")
            }
            if let problem = identity.subentities.problem(keyCount: rowCount) {
                throw Self.malformed("its identity \(problem)")
            }
        }
        for column in columns {
            if let problem = column.problem(rowCount: rowCount) {
                throw Self.malformed(
                    "column `\(column.name.prefix(Limits.nameBytesMax))` \(problem)")
            }
        }
    }

    private static func malformed(_ sentence: String) -> LarderError {
        LarderError(.malformedMessage, "a batch is malformed: \(sentence)")
    }
}

extension Column {
    /// The reason why the column cannot be read; nil if it can.
    fileprivate func problem(rowCount: Int) -> String? {
        guard nulls.count <= rowCount / 8 + (rowCount % 8 == 0 ? 0 : 1) else {
            return "has more null bits than rows"
        }
        switch form {
        case .integers:
            return integers.count == rowCount
                ? subentities.problem(keyCount: rowCount) : "must have one value per row"
        case .doubles:
            return doubles.count == rowCount ? nil : "must have one value per row"
        case .lists:
            return endsProblem(total: integers.count, rowCount: rowCount)
                ?? subentities.problem(keyCount: integers.count)
        case .bytes:
            return endsProblem(total: heap.count, rowCount: rowCount) ?? contentProblem
        }
    }

    private func endsProblem(total: Int, rowCount: Int) -> String? {
        guard ends.count == rowCount else { return "must have one end offset per row" }
        var previous: UInt32 = 0
        for end in ends {
            guard end >= previous else { return "has decreasing end offsets" }
            previous = end
        }
        return Int(previous) == total ? nil : "has bytes or keys after its last row"
    }

    private var contentProblem: String? {
        switch kind {
        case .attribute(.data): return nil
        case .attribute(.uuid), .attribute(.decimal), .attribute(.url):
            let isRead = ends.indices.allSatisfy { row in
                isNull(at: row)
                    || Self.value(of: heap[Self.range(of: row, in: ends)], kind) != .null
            }
            return isRead ? nil : "has a value that is not of its type"
        default:
            return isUTF8 ? nil : "has text that is not UTF-8"
        }
    }

    /// Whether each row of a column of texts is valid UTF-8: the heap is as a whole, and is split
    /// between characters. A column of other values is.
    package var isUTF8: Bool {
        var bits: UInt8 = 0
        for byte in heap { bits |= byte }
        if bits < 0x80 { return true }
        switch kind {
        case .attribute(.data), .attribute(.uuid): return true
        default:
            return (try? UTF8Span(validating: heap.span)) != nil
                && !ends.contains { Int($0) < heap.count && heap[Int($0)] & 0xC0 == 0x80 }
        }
    }
}
