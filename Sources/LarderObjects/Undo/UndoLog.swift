internal import LarderModel

/// The changes of a context, so that they can be undone: the steps since the last group was taken.
///
/// A context without an undo manager has no log, so a change of a property then costs a test for
/// nil. A step has the object, which does not keep its context, and what was there before it.
struct UndoLog {
    enum Step {
        case inserted(StoredObject)
        case deleted(StoredObject)
        /// A property had another value.
        case changed(StoredObject, slot: Int, from: Value)
        /// Members of a list were others.
        case edited(StoredObject, slot: Int, ListEdit)
        /// The object may have become a changed one by a change of a relationship's other side.
        case touched(StoredObject, before: Bool)

        /// The step with another object.
        fileprivate func map(_ object: (StoredObject) -> StoredObject) -> Step {
            switch self {
            case .inserted(let former): .inserted(object(former))
            case .deleted(let former): .deleted(object(former))
            case .changed(let former, let slot, let value):
                .changed(object(former), slot: slot, from: value)
            case .edited(let former, let slot, let edit):
                .edited(object(former), slot: slot, edit)
            case .touched(let former, let before): .touched(object(former), before: before)
            }
        }
    }

    private struct Property: Hashable {
        let object: ObjectIdentifier
        let slot: Int
    }

    private(set) var steps: [Step] = []
    /// The number of saves before the first of the steps.
    private(set) var saveCount = 0
    /// The properties that the last steps have changed; the first value of a group is enough.
    private var changed: Set<Property> = []
    /// Permanent identifiers by temporary ones, and those of objects that were inserted again.
    private var renamed: [PersistentIdentifier: PersistentIdentifier] = [:]

    /// - Parameter saveCount: The number of saves of the context.
    mutating func append(_ step: Step, saveCount: Int) {
        if steps.isEmpty { self.saveCount = saveCount }
        switch step {
        case .changed(let object, let slot, _):
            let property = Property(object: ObjectIdentifier(object), slot: slot)
            guard changed.insert(property).inserted else { return }
        case .inserted, .deleted: changed = []
        case .edited, .touched: break
        }
        steps.append(step)
    }

    mutating func removeSteps() -> [Step] {
        defer {
            steps = []
            changed = []
        }
        return steps
    }

    mutating func rename(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) {
        renamed.merge(identifiers) { _, new in new }
    }

    /// The identifier that an object has by now.
    func current(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
        var identifier = identifier
        while let new = renamed[identifier] { identifier = new }
        return identifier
    }
}

/// A change of a list: at an index, members were replaced with others.
struct ListEdit {
    let index: Int
    let removed: [PersistentIdentifier]
    let added: [PersistentIdentifier]
}

/// Changes that are undone together.
struct UndoGroup {
    let steps: [UndoLog.Step]
    /// The number of saves before the changes.
    let saveCount: Int
}

extension ObjectContext {
    /// Whether changes are recorded. When that ends, what was recorded is forgotten.
    func recordUndo(_ isRecording: Bool) {
        locked { undoLog = isRecording ? undoLog ?? UndoLog() : nil }
    }

    /// Registers the changes since the last call with the undo manager, as one action.
    package func registerUndo() {
        guard let undoManager, let group = takeUndoGroup() else { return }
        undoManager.registerUndo(withTarget: self) { context in
            context.undo(group)
            context.registerUndo()
            context.didUndo()
        }
    }

    /// The changes since the last call; nil if there are none.
    func takeUndoGroup() -> UndoGroup? {
        locked {
            guard let saveCount = undoLog?.saveCount, let steps = undoLog?.removeSteps(),
                !steps.isEmpty
            else { return nil }
            return UndoGroup(steps: steps, saveCount: saveCount)
        }
    }

    // MARK: - Recording

    func record(_ step: UndoLog.Step) {
        undoLog?.append(step, saveCount: saveCount)
    }

    /// Records that a property will change, of which the value is known.
    func recordChange(of object: StoredObject, _ slot: Int) {
        guard undoLog != nil, object.status == .saved || object.status == .inserted else { return }
        record(.changed(object, slot: slot, from: object[slot] ?? .null))
    }

    /// Records that an object will be deleted, with the values that it is made of again.
    func recordDeletion(of object: StoredObject) {
        guard undoLog != nil, let entity = object.entity else { return }
        for property in entity.properties {
            if object[property.slot] == nil { load(object, property.slot) }
            guard property.kind != .attribute, let value = object[property.slot] else { continue }
            record(.changed(object, slot: property.slot, from: value))
        }
        record(.deleted(object))
    }

    // MARK: - Undoing

    /// Restores what was there before a group of changes. That is a group of changes itself, which
    /// the next call of ``takeUndoGroup()`` returns.
    func undo(_ group: UndoGroup) {
        locked {
            let steps = group.steps.map { $0.map(currentObject) }
            let touched = touchedObjects(of: steps).map { ($0, $0.isTouched) }
            for step in steps.reversed() {
                switch step {
                case .inserted(let object): removeInserted(object)
                case .deleted(let object): restoreDeleted(object)
                case .changed(let object, let slot, let value): restore(value, of: object, slot)
                case .edited(let object, let slot, let edit): undo(edit, of: object, slot)
                case .touched: break
                }
            }
            for (object, isTouched) in touched { record(.touched(object, before: isTouched)) }
            // Objects that are as the store has them are not changed any more.
            guard group.saveCount == saveCount, let undone = undoLog?.steps else { return }
            restoreTouches(of: undone)
            restoreTouches(of: steps)
            for object in changedObjects(of: steps + undone) { forgetUpdate(of: object) }
        }
    }

