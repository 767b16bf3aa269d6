import LarderModel
import LarderQuery
import LarderWire
internal import Logging

/// The objects that the connections of one event loop share. They are made when the server starts
/// and do not change. Those of clients of a former schema differ in a few; see ``ViewServices``.
struct ConnectionServices: Sendable {
    let limits: ServerLimits
    var welcome: Welcome
    var schemaText: String
    let backend: any StoreBackend
    /// The store as the clients see it.
    var view: any StoreView
    var loopReader: LoopReader
    let loopFeed: LoopFeed
    let liveQueries: LiveQueries
    let loopOccupancy: LoopOccupancy
    let loopTurns: LoopTurns
    let flushQueue: FlushQueue
    let pool: ReaderPool
    let disposal: Disposal
    /// nil for a read-only store.
    let writes: WriteQueue?
    let registry: ConnectionRegistry
    /// With the schema of the view.
    var store: StoreDescription
    let spools: SpoolQuota
    let backups: BackupQuota
    var probe: StoreProbe
    let activity: ActivityCollector
    let migrations: Migrations
    let viewServices: ViewServices
    let slowReads: SlowReads
    let metrics: MetricsCollector
    /// The server's own metrics, which follow those of the store.
    let statistics: @Sendable () -> [Statistic]
    let failures: FailureLog
    let logger: Logger
}

extension ConnectionServices {
    /// The view for changes; nil for that of the store itself.
    var writingView: (any StoreView)? {
        view.knownNames == nil && view.rights == nil ? nil : view
    }

    /// The reason for a write that has failed, without names that the client does not know.
    func known(_ error: LarderError) -> LarderError { view.knownNames?.known(error) ?? error }
}
