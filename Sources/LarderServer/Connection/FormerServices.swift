import LarderModel
import LarderWire
import NIOCore

/// What the connections of one event loop share whose clients were built for former schemas.
///
/// Such a connection has the services of the others, except those that depend on the schema: the
/// description of the store, and a ``LoopReader`` with caches of its own. All of its reads use the
/// connections to the data that the others use. The loop reader is made when the first client of
/// its schema connects, and released with the last one.
///
/// Sendable unchecked: it is used on its event loop alone.
final class FormerServices: @unchecked Sendable {
    /// The caches of each former schema have this part of the memory of those of the current one.
    private static let cacheShare = 4

    private struct Entry {
        weak var loopReader: LoopReader?
    }

    private let backend: any StoreBackend
    private let loopReader: LoopReader
    /// By the fingerprint of the schema.
    private var entries: [String: Entry] = [:]

    /// - Parameter loopReader: That of the clients of the current schema.
    init(_ backend: any StoreBackend, _ loopReader: LoopReader) {
        self.backend = backend
        self.loopReader = loopReader
    }

    /// The services for a client with this handshake; nil if the store has had no such schema, or
    /// what it has now is more than an addition to that.
    ///
    /// - Parameter current: The services for clients of the current schema.
    func services(for hello: Hello, _ current: ConnectionServices) -> ConnectionServices? {
        loopReader.eventLoop.assertInEventLoop()
        let view = backend.formerView(
            version: hello.schemaVersion, fingerprint: hello.schemaFingerprint)
        guard let view else { return nil }
        let store = view.storeDescription
        var services = current
        services.view = view
        services.store = store
        services.welcome.schemaVersion = store.schema.version
        services.welcome.schemaFingerprint = store.fingerprint
        services.schemaText = store.schema.canonicalText
        services.probe = StoreProbe(store)
        services.loopReader = loopReader(for: view)
        return services
    }

    private func loopReader(for view: any StoreView) -> LoopReader {
        let fingerprint = view.storeDescription.fingerprint
        if let loopReader = entries[fingerprint]?.loopReader { return loopReader }
        let made = LoopReader(of: view, over: loopReader, cacheShare: Self.cacheShare)
        entries[fingerprint] = Entry(loopReader: made)
        return made
    }

    /// Releases the readers, before that of the current schema is released.
    func close() {
        for entry in entries.values { entry.loopReader?.close() }
        entries = [:]
    }
}
