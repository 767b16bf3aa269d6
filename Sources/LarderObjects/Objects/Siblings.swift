internal import FoundationEssentials
internal import LarderModel

/// The objects of one batch, which were read together.
final class Siblings {
    private let store: UUID
    private let objects: Batch.Identity

    init(_ objects: Batch.Identity, store: UUID) {
        self.objects = objects
        self.store = store
    }

    /// Some of the objects, beginning with that of a row.
    func identifiers(from row: Int, max: Int) -> [PersistentIdentifier] {
        (row..<min(row + max, objects.keys.count)).map { objects.identifier(at: $0, in: store) }
    }
}
