import LarderModel
import LarderWire
import Logging

/// The objects that the connections of one event loop share. They are made when the server starts
/// and do not change.
struct ConnectionServices: Sendable {
    let limits: ServerLimits
    let welcome: Welcome
    let schemaText: String
    let backend: any StoreBackend
    let loopReader: LoopReader
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
    let store: StoreDescription
    let spools: SpoolQuota
    let backups: BackupQuota
    let probe: StoreProbe
    let activity: ActivityCollector
    let migrations: Migrations
    let slowReads: SlowReads
    /// The server's own metrics, which follow those of the store.
    let statistics: @Sendable () -> [Statistic]
    let logger: Logger
}
