import LarderFiles
import LarderModel
import LarderQuery
import LarderSQL

/// The working copy of a store: a store of its own next to it, on which several changes are made
/// that take effect together or not at all. What is made of the copy becomes the contents of the
/// store in one transaction, so that the store keeps its file.
extension Store {
    /// The file of a working copy, which is removed with its last reference.
    ///
    /// Sendable unchecked: nothing else is done with it.
    struct WorkingFile: @unchecked Sendable { let file: NewFile }

    package func makeWorkingCopy(
        stoppedBy cancellation: ReadCancellation
    ) throws(LarderError) -> any StoreBackend {
        let file = try NewFile(at: Self.workingPath(path), isNamed: true)
        guard let copyPath = file.temporaryPath else {
            preconditionFailure("a named file has a name")
        }
        try copyPages(
            of: openReadConnection(), to: copyPath, MigrationWatch(cancellation: cancellation))
        var options = StoreOptions()
        options.isWorkingCopy = true
        let opened = try OpenedStore.open(
            path: copyPath, schema: storeDescription.schema, options: options, synchronous: .off)
        return Store(
            opened, path: copyPath, options: options, memory: memory,
            workingFile: WorkingFile(file: file))
    }

    /// Removes the working copy that a killed process has left.
    static func removeAbandonedCopy(of path: String) {
        NewFile.removeAbandoned(at: workingPath(path))
    }

    private static func workingPath(_ path: String) -> String { "\(path)-migration" }

    private func copyPages(
        of source: Connection, to path: String, _ watch: MigrationWatch
    ) throws(LarderError) {
        let noSpace = "there is no disk space for a copy of the store"
        let copy: Connection
        let pages: PageCopy
        do throws(SQLError) {
            copy = try StoreConnection.open(path)
            try StoreConnection.configureCopy(copy)
            pages = try PageCopy(from: source, to: copy)
        } catch {
            throw Self.located(error, noSpace)
        }
        try Self.run(pages, watch, noSpace)
    }

    /// Copies all pages.
    private static func run(
        _ pages: PageCopy, _ watch: MigrationWatch, _ noSpace: String
    ) throws(LarderError) {
        defer { pages.finish() }
        while true {
            try watch.check()
            do throws(SQLError) {
                if try pages.step(pages: pagesPerLook) { return }
            } catch {
                throw located(error, noSpace)
            }
        }
    }

    /// Pages that are copied between two looks at the cancellation: some milliseconds.
    private static let pagesPerLook = 1_024

    /// Replaces all pages, in one transaction.
    func takeContents(
        of copy: any StoreBackend, stoppedBy cancellation: ReadCancellation
    ) throws(LarderError) {
        guard let copy = copy as? Store, copy.workingFile != nil else {
            preconditionFailure("only the contents of a working copy are stored in a store")
        }
        let noSpace = "there is no disk space for the result of the migration"
        let destination: Connection
        let pages: PageCopy
        do throws(SQLError) {
            let source = try StoreConnection.open(copy.path)
            source.waitForLocks()
            destination = try reopenWriterConnection()
            pages = try PageCopy(from: source, to: destination)
        } catch {
            throw Self.located(error, noSpace)
        }
        try Self.run(pages, MigrationWatch(cancellation: cancellation), noSpace)
        // The log has every page of the store.
        try? destination.checkpoint(.truncate)
    }

    private static func located(_ error: SQLError, _ noSpace: String) -> LarderError {
        let error = error.larderError
        guard error.code == .storageFull else { return error }
        return LarderError(
            .storageFull, noSpace, hint: "free disk space where the store is, and try again")
    }
}
