import LarderModel
import LarderQuery

/// A store to which a test writes.
package protocol WrittenStore: AnyObject {
    var backend: any StoreBackend { get }
    var storeWriter: any StoreWriter { get }

    /// The changes of a transaction in the history, in the order of its rows.
    func runs(of transaction: Int64) throws -> [HistoryRun]
}

extension WrittenStore {
    package var schema: Schema { backend.storeDescription.schema }
}

extension PersistentIdentifier {
    package static func new(_ name: String, _ entityName: String) -> PersistentIdentifier {
        PersistentIdentifier(temporary: name, entityName: entityName)
    }
}
