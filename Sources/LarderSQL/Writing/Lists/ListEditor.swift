import LarderModel

/// Edits to-many relationships: adds, removes and moves objects. `docs/changes.md` defines what
/// each edit means.
struct ListEditor {
    /// The number of objects that insertion points by index may still count in this set.
    private var countedObjectsLeft = Int64(Limits.listScanObjectsMax)

    /// Makes edits of an object's relationships, in their order.
    mutating func apply(
        _ edits: [PlannedEdit], to object: ObjectKey, _ links: LinkWriter
    ) throws(SQLError) {
        let context = links.context
        for edit in edits where !context.errors.isFull {
            let relationship = context.schema.relationships[edit.relationship]
            guard let list = EditedList(relationship, of: object, links) else { continue }
            switch edit.kind {
            case .add(let point): try add(edit.targets, to: list, at: point)
            case .remove:
                for target in edit.targets where try context.hasNamedEntity(target) {
                    try list.unlink(target.key)
                }
            case .move(let point): try move(edit.targets, in: list, to: point)
            }
        }
    }

    private mutating func add(
        _ targets: [Assignment.Target], to list: EditedList,
        at point: PlannedEdit.InsertionPoint
    ) throws(SQLError) {
        var added: [Assignment.Target] = []
        for target in targets where try list.item(target) == nil {
            guard try list.context.checkExists(target) else { continue }
            added.append(target)
        }
        guard !added.isEmpty else { return }
        guard let order = list.order else {
            for target in added { try list.link(target, at: nil) }
            return
        }
        guard let left = try predecessor(of: point, in: list, order) else { return }
        let positions = try list.positions.makeRoom(
            for: added.count, after: left, order, of: list.owner.key)
        for (target, position) in zip(added, positions) {
            try list.link(target, at: position)
        }
    }

    private mutating func move(
        _ targets: [Assignment.Target], in list: EditedList,
        to point: PlannedEdit.InsertionPoint
    ) throws(SQLError) {
        guard let order = list.order else { return }
        var held: [Int64] = []
        for target in targets {
            guard let item = try list.item(target) else {
                return list.context.add(list.absenceError(target))
            }
            held.append(item.position)
        }
        let keys = targets.map(\.key)
        let moved = Set(keys)
        guard let left = try predecessor(of: point, in: list, order, ignoring: moved),
            try !isInOrder(held, after: left, in: list, order, ignoring: moved)
        else { return }
        let owner = list.owner.key
        let positions = try list.positions.makeRoom(
            for: keys.count, after: left, order, of: owner, ignoring: moved)
        for (key, position) in zip(keys, positions) {
            try list.positions.move(key, to: position, order, of: owner)
        }
        list.context.changes.update(list.owner, .relationship(list.relationship.number))
    }

    /// Returns whether items with these positions already follow each other directly after an item.
    private func isInOrder(
        _ positions: [Int64], after left: ListItem, in list: EditedList, _ order: ListOrder,
        ignoring moved: Set<Int64>
    ) throws(SQLError) -> Bool {
        let next = try list.positions.items(
            order.following, from: left, of: list.owner.key, ignoring: moved, atMost: 1)
        // The start has the least possible position, which an item may have too.
        let all = (left == .start ? [] : [left.position]) + positions + next.map(\.position)
        return zip(all, all.dropFirst()).allSatisfy { $0 < $1 }
    }

    // MARK: - Insertion points

    /// The item directly before an insertion point, or the start of the list. nil adds an error.
    private mutating func predecessor(
        of point: PlannedEdit.InsertionPoint, in list: EditedList, _ order: ListOrder,
        ignoring moved: Set<Int64> = []
    ) throws(SQLError) -> ListItem? {
        func last(before item: ListItem) throws(SQLError) -> ListItem {
            try list.positions.items(
                order.preceding, from: item, of: list.owner.key, ignoring: moved, atMost: 1
            ).first ?? .start
        }
        switch point {
        case .first, .index(0): return .start
        case .last: return try last(before: .end)
        case .index(let index): return try item(before: index, in: list, order, ignoring: moved)
        case .before(let neighbor), .after(let neighbor):
            guard let item = try list.item(neighbor) else {
                list.context.add(list.absenceError(neighbor))
                return nil
            }
            guard !moved.contains(item.key) else {
                list.context.add(.relativeToItself(list.relationship))
                return nil
            }
            guard case .before = point else { return item }
            return try last(before: item)
        }
    }

