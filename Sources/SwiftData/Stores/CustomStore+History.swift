internal import Foundation
internal import LarderModel
internal import LarderObjects

/// A store that others write, without its type: its history, and the store for a context.
protocol OtherStore {
    func forContext(_ state: EditingState) -> any ObjectStore
    var storeIdentifier: String { get }
    /// The transactions; nil for a store that has none of the type.
    func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Void?
    /// The token that the store has returned for a save, once.
    func takeToken(of number: Int64) -> (any HistoryToken)?
}

extension CustomStore: OtherStore {
    var storeIdentifier: String { store.identifier }

    func forContext(_ state: EditingState) -> any ObjectStore { CustomStore(self, state) }

    func fetchHistory<T: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<T>
    ) throws -> [T]? {
        func fetch<Provider: HistoryProviding>(_ provider: Provider) throws -> [T]? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else {
                return nil
            }
            return try provider.fetchHistory(own) as? [T]
        }
        return try SwiftDataError.translating { () throws(LarderError) in
            try calling { try (store as? any HistoryProviding).flatMap { try fetch($0) } }
        }
    }

    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Void? {
        func delete<Provider: HistoryProviding>(_ provider: Provider) throws -> Void? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else {
                return nil
            }
            return try provider.deleteHistory(own)
        }
        return try SwiftDataError.translating { () throws(LarderError) in
            try calling { try (store as? any HistoryProviding).flatMap { try delete($0) } }
        }
    }

    func takeToken(of number: Int64) -> (any HistoryToken)? {
        try? calling { saves.tokens.removeValue(forKey: number) }
    }

    func history(_ fetch: HistoryFetch, objects: [HistoryObjects]) throws(LarderError) -> History {
        throw noHistory
    }

    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        throw noHistory
    }

    private var noHistory: LarderError {
        LarderError(.unsupported, "the store has no history of Larder's")
    }
}
