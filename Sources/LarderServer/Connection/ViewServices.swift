import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// The services that connections of one event loop share which have a view of their own: those of
/// clients that were built for former schemas, and of users with limited rights.
///
/// Such a connection has the services of the others, except those that depend on the view: the
/// description of the store, and a ``LoopReader`` with caches of its own. All of its reads use the
/// connections to the data that the others use. The loop reader is made when the first client of
/// its view connects, and released with the last one.
///
/// Sendable unchecked: it is used on its event loop alone.
final class ViewServices: @unchecked Sendable {
    /// The caches of each view have this part of the memory of those of the store itself.
    private static let (formerShare, limitedShare) = (4, 16)

    private struct Entry {
        weak var loopReader: LoopReader?
    }

    private let backend: any StoreBackend
    private let loopReader: LoopReader
    private let limitedViews: LimitedViews
    /// By the view. The loop reader holds it.
    private var entries: [ObjectIdentifier: Entry] = [:]

    /// - Parameter loopReader: That of the clients of the current schema.
    init(_ backend: any StoreBackend, _ loopReader: LoopReader, _ limitedViews: LimitedViews) {
        self.backend = backend
        self.limitedViews = limitedViews
        self.loopReader = loopReader
    }

    /// The services for a client with this handshake; nil if the store has had no such schema, or
    /// what it has now is more than an addition to that.
    ///
    /// - Parameter current: The services for clients of the current schema.
    func services(for hello: Hello, _ current: ConnectionServices) -> ConnectionServices? {
        loopReader.eventLoop.assertInEventLoop()
        guard
            let former = backend.formerView(
                version: hello.schemaVersion, fingerprint: hello.schemaFingerprint)
        else { return nil }
        guard current.view.rights != nil else {
            return services(of: former, current, cacheShare: Self.formerShare)
        }
        // A role that sees nothing of the former schema has no view.
        guard let view = try? limitedViews.view(current.view, for: former) else { return nil }
        return services(of: view, current, cacheShare: Self.limitedShare)
    }

    /// The services for a user with limited rights.
    func services(
        limitedTo view: any StoreView, _ current: ConnectionServices
    ) -> ConnectionServices {
        loopReader.eventLoop.assertInEventLoop()
        return services(of: view, current, cacheShare: Self.limitedShare)
    }

    private func services(
        of view: any StoreView, _ current: ConnectionServices, cacheShare: Int
    ) -> ConnectionServices {
        let store = view.storeDescription
        var services = current
        services.view = view
        services.store = store
        services.welcome.schemaVersion = store.schema.version
        services.welcome.schemaFingerprint = store.fingerprint
        services.schemaText = store.schema.canonicalText
        services.probe = StoreProbe(store)
        services.loopReader = loopReader(for: view, cacheShare)
        return services
    }

    private func loopReader(for view: any StoreView, _ cacheShare: Int) -> LoopReader {
        if let loopReader = entries[ObjectIdentifier(view)]?.loopReader { return loopReader }
        entries = entries.filter { $0.value.loopReader != nil }
        let made = LoopReader(of: view, over: loopReader, cacheShare: cacheShare)
        entries[ObjectIdentifier(view)] = Entry(loopReader: made)
        return made
    }

    /// Releases the readers, before that of the current schema is released.
    func close() {
        for entry in entries.values { entry.loopReader?.close() }
        entries = [:]
    }
}
