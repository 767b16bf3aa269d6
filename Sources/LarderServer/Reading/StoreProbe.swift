import FoundationEssentials
import LarderModel
import LarderQuery

/// A cheap read that reaches the database, to verify that the store can be read.
struct StoreProbe: Sendable {
    private let identifiers: [PersistentIdentifier]

    init(_ store: StoreDescription) {
        identifiers = store.schema.entities.prefix(1).map {
            PersistentIdentifier(store: store.identifier, entityName: $0.name, key: 1)
        }
    }

    /// The error of the read; nil if the store can be read.
    func failure(of reader: LoopReader) -> LarderError? {
        switch reader.objects(identifiers, properties: []) {
        case .reply(.failed(let error)): error
        case .reply, .needsPool: nil
        }
    }
}
