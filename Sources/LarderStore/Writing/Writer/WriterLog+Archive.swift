import LarderModel
import LarderSQL

// The archive of the store. Only what is archived goes to the file; see ``Archive``.
extension WriterLog {
    /// Begins a generation if the archive does not continue. Without an archive, the next commit
    /// records that an earlier archive ends.
    func startArchive(_ connection: Connection) throws(SQLError) {
        guard let archive = store.archive else {
            isArchiveOutdated = try connection.integer(Catalog.readArchive) != nil
            return
        }
        if archive.state.withLock({ $0.phase == .broken }) { try beginGeneration(connection) }
    }

    /// - Returns: whether the log may be checkpointed now.
    func prepareArchive(_ connection: Connection) throws(SQLError) -> Bool {
        guard let archive = store.archive else { return true }
        switch archive.decision() {
        case .checkpoint: return true
        case .wait: return false
        case .beginGeneration:
            try beginGeneration(connection)
            return false
        case .giveUp:
            try endArchive(archive, connection)
            archive.report(
                ArchiveEvent(
                    .failure,
                    "the archive ends here, because it has failed for too long; a new "
                        + "generation begins when it works again"))
            return true
        }
    }

    /// Writes all commits into the file and empties the log, so that a copy of the file and the
    /// commits from now on are a new generation.
    ///
    /// - Throws: `busy` while readers need the log.
    private func beginGeneration(_ connection: Connection) throws(SQLError) {
        // If readers need the log, this fails before anything is written.
        try connection.checkpoint(.truncate)
        let identity = UInt64.random(in: 1...(.max))
        let statement = try connection.prepare(Catalog.storeArchive)
        try statement.run([.integer(Int64(bitPattern: identity))])
        statement.reset()
        let header = try? LogFile(connection.logPath).header()
        try connection.checkpoint(.truncate)
        wasRestarted()
        let pageCount = try connection.integer("PRAGMA page_count") ?? 0
        store.archive?.begin(
            Archive.Generation(
                identity: identity, position: header?.start ?? .start,
                pageCount: UInt32(clamping: pageCount)))
    }

    /// Records that the archive does not have the next commits.
    private func endArchive(
        _ archive: Archive, _ connection: Connection
    ) throws(SQLError) {
        try connection.execute(Catalog.deleteArchive)
        archive.state.withLock { $0.isNamed = false }
    }

    /// Archives the last commits, and empties the log if that succeeds. Otherwise the log stays,
    /// and the archive continues with it when the store is opened again.
    func close(_ archive: Archive, _ connection: Connection) {
        let isBroken = archive.state.withLock { $0.phase == .broken }
        if isBroken { try? endArchive(archive, connection) }
        guard isBroken || archive.finish() else {
            connection.disableCheckpointOnClose()
            return archive.close(nil)
        }
        // Running readers keep the log from being truncated; the next opening reads it.
        let isEmptied = (try? connection.checkpoint(.truncate)) != nil
        if !isEmptied { connection.disableCheckpointOnClose() }
        archive.close(isEmptied && !isBroken ? ClosedStore(store.path) : nil)
    }
}
