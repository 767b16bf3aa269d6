extension Writer {
    /// Before a commit: whoever keeps what was read of these objects does not trust it any more.
    /// Of inserted ones nobody has read anything.
    func beginChanges(_ changes: ObjectChanges) {
        changes.forEachExisting { key in beginChange(at: ChangeMarks.place(ofKey: key)) }
    }

    /// Of any object, where it is not known what another connection left.
    func changeAll() {
        for place in 0..<ChangeMarks.placeCount { beginChange(at: place) }
        endChanges()
    }

    private func beginChange(at place: Int) {
        if store.marks.begin(at: place) { changing.append(place) }
    }

    /// The transaction has been committed, or is undone.
    func endChanges() {
        for place in changing { store.marks.end(at: place) }
        changing.removeAll(keepingCapacity: true)
    }
}
