internal import FoundationEssentials
internal import LarderModel

extension Batch.Identity {
    /// The identifier of a row's object, which is in this store.
    func identifier(at row: Int, in store: UUID) -> PersistentIdentifier {
        PersistentIdentifier(store: store, entityName: entityName(at: row), key: keys[row])
    }
}
