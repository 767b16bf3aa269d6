import FoundationEssentials
import LarderModel

/// A question that costs next to nothing and yet goes the whole way to the database, so that its
/// answer says that the store can be read.
struct StoreProbe: Sendable {
    private let identifiers: [PersistentIdentifier]

    init(_ store: StoreDescription) {
        identifiers = store.schema.entities.prefix(1).map {
            PersistentIdentifier(store: store.identifier, entityName: $0.name, key: 1)
        }
    }

    /// Why the store cannot be read, or nil if it can.
    func failure(of reader: LoopReader) -> LarderError? {
        switch reader.objects(identifiers, properties: []) {
        case .answered(.failed(let error)): error
        case .answered, .tooLong, .queryTooLong: nil
        }
    }
}
