internal import Foundation
internal import LarderObjects

// The lists of models. An instance keeps a list that it has edited, or that is long, until the list
// changes by other means or the context is saved.
//
// The lock of the context protects what an instance keeps, because other threads may read a model
// that is deleted. Models without a context have one lock together, under which no code of others
// and no context is called.

/// Lists from this length on are kept when they are read.
private let keptCountMin = 32

private let lockWithoutContext = NSRecursiveLock()

extension PersistentModel {
    /// The models of a list.
    func list<Member: PersistentModel>(at slot: Int) -> [Member] {
        let kept: (isKept: Bool, models: [Member]?) = withLists {
            let known: ModelList<Member>? = keptList(at: slot)
            return (known != nil, known?.known)
        }
        if let models = kept.models { return models }
        let list: ModelList<Member> = newList(at: slot, trackedMin: keptCountMin)
        let models = list.known ?? []
        if !kept.isKept, list.tracked != nil { withLists { keep(list, at: slot) } }
        return models
    }

    /// A list that a caller edits, and its models, to which the list has no reference meanwhile.
    func takeList<Member: PersistentModel>(
        at slot: Int
    ) -> (list: ModelList<Member>, models: [Member]) {
        let taken: (isKept: Bool, list: ModelList<Member>?, models: [Member]) = withLists {
            let known: ModelList<Member>? = keptList(at: slot)
            guard let known, known.known != nil else { return (known != nil, nil, []) }
            return (true, known, known.take())
        }
        if let list = taken.list { return (list, taken.models) }
        let list: ModelList<Member> = newList(at: slot, trackedMin: 0)
        return withLists {
            // A caller that edits the list already keeps it.
            if !taken.isKept { keep(list, at: slot) }
            return (list, list.take())
        }
    }

    func setList<Member: PersistentModel>(_ models: [Member], at slot: Int) {
        let known: ModelList<Member>? = withLists {
            guard let known: ModelList<Member> = keptList(at: slot), known.known != nil else {
                return nil
            }
            _ = known.take()
            return known
        }
        if let known {
            setList(models, at: slot, editing: known)
        } else {
            _$object.setRelated(models.map(\.asOwner), of: self, slot)
        }
    }

    /// Sets a list to what a caller has made of it.
    func setList<Member: PersistentModel>(
        _ models: [Member], at slot: Int, editing list: ModelList<Member>
    ) {
        let new: ArraySlice<Member>? = withLists {
            guard isCurrent(list, at: slot), list.tracked?.instances === list else { return nil }
            let change = list.difference(to: models)
            guard replaceMembers(change.former, with: models[change.new], at: slot, list) else {
                _$lists?.bySlot[slot] = nil
                return nil
            }
            if !list.adopt(models, change) { _$lists?.bySlot[slot] = nil }
            return models[change.new]
        }
        if let new {
            if !new.isEmpty { joinContext(of: new.map(\.asOwner)) }
        } else {
            _$object.setRelated(models.map(\.asOwner), of: self, slot)
        }
    }

    // MARK: -

    private func withLists<Result>(_ body: () -> Result) -> Result {
        guard let context = managingContext else { return lockWithoutContext.withLock(body) }
        return context.objects.locked(body)
    }

    /// The list that the instance keeps, if it is as the object has it.
    private func keptList<Member: PersistentModel>(at slot: Int) -> ModelList<Member>? {
        // Another thread may read a model that was deleted.
        switch _$object.status {
        case .deleted, .gone: return nil
        case .unmanaged, .inserted, .saved: break
        }
        guard let list = _$lists?.bySlot[slot] as? ModelList<Member>, isCurrent(list, at: slot)
        else { return nil }
        return list
    }

    private func isCurrent<Member>(_ list: ModelList<Member>, at slot: Int) -> Bool {
        guard let tracked = list.tracked else { return false }
        return _$object.tracked(at: slot) === tracked
            && list.statusRevision == managingContext?.objects.statusRevision
    }

    private var managingContext: ModelContext? { _$object.isManaged ? _$context : nil }

    /// - Parameter trackedMin: The number of models from which on the list may be kept.
    private func newList<Member: PersistentModel>(
        at slot: Int, trackedMin: Int
    ) -> ModelList<Member> {
        _$unite()
        let object = _$object
        if object.owner == nil { object.owner = self }
        switch object.status {
        case .inserted, .saved:
            if let context = managingContext {
                let shown = context.objects.shownList(
                    of: object, at: slot, trackedMin: trackedMin)
                return newList(shown.owners, shown.tracked, statusRevision: shown.statusRevision)
            }
        case .unmanaged:
            let owners = object.relatedOwners(at: slot)
            return newList(
                owners, owners.count >= trackedMin ? object.track(at: slot) : nil,
                statusRevision: nil)
        case .deleted, .gone: break
        }
        return newList(object.relatedOwners(at: slot), nil, statusRevision: nil)
    }

    private func newList<Member: PersistentModel>(
        _ owners: [any ObjectOwner], _ tracked: TrackedList?, statusRevision: Int?
    ) -> ModelList<Member> {
        let models = owners.compactMap { $0 as? Member }
        return ModelList(
            models, of: self, models.count == owners.count ? tracked : nil,
            statusRevision: statusRevision)
    }

    /// Makes it the list that edits of the context reach, and keeps it if that makes no cycle.
    private func keep<Member>(_ list: ModelList<Member>, at slot: Int) {
        // The former list is not up to date.
        _$lists?.bySlot[slot] = nil
        list.tracked?.instances = list
        guard list.canBeKept,
            managingContext?.objects.mayKeep(list, of: _$object, slot) != false
        else { return }
        let lists = _$lists ?? _ModelLists()
        lists.bySlot[slot] = list
        if _$lists == nil { _$lists = lists }
    }

    /// - Returns: false if the list must be set as a whole.
    private func replaceMembers<Member: PersistentModel>(
        _ range: Range<Int>, with new: ArraySlice<Member>, at slot: Int, _ list: ModelList<Member>
    ) -> Bool {
        let object = _$object
        let owners = new.map(\.asOwner)
        guard let context = managingContext, let tracked = list.tracked else {
            object.replaceOwners(range, with: owners, at: slot)
            return true
        }
        context.insertNew(owners)
        return context.objects.replaceMembers(
            of: object, at: slot, range, with: owners.map(\._$object), from: list, tracked)
    }

    /// Inserts the model if it has no context and is related to one that has one.
    func joinContext(of owners: [any ObjectOwner]) {
        guard _$object.status == .unmanaged else { return }
        let managed = owners.lazy.compactMap { owner in
            owner._$object.isManaged ? (owner as? any PersistentModel)?._$context : nil
        }.first
        managed?.insert(self)
    }
}
