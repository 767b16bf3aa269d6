import LarderModel

/// Reads and changes the positions of objects in ordered lists. ``ListPosition`` computes them.
struct ListPositions {
    let context: ChangeContext

    /// The position of an object that is appended to the list of an owner.
    func appendPosition(_ order: ListOrder, of owner: Int64) throws(SQLError) -> Int64 {
        guard let last = try context.integer(order.last, owner) else { return 0 }
        if last <= ListPosition.range.upperBound - ListPosition.gap {
            return last + ListPosition.gap
        }
        try renumber(order, of: owner)
        return (try context.integer(order.last, owner) ?? 0) &+ ListPosition.gap
    }

    /// Positions for a number of new items directly after an item. If there is no room, the items
    /// that follow are moved.
    ///
    /// - Parameter ignored: Keys of items that count as if they were not in the list.
    func makeRoom(
        for count: Int, after left: ListItem, _ order: ListOrder, of owner: Int64,
        ignoring ignored: Set<Int64> = []
    ) throws(SQLError) -> [Int64] {
        let new = [Int64?](repeating: nil, count: count)
        var followersMax = 4
        while true {
            let followers = try items(
                order.following, from: left, of: owner, ignoring: ignored, atMost: followersMax)
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
                let renumbered = all.first { $0.key == left.key } ?? .start
                return try makeRoom(
                    for: count, after: renumbered, order, of: owner, ignoring: ignored)
            }
        }
    }

    /// Sets the position of an item.
    func move(
        _ key: Int64, to position: Int64, _ order: ListOrder, of owner: Int64
    ) throws(SQLError) {
        try context.session.run(
            order.move, [.integer(owner), .integer(key), .integer(position)])
    }

    private func renumber(_ order: ListOrder, of owner: Int64) throws(SQLError) {
        let all = try items(order.following, from: .start, of: owner)
        let positions = ListPosition.positions(for: all.map { _ in nil })
        for (item, position) in zip(all, positions) {
            try move(item.key, to: position, order, of: owner)
        }
    }

    /// The items that follow or precede an item, nearest first. All are read before it returns, so
    /// that the caller may change them.
    func items(
        _ text: SQL, from item: ListItem, of owner: Int64,
        ignoring ignored: Set<Int64> = [], atMost countMax: Int = .max
    ) throws(SQLError) -> [ListItem] {
        var items: [ListItem] = []
        try visit(text, from: item, of: owner, ignoring: ignored, atMost: countMax) { item in
            items.append(item)
            return items.count < countMax
        }
        return items
    }

    /// Visits the items that follow or precede an item, nearest first, until `visit` returns false,
    /// which it does for the last one that is needed.
    func visit(
        _ text: SQL, from item: ListItem, of owner: Int64, ignoring ignored: Set<Int64>,
        atMost countMax: Int, _ visit: (ListItem) -> Bool
    ) throws(SQLError) {
        let rowsMax = Int64(countMax.addingClamped(ignored.count))
        let bounds = [owner, item.position, item.key, rowsMax].map { SQLValue.integer($0) }
        try context.session.rows(text, bounds) { row in
            guard let key = row[0].int64, let position = row[1].int64,
                ignored.isEmpty || !ignored.contains(key)
            else { return true }
            return visit(ListItem(key: key, position: position))
        }
    }
}
