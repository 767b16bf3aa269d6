import LarderModel
import LarderQuery
import QueryScripts

extension Library: WrittenStore {
    var backend: any StoreBackend { store }
    var storeWriter: any StoreWriter { writer }

    func runs(of transaction: Int64) throws -> [HistoryRun] {
        try history(transaction).compactMap { change in
            HistoryRun.Kind(rawValue: change.kind.rawValue).map {
                HistoryRun(
                    $0, change.entityName, change.keys,
                    properties: change.properties?.sorted() ?? [])
            }
        }
    }
}
