extension Batch {
    /// About what it takes in memory.
    public var byteCount: Int {
        columns.reduce((identity?.keys.count ?? 0) * 16) { $0 + $1.byteCount }
    }

    /// Some of the rows, from 0, as a batch of their own.
    public func rows(_ range: Range<Int>) -> Batch {
        var batch = self
        batch.rowCount = range.count
        if let identity {
            batch.identity = Identity(
                entityName: identity.entityName, keys: Array(identity.keys[range]),
                versions: Array(identity.versions[range]),
                subentities: identity.subentities.part(range))
        }
        batch.columns = columns.map { $0.rows(range) }
        return batch
    }
}

extension Column {
    /// The values of some rows, from 0. Of a column without values none.
    public func rows(_ range: Range<Int>) -> Column {
        let storage: Storage =
            switch self.storage {
            case .integers(let values): .integers(Array(values.part(range)))
            case .doubles(let values): .doubles(Array(values.part(range)))
            case .bytes(let heap, let ends):
                .bytes(
                    heap: Array(heap[Self.places(of: range, in: ends)]),
                    ends: Self.ends(of: range, in: ends))
            case .lists(let keys, let ends):
                .lists(
                    keys: Array(keys[Self.places(of: range, in: ends)]),
                    ends: Self.ends(of: range, in: ends))
            }
        var nulls: [UInt8] = []
        for row in range where isNull(at: row) {
            let place = row - range.lowerBound
            while nulls.count <= place >> 3 { nulls.append(0) }
            nulls[place >> 3] |= 1 << UInt8(place & 7)
        }
        var places = range
        if case .lists(_, let ends) = self.storage { places = Self.places(of: range, in: ends) }
        return Column(
            name: name, kind: kind, storage: storage, nulls: nulls,
            subentities: subentities.part(places))
    }

    private static func start(of row: Int, in ends: [UInt32]) -> UInt32 {
        row == 0 || ends.isEmpty ? 0 : ends[row - 1]
    }

    private static func places(of range: Range<Int>, in ends: [UInt32]) -> Range<Int> {
        Int(start(of: range.lowerBound, in: ends))..<Int(start(of: range.upperBound, in: ends))
    }

    private static func ends(of range: Range<Int>, in ends: [UInt32]) -> [UInt32] {
        let first = start(of: range.lowerBound, in: ends)
        return ends.part(range).map { $0 - first }
    }
}

extension Array {
    fileprivate func part(_ range: Range<Int>) -> ArraySlice<Element> {
        isEmpty ? [] : self[range]
    }
}
