import LarderModel

/// A to-many relationship of one object, as edits see it.
private struct EditedList {
    let owner: ObjectKey
    let relationship: StoredRelationship
    /// A row, with the position if there is one, if an object is in the list.
    let member: SQLText
    /// nil for a list without order.
    let order: ListOrder?

    /// `Category.articles`, for sentences.
    var name: String { relationship.qualifiedName }
}

// Edits of to-many relationships: `docs/changes.md` says what each means.
extension ChangeSetRun {
    func edit(_ object: ObjectKey, _ edits: [PlannedEdit]) throws(SQLiteError) {
        for edit in edits where !faults.isFull {
            guard let list = editedList(schema.relationships[edit.relationship], of: object)
            else { continue }
            let targets = resolved(edit.targets)
            switch edit.kind {
            case .add(let place): try add(targets, to: list, at: resolved(place))
            case .remove:
                for target in targets where try isNamed(target) {
                    try detach(target.key, from: list)
                }
            case .move(let place): try move(targets, in: list, to: resolved(place))
            }
        }
    }

    private func editedList(
        _ relationship: StoredRelationship, of owner: ObjectKey
    ) -> EditedList? {
        switch relationship.storage {
        case .own: return nil
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return nil }
            return EditedList(
                owner: owner, relationship: relationship, member: column.member,
                order: column.order)
        case .join(let table):
            return EditedList(
                owner: owner, relationship: relationship, member: table.member, order: table.order)
        }
    }

    private func resolved(_ place: PlannedEdit.Place) -> PlannedEdit.Place {
        switch place {
        case .first, .last, .index: place
        case .before(let neighbor): .before(resolved(neighbor))
        case .after(let neighbor): .after(resolved(neighbor))
        }
    }

    // MARK: - The three kinds

    private func add(
        _ targets: [Assignment.Target], to list: EditedList, at place: PlannedEdit.Place
    ) throws(SQLiteError) {
        var added: [Assignment.Target] = []
        for target in targets where try member(target, of: list) == nil {
            guard try checkExists(target) else { continue }
            added.append(target)
        }
        guard !added.isEmpty else { return }
        guard let order = list.order else {
            for target in added { try attach(target, to: list, at: nil) }
            return
        }
        guard let left = try predecessor(of: place, in: list, order) else { return }
        let positions = try makeRoom(
            for: added.count, behind: left, order, of: list.owner.key)
        for (target, position) in zip(added, positions) {
            try attach(target, to: list, at: position)
        }
    }

    private func move(
        _ targets: [Assignment.Target], in list: EditedList, to place: PlannedEdit.Place
    ) throws(SQLiteError) {
        guard let order = list.order else { return }
        var held: [Int64] = []
        for target in targets {
            guard let item = try member(target, of: list) else {
                return fault(absence(target, list))
            }
            held.append(item.position)
        }
        let keys = targets.map(\.key)
        let moved = Set(keys)
        guard let left = try predecessor(of: place, in: list, order, without: moved),
            try !stands(held, behind: left, order, of: list.owner.key, without: moved)
        else { return }
        let positions = try makeRoom(
            for: keys.count, behind: left, order, of: list.owner.key, without: moved)
        for (key, position) in zip(keys, positions) {
            try move(key, to: position, order, of: list.owner.key)
        }
        noteChange(list.owner, list.relationship)
    }

    /// Whether items with these positions stand one after another behind an item already.
    private func stands(
        _ positions: [Int64], behind left: ListItem, _ order: ListOrder, of owner: Int64,
        without moved: Set<Int64>
    ) throws(SQLiteError) -> Bool {
        let next = try items(order.following, from: left, of: owner, without: moved, atMost: 1)
        // The start has the least position that there is, and an item may have it too.
        let all = (left == .start ? [] : [left.position]) + positions + next.map(\.position)
        return zip(all, all.dropFirst()).allSatisfy { $0 < $1 }
    }

    // MARK: - Places

    /// The item that a place is behind, or the start of the list; nil is a fault.
    private func predecessor(
        of place: PlannedEdit.Place, in list: EditedList, _ order: ListOrder,
        without moved: Set<Int64> = []
    ) throws(SQLiteError) -> ListItem? {
        let owner = list.owner.key
        switch place {
        case .first, .index(0): return .start
        case .last:
            return try items(
                order.preceding, from: .end, of: owner, without: moved, atMost: 1
            ).first ?? .start
        case .index(let index): return try item(at: index, in: list, order, without: moved)
        case .before(let neighbor), .after(let neighbor):
            guard let item = try member(neighbor, of: list) else {
                fault(absence(neighbor, list))
                return nil
            }
            guard !moved.contains(item.key) else {
                fault(.besideItself(list.relationship))
                return nil
            }
            guard case .before = place else { return item }
            return try items(
                order.preceding, from: item, of: owner, without: moved, atMost: 1
            ).first ?? .start
        }
    }

    /// The last of so many items from the beginning. It takes as long as they are many, hence a
    /// bound on what a set may count.
    private func item(
        at index: Int64, in list: EditedList, _ order: ListOrder, without moved: Set<Int64>
    ) throws(SQLiteError) -> ListItem? {
        guard countedObjectsLeft > 0 else {
            fault(
                LarderError(
                    .resourceExhausted,
                    "the indexes of a change set's edits count at most "
                        + "\(Limits.countedObjectsMax) objects of \(list.name) and other lists",
                    hint: "name the object before or after which the place is"))
            return nil
        }
        var last = (item: ListItem.start, count: Int64(0))
        try walk(order.following, from: .start, of: list.owner.key, without: moved) { item in
            last = (item, last.count + 1)
            return last.count < index
        }
        countedObjectsLeft -= last.count
        return last.item
    }

    /// The same of a target, under whose name another object is not meant.
    private func member(
        _ target: Assignment.Target, of list: EditedList
    ) throws(SQLiteError) -> ListItem? {
        guard let item = try member(target.key, of: list) else { return nil }
        return try isNamed(target) ? item : nil
    }

    /// An object in the list, with position 0 in a list without order; nil if it is not in it.
    private func member(_ key: Int64, of list: EditedList) throws(SQLiteError) -> ListItem? {
        let statement = try statements.statement(list.member)
        defer { statement.reset() }
        try statement.bind([.integer(list.owner.key), .integer(key)])
        guard try statement.step() else { return nil }
        return ListItem(
            key: key, position: statement.isNull(at: 0) ? 0 : statement.int64(at: 0))
    }

    private func absence(_ target: Assignment.Target, _ list: EditedList) -> LarderError {
        let object = target.object
        // The key of an object that the set inserts will have named nothing once the set failed.
        let uri = isInserted(object) ? nil : uri(of: object)
        let whose = isInserted(list.owner) ? "an inserted object" : self.uri(of: list.owner)
        return LarderError(
            ChangeFault(
                .objectNotFound,
                "\(uri ?? "an inserted object") is not in \(list.name) of \(whose) (any more)",
                entityName: list.relationship.entityName,
                propertyNames: [list.relationship.relationship.name], uri: uri),
            hint: "read the list again, and edit it as it is")
    }

    // MARK: - Links

    private func attach(
        _ target: Assignment.Target, to list: EditedList, at position: Int64?
    ) throws(SQLiteError) {
        switch list.relationship.storage {
        case .own: return
        case .inverse(let number):
            let holder = schema.relationships[number]
            if try !link(target, holder, to: list.owner.key, position: position) {
                fault(missing(target.object))
            }
        case .join(let table):
            try addPair(list.relationship, table, list.owner.key, target.key, position)
        }
    }

    private func detach(_ key: Int64, from list: EditedList) throws(SQLiteError) {
        guard try member(key, of: list) != nil else { return }
        switch list.relationship.storage {
        case .own: return
        case .inverse(let number):
            let holder = schema.relationships[number]
            try link(object(holder.entityNumber, key), holder, to: nil)
        case .join(let table):
            try removePair(list.relationship, table, list.owner.key, key)
        }
    }
}

extension LarderError {
    /// Of an edit whose place is one of the objects that it puts there.
    static func besideItself(_ relationship: StoredRelationship) -> LarderError {
        LarderError(
            .invalidChangeSet,
            "an edit of \(relationship.qualifiedName) gives an object a place beside itself")
    }
}
