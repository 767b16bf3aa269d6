internal import FoundationEssentials
internal import Glibc
internal import LarderClient
package import LarderModel
internal import LarderServer
internal import Synchronization

/// A store file as all containers of this process share it.
///
/// The first process that opens the file serves it at a socket (``StoreOwner``); every other one
/// connects to that. Each new connection of a client comes from ``connect(within:_:)``: over a
/// socket pair if this process serves the file, otherwise to the process that does, and if there is
/// none, this process begins to serve it. So a client whose server has ended finds the next one, or
/// its own process becomes the next one, within the rules by which it repeats its calls.
package final class StoreFile: Sendable {
    private struct State {
        /// nil while another process serves the file.
        var owner: StoreOwner?
        var isClosed = false
    }

    private struct StoreKey: Hashable {
        let fingerprint: String
        let options: StoreFileOptions.Client
    }

    private struct WeakStore { weak var store: ClientStore? }

    /// Canonical; see ``StorePath``.
    private let path: String
    /// Held while the file is opened or joined, so that threads do not do it at the same time.
    private let state = Mutex(State())
    private let stores = Mutex<[StoreKey: WeakStore]>([:])

    /// The files in use, by path, and the number of their uses.
    private static let files = Mutex<[String: (file: StoreFile, useCount: Int)]>([:])

    private init(path: String) { self.path = path }

    // MARK: Opening

    /// Opens the store in a file, or at the socket of a server.
    ///
    /// A missing file is created, unless the store is opened for reading only. If the store has
    /// another schema, it is migrated: by the stages in the options, otherwise by what can be
    /// inferred. A store whose schema only adds to this one stays as it is, and is seen with this
    /// schema.
    ///
    /// - Throws: `notAStore`, `storeTooNew`, `permissionDenied`; `storageFailed`, also for a
    ///   missing file that is opened for reading only; `schemaMismatch` for another schema in a
    ///   store for reading only; `migrationRefused` with every reason; `storeInUse` if a program
    ///   that does not share the file has it; what a stage throws.
    package static func open(
        path: String, schema: Schema, options: StoreFileOptions = StoreFileOptions()
    ) throws -> ClientStore {
        if StorePath.isSocket(path) {
            return try ClientStore(
                StoreConnection(Connector(path: path), schema, options).client(), schema: schema,
                isReadOnly: options.client.isReadOnly)
        }
        let path = try OwnerFile.canonical(path)
        try StorePath.checkUser(of: path, options)
        let use = StoreFileUse(begin(path))
        do {
            return try use.file.store(schema, options, use)
        } catch {
            use.end()
            throw error
        }
    }

    private func store(
        _ schema: Schema, _ options: StoreFileOptions, _ use: StoreFileUse
    ) throws -> ClientStore {
        let key = StoreKey(fingerprint: schema.fingerprint, options: options.client)
        let known = stores.withLock { $0[key]?.store }
        let connector = Connector { [weak self] time throws(LarderError) in
            guard let self else { throw Self.closed }
            return try self.connect(within: time, schema, options)
        }
        let connection = StoreConnection(connector, schema, options)
        // A store that was seen with the schema may still be one of a later version.
        if let known, !connection.leadsBack {
            use.end()
            return known
        }
        let store = try ClientStore(
            connection.client(), schema: schema,
            isReadOnly: options.client.isReadOnly, file: use)
        stores.withLock { $0[key] = WeakStore(store: store) }
        return store
    }

    // MARK: Uses

    private static func begin(_ path: String) -> StoreFile {
        let (file, former) = files.withLock { files -> (StoreFile, StoreFile?) in
            var former: StoreFile?
            if let (file, useCount) = files[path] {
                if !file.hasLostItsFile {
                    files[path] = (file, useCount + 1)
                    return (file, nil)
                }
                former = file
            }
            let file = StoreFile(path: path)
            files[path] = (file, 1)
            return (file, former)
        }
        // Its clients have a store whose file is not there any more.
        former?.close()
        return file
    }

    /// Ends a use. The last one stops the server, and returns when the file is closed.
    fileprivate func end() {
        let isLast = Self.files.withLock { files in
            guard let (file, useCount) = files[path], file === self else { return false }
            files[path] = useCount > 1 ? (file, useCount - 1) : nil
            return useCount == 1
        }
        if isLast { close() }
    }

    private func close() {
        let owner = state.withLock { state in
            state.isClosed = true
            defer { state.owner = nil }
            return state.owner
        }
        owner?.stop()
    }

    /// Whether the file that this process serves was removed or replaced.
    private var hasLostItsFile: Bool {
        state.withLock { state in
            guard let owner = state.owner else { return false }
            return owner.inode != OwnerFile.inode(at: path)
        }
    }

    // MARK: Connecting

    private func connect(
        within time: Duration, _ schema: Schema, _ options: StoreFileOptions
    ) throws(LarderError) -> Connector.ConnectedSocket {
        try state.withLock { (state) throws(LarderError) in
            if state.isClosed { throw Self.closed }
            if let owner = state.owner { return try owner.connect() }
            var refusal: LarderError?
            if let record = OwnerFile.Record(ofStoreAt: path),
                record.inode == OwnerFile.inode(at: path)
            {
                do throws(LarderError) {
                    return try .connect(
                        to: record.socketPath, within: time, servingStore: record.store,
                        ofUser: options.trusts)
                } catch {
                    // Usually the process has ended.
                    refusal = error.code == .permissionDenied ? error : nil
                }
            }
            if options.client.isReadOnly, OwnerFile.inode(at: path) == nil {
                throw LarderError(
                    .storageFailed,
                    "\(path) does not exist, and a store for reading only is not created",
                    hint: "open it with a configuration that allows saving first")
            }
            do throws(LarderError) {
                let owner = try StoreOwner(path: path, schema: schema, options: options)
                state.owner = owner
                return try owner.connect()
            } catch {
                throw error.code == .storeInUse ? refusal ?? error : error
            }
        }
    }

    /// Whether this process serves the file.
    package static func isOwner(ofStoreAt path: String) -> Bool {
        guard let path = try? OwnerFile.canonical(path),
            let file = files.withLock({ $0[path]?.file })
        else { return false }
        return file.state.withLock { $0.owner != nil }
    }

    private static let closed = LarderError(
        .storageFailed, "the store is closed, or its file was removed",
        hint: "open the store again")
}

/// The use of a file by one store.
final class StoreFileUse: Sendable {
    fileprivate let file: StoreFile
    private let hasEnded = Atomic(false)

    fileprivate init(_ file: StoreFile) { self.file = file }

    func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { file.end() }
    }
}
