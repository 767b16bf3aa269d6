internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import LarderObjects

/// A position in the histories of the stores of a coordinator.
public final class NSPersistentHistoryToken: NSObject, Codable, Sendable {
    /// The position in each store, at most one.
    let positions: [HistoryToken]

    init(_ positions: [HistoryToken]) { self.positions = positions }

    public init(from decoder: any Decoder) throws {
        let texts = try decoder.singleValueContainer().decode([String].self)
        positions = try translating { () throws(LarderError) in
            try texts.map { (text) throws(LarderError) in try HistoryToken(text) }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(positions.map(\.description))
    }

    /// The token with another position in one of the stores.
    func moved(to position: HistoryToken) -> NSPersistentHistoryToken {
        NSPersistentHistoryToken(positions.filter { $0.store != position.store } + [position])
    }

    func position(in store: any ObjectStore) -> HistoryToken? {
        positions.first { $0.store == store.identifier }
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken).map { Set($0.positions) == Set(positions) } ?? false
    }

    public override var hash: Int { Set(positions).hashValue }

    public override var description: String {
        positions.map(\.description).sorted().joined(separator: ",")
    }
}

extension NSPersistentStoreCoordinator {
    /// The position after the newest transaction of each store; nil if one cannot be read.
    ///
    /// - Parameter stores: Some of the stores; nil for all.
    public func currentPersistentHistoryToken(
        fromStores stores: [NSPersistentStore]?
    ) -> NSPersistentHistoryToken? {
        let positions = (stores ?? persistentStores).map { try? $0.store.currentToken() }
        let known = positions.compactMap { $0 }
        return known.count == positions.count ? NSPersistentHistoryToken(known) : nil
    }
}