    /// The item before an index, or the last item of a shorter list. The search takes time in
    /// proportion to the index, hence a bound on what a set may count.
    private mutating func item(
        before index: Int64, in list: EditedList, _ order: ListOrder,
        ignoring moved: Set<Int64>
    ) throws(SQLError) -> ListItem? {
        guard countedObjectsLeft > 0 else {
            list.context.add(
                LarderError(
                    .resourceExhausted,
                    "the indices of a change set's edits count at most "
                        + "\(Limits.listScanObjectsMax) objects of "
                        + "\(list.relationship.qualifiedName) and other lists",
                    hint: "use the object before or after the insertion point instead"))
            return nil
        }
        var last = (item: ListItem.start, count: Int64(0))
        try list.positions.visit(
            order.following, from: .start, of: list.owner.key, ignoring: moved,
            atMost: Int(clamping: index)
        ) { item in
            last = (item, last.count + 1)
            return last.count < index
        }
        countedObjectsLeft -= last.count
        return last.item
    }
}

/// A to-many relationship of one object, for edits.
private struct EditedList {
    let owner: ObjectKey
    let relationship: StoredRelationship
    /// nil for a list without order.
    let order: ListOrder?
    /// Reads the position of an object in the list.
    private let member: SQL
    private let links: LinkWriter

    var context: ChangeContext { links.context }
    var positions: ListPositions { ListPositions(context: links.context) }

    /// nil for a to-one.
    init?(_ relationship: StoredRelationship, of owner: ObjectKey, _ links: LinkWriter) {
        switch relationship.storage {
        case .own: return nil
        case .inverse(let holder):
            guard case .own(let column) = links.context.schema.relationships[holder].storage
            else { return nil }
            member = column.member
            order = column.order
        case .join(let table):
            member = table.member
            order = table.order
        }
        self.owner = owner
        self.relationship = relationship
        self.links = links
    }

    /// The item of an object; nil if the object is not in the list, or is one of another entity.
    func item(_ target: Assignment.Target) throws(SQLError) -> ListItem? {
        guard let item = try item(target.key) else { return nil }
        return try context.hasNamedEntity(target) ? item : nil
    }

    /// The item with a key; its position is 0 in a list without order.
    private func item(_ key: Int64) throws(SQLError) -> ListItem? {
        let row = try context.row(member, [.integer(owner.key), .integer(key)])
        return row.map { ListItem(key: key, position: $0[0].int64 ?? 0) }
    }

    func link(_ target: Assignment.Target, at position: Int64?) throws(SQLError) {
        switch relationship.storage {
        case .own: return
        case .inverse(let number):
            let holder = context.schema.relationships[number]
            if try !links.link(target, holder, to: owner.key, position: position) {
                context.add(context.notFound(target.object))
            }
        case .join(let table):
            try links.addPair(relationship, table, owner.key, target.key, position)
        }
    }

    func unlink(_ key: Int64) throws(SQLError) {
        guard try item(key) != nil else { return }
        switch relationship.storage {
        case .own: return
        case .inverse(let number):
            let holder = context.schema.relationships[number]
            try links.link(context.object(holder.entityNumber, key), holder, to: nil)
        case .join(let table):
            try links.removePair(relationship, table, owner.key, key)
        }
    }

    func absenceError(_ target: Assignment.Target) -> LarderError {
        LarderError(
            ChangeViolation(
                .objectNotFound,
                "\(context.name(of: target.object)) is not in \(relationship.qualifiedName) of "
                    + "\(context.name(of: owner)) (any more)",
                entityName: relationship.entityName,
                propertyNames: [relationship.relationship.name],
                uri: context.stableURI(of: target.object)),
            hint: "read the list again, and edit its current state")
    }
}

extension LarderError {
    /// An edit positions one of its objects before or after itself.
    static func relativeToItself(_ relationship: StoredRelationship) -> LarderError {
        LarderError(
            .invalidChangeSet,
            "an edit of \(relationship.qualifiedName) puts an object before or after itself")
    }
}
