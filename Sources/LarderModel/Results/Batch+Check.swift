import FoundationEssentials

extension Batch {
    /// Whether all that is read by row can be read: counts, ends, UTF-8, the shape of values.
    ///
    /// Asked once of a batch that came from outside; after it, reading a row never traps.
    ///
    /// - Throws: `malformedMessage` that names the column.
    public func check() throws(LarderError) {
        guard rowCount >= 0 else { throw Self.malformed("its row count is negative") }
        if let identity {
            guard identity.keys.count == rowCount, identity.versions.count == rowCount else {
                throw Self.malformed("it has not one key and one version a row")
            }
            if let fault = identity.subentities.fault(keyCount: rowCount) {
                throw Self.malformed("its identity \(fault)")
            }
        }
        for column in columns {
            if let fault = column.fault(rowCount: rowCount) {
                throw Self.malformed("column `\(column.name.prefix(Limits.nameBytesMax))` \(fault)")
            }
        }
    }

    private static func malformed(_ sentence: String) -> LarderError {
        LarderError(.malformedMessage, "a batch is malformed: \(sentence)")
    }
}

extension Column {
    /// What keeps the column from being read, nil if nothing does.
    fileprivate func fault(rowCount: Int) -> String? {
        guard nulls.count <= rowCount / 8 + (rowCount % 8 == 0 ? 0 : 1) else {
            return "has more null bits than rows"
        }
        switch form {
        case .integers:
            return integers.count == rowCount
                ? subentities.fault(keyCount: rowCount) : "has not one value a row"
        case .doubles:
            return doubles.count == rowCount ? nil : "has not one value a row"
        case .lists:
            return endsFault(total: integers.count, rowCount: rowCount)
                ?? subentities.fault(keyCount: integers.count)
        case .bytes:
            return endsFault(total: heap.count, rowCount: rowCount) ?? contentFault
        }
    }

    private func endsFault(total: Int, rowCount: Int) -> String? {
        guard ends.count == rowCount else { return "has not one end a row" }
        var previous: UInt32 = 0
        for end in ends {
            guard end >= previous else { return "has ends out of order" }
            previous = end
        }
        return Int(previous) == total ? nil : "has a heap that does not end with its last row"
    }

    private var contentFault: String? {
        switch kind {
        case .attribute(.data): return nil
        case .attribute(.uuid), .attribute(.decimal), .attribute(.url):
            let isRead = ends.indices.allSatisfy { row in
                isNull(at: row)
                    || Self.value(of: heap[Self.range(of: row, in: ends)], kind) != .null
            }
            return isRead ? nil : "has a value that is none of its type"
        default:
            // Valid as a whole, and cut between characters: then each row is valid.
            guard let text = try? UTF8Span(validating: heap.span) else {
                return "has text that is not UTF-8"
            }
            let isCut =
                !text.isKnownASCII
                && ends.contains { Int($0) < heap.count && heap[Int($0)] & 0xC0 == 0x80 }
            return isCut ? "has text that is not UTF-8" : nil
        }
    }
}
