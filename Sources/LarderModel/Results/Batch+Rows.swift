extension Batch {
    /// The approximate size in memory.
    package var byteCount: Int {
        columns.reduce((identity?.keys.count ?? 0) * 16) { $0 + $1.byteCount }
    }

    /// Returns a range of rows, from 0, as a batch.
    package func rows(_ range: Range<Int>) -> Batch {
        var batch = self
        batch.rowCount = range.count
        if let identity {
            batch.identity = Identity(
                entityName: identity.entityName, keys: Array(identity.keys[range]),
                versions: Array(identity.versions[range]),
                subentities: identity.subentities.slice(range))
        }
        batch.columns = columns.map { $0.rows(range) }
        return batch
    }
}

extension Column {
    /// Returns the values of a range of rows, from 0.
    package func rows(_ range: Range<Int>) -> Column {
        let storage: Storage =
            switch self.storage {
            case .integers(let values): .integers(Array(values.slice(range)))
            case .doubles(let values): .doubles(Array(values.slice(range)))
            case .bytes(let heap, let ends):
                .bytes(
                    heap: Array(heap[Self.elementRange(of: range, in: ends)]),
                    ends: Self.ends(of: range, in: ends))
            case .lists(let keys, let ends):
                .lists(
                    keys: Array(keys[Self.elementRange(of: range, in: ends)]),
                    ends: Self.ends(of: range, in: ends))
            }
        var nulls: [UInt8] = []
        for row in range where isNull(at: row) {
            let index = row - range.lowerBound
            while nulls.count <= index >> 3 { nulls.append(0) }
            nulls[index >> 3] |= 1 << UInt8(index & 7)
        }
        var elements = range
        if case .lists(_, let ends) = self.storage {
            elements = Self.elementRange(of: range, in: ends)
        }
        return Column(
            name: name, kind: kind, storage: storage, nulls: nulls,
            subentities: subentities.slice(elements))
    }

    private static func start(of row: Int, in ends: [UInt32]) -> UInt32 {
        row == 0 || ends.isEmpty ? 0 : ends[row - 1]
    }

    private static func elementRange(of range: Range<Int>, in ends: [UInt32]) -> Range<Int> {
        Int(start(of: range.lowerBound, in: ends))..<Int(start(of: range.upperBound, in: ends))
    }

    private static func ends(of range: Range<Int>, in ends: [UInt32]) -> [UInt32] {
        let first = start(of: range.lowerBound, in: ends)
        return ends.slice(range).map { $0 - first }
    }
}

extension Array {
    fileprivate func slice(_ range: Range<Int>) -> ArraySlice<Element> {
        isEmpty ? [] : self[range]
    }
}
