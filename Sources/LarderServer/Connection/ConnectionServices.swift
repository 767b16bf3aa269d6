import LarderModel
import LarderWire
import Logging

/// What every connection of one event loop shares: immutable, made once when the server starts.
struct ConnectionServices: Sendable {
    let limits: ServerLimits
    let welcome: Welcome
    let schemaText: String
    let loopReader: LoopReader
    let loopTurns: LoopTurns
    let pool: ReaderPool
    /// nil for a store that is only read.
    let writes: WriteQueue?
    let registry: ConnectionRegistry
    let store: StoreDescription
    let spools: SpoolBooks
    let probe: StoreProbe
    /// The server's own figures, to stand after the store's.
    let statistics: @Sendable () -> [Statistic]
    let logger: Logger
}
