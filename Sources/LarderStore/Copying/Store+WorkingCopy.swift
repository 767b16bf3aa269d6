import LarderFiles
package import LarderModel

/// The working copy of a store: a store of its own next to it, on which several changes are made
/// that take effect together or not at all. What is made of the copy becomes the contents of the
/// store in one transaction, so that the store keeps its file.
extension Store {
    /// The file of a working copy, which is removed with its last reference.
    ///
    /// Sendable unchecked: nothing else is done with it.
    struct WorkingFile: @unchecked Sendable { let file: NewFile }

    package func makeWorkingCopy() throws(LarderError) -> any StoreBackend {
        let file = try NewFile(at: Self.workingPath(path), isNamed: true)
        guard let copyPath = file.temporaryPath else {
            preconditionFailure("a named file has a name")
        }
        try copyPages(of: openReadConnection(), to: copyPath)
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

    private func copyPages(of source: Connection, to path: String) throws(LarderError) {
        do throws(SQLiteError) {
            let copy = try StoreConnection.open(path)
            try StoreConnection.configureCopy(copy)
            try PageCopy(from: source, to: copy).run()
        } catch {
            throw Self.located(error, "there is no disk space for a copy of the store")
        }
    }

    /// Replaces all pages, in one transaction.
    func takeContents(of copy: any StoreBackend) throws(LarderError) {
        guard let copy = copy as? Store, copy.workingFile != nil else {
            preconditionFailure("only the contents of a working copy are stored in a store")
        }
        do throws(SQLiteError) {
            let source = try StoreConnection.open(copy.path)
            let destination = try reopenWriterConnection()
            try PageCopy(from: source, to: destination).run()
            // The log has every page of the store.
            try? destination.checkpoint(.truncate)
        } catch {
            throw Self.located(error, "there is no disk space for the result of the migration")
        }
    }

    private static func located(_ error: SQLiteError, _ noSpace: String) -> LarderError {
        let error = error.larderError
        guard error.code == .storageFull else { return error }
        return LarderError(
            .storageFull, noSpace, hint: "free disk space where the store is, and try again")
    }
}

extension PageCopy {
    /// Copies all pages.
    fileprivate func run() throws(SQLiteError) {
        defer { finish() }
        while try !step(pages: -1) {}
    }
}
