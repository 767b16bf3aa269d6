extension Writer {
    /// Before a commit: whoever keeps what was read of these objects does not trust it any more.
    /// Of inserted ones nobody has read anything.
    func beginChanges(_ changes: ObjectChanges) {
        changes.forEachExisting { key in beginChange(of: ChangeMarks.slot(ofKey: key)) }
    }

    /// Of any object, where it is not known what another connection left.
    func changeAll() {
        for slot in 0..<ChangeMarks.slotCount { beginChange(of: slot) }
        endChanges()
    }

    private func beginChange(of slot: Int) {
        if store.marks.beginChange(of: slot) { changing.append(slot) }
    }

    /// The transaction has been committed, or is undone.
    func endChanges() {
        for slot in changing { store.marks.endChange(of: slot) }
        changing.removeAll(keepingCapacity: true)
    }
}
