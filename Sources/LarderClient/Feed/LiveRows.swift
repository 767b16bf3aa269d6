import LarderModel
internal import LarderWire

/// The rows of an observed fetch: applies the replies of the server.
struct LiveRows {
    private var rows: [Record] = []
    /// The part of a whole result that has been received; nil if none is under way.
    private var incoming: [Record]?

    /// - Returns: the result, unless more of it follows.
    mutating func apply(_ reply: ObserveReply) throws(LarderError) -> LiveResult? {
        let received = reply.rows?.records(store: reply.position.store) ?? []
        guard received.count == reply.rows?.rowCount ?? 0 else { throw Self.inconsistent }
        if reply.begins { incoming = [] }
        if incoming != nil {
            incoming? += received
            guard reply.ends, let whole = incoming else { return nil }
            incoming = nil
            return replace(with: whole, at: reply.position)
        }
        return try change(reply, received)
    }

    // MARK: - Changes

    private mutating func change(
        _ reply: ObserveReply, _ placed: [Record]
    ) throws(LarderError) -> LiveResult {
        guard placed.count == reply.newIndexes.count else { throw Self.inconsistent }
        var result = LiveResult(rows, at: reply.position)
        var removed = Set(reply.deleted.map { Int($0) })
        for (index, oldIndex) in reply.oldIndexes.enumerated() where oldIndex > 0 {
            let move = LiveResult.Move(from: Int(oldIndex) - 1, to: Int(reply.newIndexes[index]))
            removed.insert(move.from)
            if reply.moved[index] { result.moved.append(move) } else { result.updated.append(move) }
        }
        for (index, oldIndex) in reply.oldIndexes.enumerated() where oldIndex == 0 {
            result.inserted.append(Int(reply.newIndexes[index]))
        }
        // Each row is removed once.
        let removedCount = reply.deleted.count + result.updated.count + result.moved.count
        guard removed.count == removedCount, removed.allSatisfy(rows.indices.contains)
        else { throw Self.inconsistent }
        result.deleted = reply.deleted.sorted().map { (Int($0), rows[Int($0)]) }
        rows = try Self.placing(placed, at: reply.newIndexes, in: rows, without: removed)
        result.rows = rows
        return result
    }

    /// The rows without some, and with others at ascending indexes.
    private static func placing(
        _ placed: [Record], at indexes: [UInt32], in rows: [Record], without removed: Set<Int>
    ) throws(LarderError) -> [Record] {
        if placed.count == 1, removed.count == 1, let old = removed.first, old == Int(indexes[0]) {
            var rows = rows
            rows[old] = placed[0]
            return rows
        }
        var kept = rows.indices.lazy.filter { !removed.contains($0) }.map { rows[$0] }
            .makeIterator()
        let count = rows.count - removed.count + placed.count
        var result: [Record] = []
        result.reserveCapacity(count)
        for (index, row) in zip(indexes, placed) {
            guard Int(index) < count, Int(index) >= result.count else { throw inconsistent }
            while result.count < Int(index), let next = kept.next() { result.append(next) }
            guard result.count == Int(index) else { throw inconsistent }
            result.append(row)
        }
        while let next = kept.next() { result.append(next) }
        return result
    }

    private static let inconsistent = LarderError(
        .malformedMessage, "a change of an observed result does not fit to the result")

    // MARK: - Whole results

    /// The difference between the rows and a whole result.
    private mutating func replace(
        with whole: [Record], at position: HistoryToken
    ) -> LiveResult {
        var result = LiveResult(whole, at: position)
        let old = Dictionary(
            rows.enumerated().map { ($1.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        let identifiers = Set(whole.map(\.identifier))
        result.deleted = rows.enumerated().filter { !identifiers.contains($1.identifier) }
            .map { ($0, $1) }
        // Rows whose old indexes ascend keep their positions.
        var last = -1
        for (index, row) in whole.enumerated() {
            guard let oldIndex = old[row.identifier] else {
                result.inserted.append(index)
                continue
            }
            if oldIndex < last {
                result.moved.append(LiveResult.Move(from: oldIndex, to: index))
            } else {
                last = oldIndex
                if rows[oldIndex] != row {
                    result.updated.append(LiveResult.Move(from: oldIndex, to: index))
                }
            }
        }
        rows = whole
        return result
    }
}
