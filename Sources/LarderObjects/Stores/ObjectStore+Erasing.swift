internal import LarderModel

extension ObjectStore {
    /// Deletes all objects in one transaction, which observers see, and then the history before it.
    func eraseByChanges() throws(LarderError) {
        let topmost = schema.entities.filter { $0.parent == nil }
        _ = try save(
            ChangeSet(topmost.map { .deleteAll(ObjectSelection($0.name, where: nil)) }))
        try deleteHistory(.keeping(0))
    }
}

extension LarderError {
    static let readOnlyStore = LarderError(
        .readOnly, "the store was opened for reading only",
        hint: "open it with a configuration that allows saving")
}
