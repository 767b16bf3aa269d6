import LarderModel

// Positions in the ordered list of one object. `ListPosition` says how they are numbered.
extension ChangeSetRun {
    /// The position of what is appended to a list.
    func lastPosition(_ order: ListOrder, of owner: Int64) throws(SQLiteError) -> Int64 {
        guard let last = try integer(order.last, owner) else { return 0 }
        if last <= ListPosition.range.upperBound - ListPosition.gap {
            return last + ListPosition.gap
        }
        try renumber(order, of: owner)
        return (try integer(order.last, owner) ?? 0) &+ ListPosition.gap
    }

    /// Positions for so many new items behind an item of a list. Where there is no room, those
    /// that follow move up.
    ///
    /// - Parameter moved: Items that count as if they were not there.
    func makeRoom(
        for count: Int, behind left: ListItem, _ order: ListOrder, of owner: Int64,
        without moved: Set<Int64> = []
    ) throws(SQLiteError) -> [Int64] {
        let new = [Int64?](repeating: nil, count: count)
        var followersMax = 4
        while true {
            let followers = try items(
                order.following, from: left, of: owner, without: moved, atMost: followersMax)
            let spacing = ListPosition.spacing(
                after: left == .start ? nil : left.position, new + followers.map(\.position),
                endsList: followers.count < followersMax)
            switch spacing {
            case .positions(let positions):
                for (follower, position) in zip(followers, positions.dropFirst(count)) {
                    try move(follower.key, to: position, order, of: owner)
                }
                return Array(positions.prefix(count))
            case .needsMore: followersMax *= 2
            case .noRoom:
                try renumber(order, of: owner)
                let all = try items(order.following, from: .start, of: owner)
                let again = all.first { $0.key == left.key } ?? .start
                return try makeRoom(for: count, behind: again, order, of: owner, without: moved)
            }
        }
    }

    func move(
        _ key: Int64, to position: Int64, _ order: ListOrder, of owner: Int64
    ) throws(SQLiteError) {
        try statements.statement(order.move).run([
            .integer(owner), .integer(key), .integer(position),
        ])
    }

    private func renumber(_ order: ListOrder, of owner: Int64) throws(SQLiteError) {
        let all = try items(order.following, from: .start, of: owner)
        let positions = ListPosition.positions(for: all.map { _ in nil })
        for (item, position) in zip(all, positions) {
            try move(item.key, to: position, order, of: owner)
        }
    }

    /// Items of a list that follow or precede one, nearest first: read to the end, so that they may
    /// then be changed.
    func items(
        _ text: SQLText, from item: ListItem, of owner: Int64, without moved: Set<Int64> = [],
        atMost countMax: Int = .max
    ) throws(SQLiteError) -> [ListItem] {
        var items: [ListItem] = []
        try walk(text, from: item, of: owner, without: moved) { item in
            items.append(item)
            return items.count < countMax
        }
        return items
    }

    /// Visits items as long as the visit says so.
    func walk(
        _ text: SQLText, from item: ListItem, of owner: Int64, without moved: Set<Int64>,
        _ visit: (ListItem) -> Bool
    ) throws(SQLiteError) {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind([.integer(owner), .integer(item.position), .integer(item.key)])
        while try statement.step() {
            let item = ListItem(key: statement.int64(at: 0), position: statement.int64(at: 1))
            guard moved.isEmpty || !moved.contains(item.key) else { continue }
            guard visit(item) else { return }
        }
    }
}
