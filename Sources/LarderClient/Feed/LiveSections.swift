import LarderModel
import LarderQuery

// How rows are divided into sections by the value of each, and how sections change.

extension [LiveResult.Section] {
    /// Divides rows into sections by the value of each.
    ///
    /// - Throws: `malformedMessage` if the rows of a section are not together.
    init(of values: [Value], _ order: SortDirection) throws(LarderError) {
        try self.init(of: [Int](values.indices), among: values, order)
    }

    /// Divides rows into sections.
    ///
    /// - Parameters:
    ///   - rows: For each row the index of its value, so that rows with the same one are not
    ///     compared.
    ///   - values: Values, of which some may be equal.
    ///   - order: The order of the sections.
    /// - Throws: `malformedMessage` if the rows of a section are not together.
    init(of rows: [Int], among values: [Value], _ order: SortDirection) throws(LarderError) {
        self = []
        var start = 0
        for row in rows.indices {
            if row + 1 < rows.count {
                let (value, next) = (rows[row], rows[row + 1])
                if value == next || order.order(values[value], values[next]) == 0 { continue }
            }
            append(LiveResult.Section(values[rows[start]], start..<row + 1))
            start = row + 1
        }
        // By scalars, in case the server has other tables for the other orders of strings.
        let plain = SortDirection(SortKey("section"))
        let sorted = map(\.value).sorted { plain.order($0, $1) < 0 }
        guard zip(sorted, sorted.dropFirst()).allSatisfy({ plain.order($0, $1) != 0 }) else {
            throw LarderError(
                .malformedMessage, "the rows of a section of an observed result are not together")
        }
    }

    /// The index of the section of each row.
    var ofRows: [Int] {
        indices.flatMap { [Int](repeating: $0, count: self[$0].count) }
    }

    /// The indexes of the sections that are not among the old ones, and the old indexes of those
    /// that are not among the new ones.
    func changes(
        since old: [LiveResult.Section], _ order: SortDirection
    ) -> (inserted: [Int], deleted: [Int]) {
        var (inserted, deleted): ([Int], [Int]) = ([], [])
        var (index, oldIndex) = (0, 0)
        while index < count || oldIndex < old.count {
            let step =
                if index == count {
                    -1
                } else if oldIndex == old.count {
                    1
                } else {
                    order.order(old[oldIndex].value, self[index].value)
                }
            if step < 0 { deleted.append(oldIndex) }
            if step > 0 { inserted.append(index) }
            if step <= 0 { oldIndex += 1 }
            if step >= 0 { index += 1 }
        }
        return (inserted, deleted)
    }
}