    /// The object that the context has in place of another one: an inserted object may have become
    /// one that the context had before.
    private func currentObject(for object: StoredObject) -> StoredObject {
        let identifier = object.identifier
        return registeredObject(for: undoLog?.current(identifier) ?? identifier) ?? object
    }

    /// The objects of which the steps have changed properties, each once.
    private func changedObjects(of steps: [UndoLog.Step]) -> [StoredObject] {
        var seen: Set<ObjectIdentifier> = []
        return steps.compactMap { step in
            switch step {
            case .changed(let object, _, _), .edited(let object, _, _):
                seen.insert(ObjectIdentifier(object)).inserted ? object : nil
            case .inserted, .deleted, .touched: nil
            }
        }
    }

    private func removeInserted(_ object: StoredObject) {
        guard object.context === self else { return }
        guard object.status == .inserted else { return delete(object) }
        recordDeletion(of: object)
        unlink(object)
        removeGone(object)
        object.status = .unmanaged
        object.context = nil
        object.siblings = nil
    }

    private func restoreDeleted(_ object: StoredObject) {
        switch object.status {
        case .saved, .inserted: break
        case .deleted: cancelDeletion(object)
        case .unmanaged, .gone:
            guard let entity = object.entity else { return }
            let former = object.identifier
            add(instance(of: object), entity)
            if object.identifier != former { undoLog?.rename([former: object.identifier]) }
        }
    }

    private func restore(_ value: Value, of object: StoredObject, _ slot: Int) {
        guard object.isManaged, object.status != .deleted, object.context === self,
            let property = object.entity?.properties[slot]
        else { return }
        let links = value.links.map { undoLog?.current($0) ?? $0 }
        switch property.kind {
        case .attribute: setValue(value, of: object, at: slot)
        case .toOne:
            setToOne(object, slot, links.first.flatMap { registeredObject(for: $0) ?? loaded($0) })
        case .toMany:
            setToMany(
                object, slot, links.filter { (registeredObject(for: $0) ?? loaded($0)) != nil })
        }
        notify(object, slot)
    }

    /// Takes an edit of a list back. The other side of the relationship may have done so in part,
    /// because its changes are steps of their own.
    private func undo(_ edit: ListEdit, of object: StoredObject, _ slot: Int) {
        guard object.isManaged, object.status != .deleted, object.context === self else { return }
        guard canRead(object, slot) else { return }
        let removed = edit.removed.map { undoLog?.current($0) ?? $0 }.filter {
            (registeredObject(for: $0) ?? loaded($0)) != nil
        }
        let added = edit.added.map { undoLog?.current($0) ?? $0 }
        let misplaced = members(removed, of: object, slot)
        let range = edit.index..<edit.index + added.count
        if misplaced.isEmpty, object.hasLinks(added, at: slot, in: range) {
            replaceMembers(of: object, slot, range, with: removed)
        } else {
            let former = Set(removed)
            let stale = members(added, of: object, slot).filter { !former.contains($0) }
            restore(removed, at: edit.index, of: object, slot, insteadOf: stale, misplaced)
        }
        notify(object, slot)
    }

    private func members(
        _ identifiers: [PersistentIdentifier], of object: StoredObject, _ slot: Int
    ) -> [PersistentIdentifier] {
        identifiers.filter { position(of: $0, in: object, slot) != nil }
    }

    /// - Parameters:
    ///   - stale: Members that are removed.
    ///   - misplaced: Those of the restored members that the list has already.
    private func restore(
        _ members: [PersistentIdentifier], at index: Int, of object: StoredObject, _ slot: Int,
        insteadOf stale: [PersistentIdentifier], _ misplaced: [PersistentIdentifier]
    ) {
        // Each removal moves the rest of the list.
        if stale.count + misplaced.count > 32 {
            let moved = Set(stale + misplaced)
            var list = related(of: object, slot).filter { !moved.contains($0) }
            list.insert(contentsOf: members, at: min(index, list.count))
            return setToMany(object, slot, list)
        }
        for member in stale {
            guard let position = position(of: member, in: object, slot) else { continue }
            replaceMembers(of: object, slot, position..<position + 1, with: [])
        }
        let range = index..<index + members.count
        if misplaced.count == members.count, object.hasLinks(members, at: slot, in: range) {
            return
        }
        for member in misplaced {
            guard let position = position(of: member, in: object, slot) else { continue }
            self.edit(object, slot, position..<position + 1, with: [])
        }
        let end = min(index, object.linkCount(at: slot))
        replaceMembers(of: object, slot, end..<end, with: members)
    }

    private func touchedObjects(of steps: [UndoLog.Step]) -> [StoredObject] {
        steps.compactMap { step in
            if case .touched(let object, _) = step { object } else { nil }
        }
    }

    /// Makes objects changed ones, or not, as they were before the steps.
    private func restoreTouches(of steps: [UndoLog.Step]) {
        for case .touched(let object, let isTouched) in steps.reversed()
        where object.status == .saved {
            object.isTouched = isTouched
            if isTouched { addUpdated(object) } else { forgetUpdate(of: object) }
        }
    }

    private func forgetUpdate(of object: StoredObject) {
        guard object.status == .saved else { return }
        object.committed = object.committed.filter { object[$0.key] != $0.value }
        guard object.committed.isEmpty, !object.isTouched else { return }
        updated[ObjectIdentifier(object)] = nil
        object.refusals = object.refusals.filter { $0.value.read != nil }
            .mapValues { Refusal(read: $0.read) }
    }
}
