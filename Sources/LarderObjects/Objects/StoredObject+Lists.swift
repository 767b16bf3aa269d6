internal import LarderModel

// Lists are edited in place, because a copy of a list for each new member would take longer the
// longer the list is.

extension StoredObject {
    /// The aids for editing the list; nil if there are none since the list was set.
    package func tracked(at slot: Int) -> TrackedList? {
        state.withLock { Held(value: $0.tracked[slot]) }.value
    }

    package func track(at slot: Int) -> TrackedList {
        state.withLock { state in
            if let known = state.tracked[slot] { return Held(value: known) }
            let new = TrackedList()
            state.tracked[slot] = new
            return Held(value: new)
        }.value
    }

    func untrack(at slot: Int) { state.withLock { $0.tracked[slot] = nil } }

    /// The number of identifiers of a list; 0 for one that was not read yet.
    func linkCount(at slot: Int) -> Int {
        state.withLock { state in
            guard slot < state.cells.count, case .objects(let list)? = state.cells[slot] else {
                return 0
            }
            return list.count
        }
    }

    /// Some identifiers of a list.
    func links(at slot: Int, in range: Range<Int>) -> [PersistentIdentifier] {
        state.withLock { state in
            guard slot < state.cells.count, case .objects(let list)? = state.cells[slot] else {
                return []
            }
            return Array(list[range.clamped(to: list.indices)])
        }
    }

    /// Whether a list has these identifiers at a range of positions.
    func hasLinks(
        _ identifiers: [PersistentIdentifier], at slot: Int, in range: Range<Int>
    ) -> Bool {
        range.upperBound <= linkCount(at: slot) && links(at: slot, in: range) == identifiers
    }

    /// Replaces identifiers of a list that was read.
    func replaceLinks(
        _ range: Range<Int>, with new: [PersistentIdentifier], at slot: Int
    ) {
        state.withLock { state in
            guard slot < state.cells.count, case .objects(var list)? = state.cells[slot] else {
                return
            }
            // The cell must not have the list meanwhile, or it would be copied.
            state.cells[slot] = nil
            list.replace(range.clamped(to: list.indices), with: new)
            state.cells[slot] = .objects(list)
            if !state.refusals.isEmpty { state.refusals[slot] = nil }
        }
    }

    /// Replaces related instances of an object that has no context.
    package func replaceOwners(
        _ range: Range<Int>, with new: [any ObjectOwner], at slot: Int
    ) {
        let new = Held(value: new)
        let former = state.withLock { state in
            var list = state.related[slot] ?? []
            state.related[slot] = nil
            let range = range.clamped(to: list.indices)
            let former = Held(value: Array(list[range]))
            list.replace(range, with: new.value)
            state.related[slot] = list
            return former
        }
        withExtendedLifetime(former) {}
    }
}

extension Array {
    /// Replaces elements; an array that grows at its end does not move them each time.
    fileprivate mutating func replace(_ range: Range<Int>, with new: [Element]) {
        if range.isEmpty, range.lowerBound == count {
            append(contentsOf: new)
        } else {
            replaceSubrange(range, with: new)
        }
    }
}
