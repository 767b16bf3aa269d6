import LarderModel

/// Edits of lists as edits of arrays.
extension ObjectModel {
    enum InsertionPoint {
        case first, last
        case before(Key)
        case after(Key)
        case index(Int)
    }

    /// Returns false if the edit is an error.
    mutating func add(
        _ targets: [Key], to object: Key, _ relationship: Relationship, at point: InsertionPoint
    ) -> Bool {
        var list = destinations(object, relationship.name)
        let new = targets.filter { !list.contains($0) }
        guard !new.isEmpty else { return true }
        guard new.allSatisfy({ links[$0] != nil }), let index = index(of: point, in: list)
        else { return false }
        list.insert(contentsOf: new, at: index)
        set(object, relationship, list)
        return true
    }

    mutating func remove(_ targets: [Key], from object: Key, _ relationship: Relationship) {
        let list = destinations(object, relationship.name)
        set(object, relationship, list.filter { !targets.contains($0) })
    }

    mutating func move(
        _ targets: [Key], in object: Key, _ relationship: Relationship, to point: InsertionPoint
    ) -> Bool {
        let list = destinations(object, relationship.name)
        var rest = list.filter { !targets.contains($0) }
        guard targets.allSatisfy(list.contains), let index = index(of: point, in: rest)
        else { return false }
        rest.insert(contentsOf: targets, at: index)
        set(object, relationship, rest)
        return true
    }

    private func index(of point: InsertionPoint, in list: [Key]) -> Int? {
        switch point {
        case .first: 0
        case .last: list.count
        case .before(let key): list.firstIndex(of: key)
        case .after(let key): list.firstIndex(of: key).map { $0 + 1 }
        case .index(let index): min(index, list.count)
        }
    }
}
