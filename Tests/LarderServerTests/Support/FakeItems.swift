import LarderModel

/// A fetch without a format string, as live queries make it: all items of a fake store, or those
/// in the list that is its last argument. It sorts by number if it has a sort key, else by key. Or
/// the number of all items.
struct FakeItems {
    private let fetch: Fetch
    private let isCount: Bool

    /// - Returns: nil for any other query.
    init?(_ query: Query) {
        switch query {
        case .fetch(let fetch):
            if case .format? = fetch.predicate { return nil }
            (self.fetch, isCount) = (fetch, false)
        case .count(let entityName, nil, _): (fetch, isCount) = (Fetch(entityName), true)
        case .count, .aggregate: return nil
        }
    }

    /// The selected keys, in order.
    func keys(_ numbers: [Int64: Int64], _ parameters: QueryParameters) -> [Int64] {
        var keys = numbers.keys.sorted()
        if case .tree? = fetch.predicate, case .list(let objects)? = parameters.arguments.last {
            let listed = Set(
                objects.compactMap { value -> Int64? in
                    if case .object(let identifier) = value { identifier.permanentKey } else { nil }
                })
            keys.removeAll { !listed.contains($0) }
        }
        if !fetch.sort.isEmpty {
            keys.sort { (numbers[$0] ?? 0, $0) < (numbers[$1] ?? 0, $1) }
        }
        return Array(keys.prefix(parameters.limit.map { Int($0) } ?? .max))
    }

    func batch(_ keys: some Sequence<Int64>, _ numbers: [Int64: Int64]) -> Batch {
        let keys = Array(keys)
        if isCount {
            let count = Column(
                name: "count", kind: .attribute(.int64), storage: .integers([Int64(keys.count)]))
            return Batch(rowCount: 1, columns: [count])
        }
        let names: [String] =
            switch fetch.selection {
            case .objects: ["number"]
            case .identifiers: []
            case .columns(let columns), .values(let columns): columns.map(\.name)
            }
        return Batch(
            rowCount: keys.count,
            identity: Batch.Identity(
                entityName: "Item", keys: keys, versions: keys.map { _ in 1 }),
            columns: names.map { name in
                Column(
                    name: name, kind: .attribute(.int64),
                    storage: .integers(keys.map { numbers[$0] ?? 0 }))
            })
    }
}
