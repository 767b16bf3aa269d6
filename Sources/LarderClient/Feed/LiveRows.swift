import LarderModel
import LarderQuery
internal import LarderWire

/// The rows of an observed fetch: applies the replies of the server.
struct LiveRows {
    /// The order of the sections; nil if there are none.
    private let sectionOrder: SortDirection?
    private var rows: [Record] = []
    private var sections: [LiveResult.Section] = []
    /// The part of a whole result that has been received, and the section of each of its rows; nil
    /// if none is under way.
    private var incoming: (rows: [Record], values: [Value])?

    init(sectionOrder: SortDirection? = nil) { self.sectionOrder = sectionOrder }

    /// - Returns: the result, unless more of it follows.
    mutating func apply(_ reply: ObserveReply) throws(LarderError) -> LiveResult? {
        let received = reply.rows?.records(store: reply.position.store) ?? []
        guard received.count == reply.rows?.rowCount ?? 0 else { throw Self.inconsistent }
        let values = try sectionValues(reply)
        if reply.begins { incoming = ([], []) }
        if incoming != nil {
            incoming?.rows += received
            incoming?.values += values
            guard reply.ends, let whole = incoming else { return nil }
            incoming = nil
            return try replace(with: whole.rows, whole.values, at: reply.position)
        }
        return try change(reply, received, values)
    }

    /// The section of each row of a reply.
    private func sectionValues(_ reply: ObserveReply) throws(LarderError) -> [Value] {
        guard sectionOrder != nil, let rows = reply.rows, rows.rowCount > 0 else { return [] }
        guard let sections = reply.sections, sections.rowCount == rows.rowCount,
            let column = sections.columns.first
        else { throw Self.inconsistent }
        return (0..<rows.rowCount).map { column.value(at: $0, store: reply.position.store) }
    }

    /// Completes a result by its rows and sections, and stores them.
    private mutating func finish(
        _ result: inout LiveResult, _ rows: [Record], _ sections: [LiveResult.Section]
    ) {
        if let sectionOrder {
            (result.insertedSections, result.deletedSections) =
                sections.changes(since: self.sections, sectionOrder)
        }
        (result.rows, result.sections) = (rows, sections)
        (self.rows, self.sections) = (rows, sections)
    }

    // MARK: - Changes

    private mutating func change(
        _ reply: ObserveReply, _ placed: [Record], _ placedValues: [Value]
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
        let indexes = reply.newIndexes
        let newRows = try Self.placing(placed, at: indexes, in: rows, without: removed)
        var newSections: [LiveResult.Section] = []
        if let sectionOrder {
            let values = sections.map(\.value) + placedValues
            let ofRows = try Self.placing(
                Array(sections.count..<values.count), at: indexes, in: sections.ofRows,
                without: removed)
            newSections = try [LiveResult.Section](of: ofRows, among: values, sectionOrder)
        }
        finish(&result, newRows, newSections)
        return result
    }

    /// The rows without some, and with others at ascending indexes.
    private static func placing<Row>(
        _ placed: [Row], at indexes: [UInt32], in rows: [Row], without removed: Set<Int>
    ) throws(LarderError) -> [Row] {
        if placed.count == 1, removed.count == 1, let old = removed.first, old == Int(indexes[0]) {
            var rows = rows
            rows[old] = placed[0]
            return rows
        }
        var kept = rows.indices.lazy.filter { !removed.contains($0) }.map { rows[$0] }
            .makeIterator()
        let count = rows.count - removed.count + placed.count
        var result: [Row] = []
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
        with whole: [Record], _ values: [Value], at position: HistoryToken
    ) throws(LarderError) -> LiveResult {
        var result = LiveResult(whole, at: position)
        let newSections = try sectionOrder.map { (order) throws(LarderError) in
            try [LiveResult.Section](of: values, order)
        }
        let oldSections = sections.ofRows
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
                let isSameSection =
                    sectionOrder.map {
                        $0.order(sections[oldSections[oldIndex]].value, values[index]) == 0
                    } ?? true
                if rows[oldIndex] != row || !isSameSection {
                    result.updated.append(LiveResult.Move(from: oldIndex, to: index))
                }
            }
        }
        finish(&result, whole, newSections ?? [])
        return result
    }
}
