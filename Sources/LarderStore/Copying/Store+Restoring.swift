import Glibc
import LarderFiles
import LarderModel
import LarderQuery

/// Restoring a backup: the copy is complete and verified before it gets its name.
extension Store {
    /// Creates a store from a backup, or from the file of a store that is not open.
    ///
    /// The new store has the objects and the history of the backup, and an epoch of its own:
    /// tokens of the original are valid as far as the backup contains their transactions.
    ///
    /// - Parameters:
    ///   - backup: The path of the backup. It is only read. It must not be open in this process.
    ///   - path: Where the store is created. Its folder must exist.
    ///   - assignsNewIdentifier: Whether the store gets an identifier of its own, so that both can
    ///     be used.
    ///   - onProgress: Called often, with the bytes that were copied and those of all pages.
    /// - Returns: the description of the store, and the number of its last transaction.
    /// - Throws: `fileExists` if there is a file at `path`, which stays as it is; `notAStore`,
    ///   `storeTooNew`, and `storageFailed` for a backup that is damaged or incomplete;
    ///   `storageFull`, `permissionDenied`. Nothing remains at `path` then.
    package static func restore(
        _ backup: String, to path: String, assignsNewIdentifier: Bool = false,
        onProgress: RestoreStep.Progress = { _, _, _ in }
    ) throws(LarderError) -> (description: StoreDescription, lastTransaction: Int64) {
        let source = try BackupFile(backup)
        return try restore(
            to: path, from: backup, assignsNewIdentifier: assignsNewIdentifier, onProgress
        ) { file throws(LarderError) in
            try source.copy(to: file) { onProgress(.writes, Int64($0), Int64($1)) }
        }
    }

    /// Creates a store from pages that a closure writes to a temporary file.
    ///
    /// - Parameter source: What the pages are from, for errors.
    static func restore(
        to path: String, from source: String, assignsNewIdentifier: Bool,
        _ onProgress: RestoreStep.Progress,
        _ write: (NewFile) throws(LarderError) -> Void
    ) throws(LarderError) -> (description: StoreDescription, lastTransaction: Int64) {
        try checkAbsence(of: path)
        let file = try NewFile(at: path, isNamed: true)
        guard let temporary = file.temporaryPath else {
            preconditionFailure("a named file has a name")
        }
        do throws(LarderError) {
            try write(file)
            var options = StoreOptions(assignsNewIdentifier: assignsNewIdentifier)
            options.beginsNewEpoch = true
            onProgress(.checks, 0, 0)
            let restored = try verify(temporary, options)
            try checkLog(of: temporary)
            try file.sync()
            try file.publish()
            return restored
        } catch {
            // The temporary file is not what the user has to look at.
            var located = error
            let name = error.code == .storageFull ? path : source
            located.message = error.message.replacing(temporary, with: name)
            throw located
        }
    }

    /// - Throws: `fileExists` if there is a file at the path, or the log of an earlier store, which
    ///   SQLite would take for that of the new one.
    static func checkAbsence(of path: String) throws(LarderError) {
        for ending in ["", "-wal", "-journal"] { try NewFile.checkAbsence(of: path + ending) }
    }

    /// Opens the copy, which checks its description, then verifies its contents, and closes it.
    private static func verify(
        _ path: String, _ options: StoreOptions
    ) throws(LarderError) -> (description: StoreDescription, lastTransaction: Int64) {
        let store = try Store.open(path: path, schema: nil, options: options)
        let last: Int64
        // The reader's connection is closed before that of the store, which removes the log.
        do throws(ReadFailure) { last = try store.verify() } catch { throw error.larderError }
        return (store.storeDescription, last)
    }

    /// The file is renamed without its log, so that nothing may be left in one.
    private static func checkLog(of path: String) throws(LarderError) {
        guard FileStatus(at: path + "-wal") == nil else {
            throw LarderError(
                .storageFailed, "the log of \(path) could not be written to the store",
                hint: "restore the backup again")
        }
    }

    private func verify() throws(ReadFailure) -> Int64 {
        let reader: Reader
        do throws(LarderError) { reader = try Reader(self) } catch { throw .failed(error) }
        let report = try reader.check(budget: ReadBudget(), wholeFile: true)
        guard report.findings.isEmpty else {
            throw .failed(
                LarderError(
                    .storageFailed, "\(path) is damaged", hint: "restore another backup",
                    problems: report.findings.map(\.description)))
        }
        return try reader.lastTransaction()
    }
}

/// The file of a backup, or of a store that is not open.
private final class BackupFile {
    private let path: String
    private let descriptor: Int32
    private let byteCount: Int
    private let header: DatabaseHeader

    /// Opens the file and checks what its header and its length tell.
    init(_ path: String) throws(LarderError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw LarderError(.storageFailed, "the path of the backup is empty or has a zero byte")
        }
        guard let found = FileStatus(at: path) else { throw Self.failure(path, errno) }
        guard found.type == S_IFREG else { throw Self.notAStore(path, "is not a regular file") }
        guard !OpenFile.isClaimed(found.identity) else {
            throw LarderError(
                .storeInUse, "\(path) is open in this process",
                hint: "make a backup of it: larder backup FILE")
        }
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        do throws(LarderError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.failure(path, errno) }
            byteCount = Int(status.st_size)
            header = try Self.header(
                of: try NewFile.read(DatabaseHeader.byteCount, at: 0, of: descriptor, path), path)
            try Self.check(header, byteCount, path)
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func header(
        of bytes: [UInt8], _ path: String
    ) throws(LarderError) -> DatabaseHeader {
        guard let header = DatabaseHeader(bytes) else {
            throw notAStore(path, "is not a Larder store or a backup of one")
        }
        guard header.applicationID == Catalog.applicationID else {
            throw notAStore(path, "is an SQLite database, but not a Larder store")
        }
        guard header.formatVersion <= Catalog.formatVersion else {
            throw Catalog.tooNew(path, header.formatVersion)
        }
        return header
    }

    private static func check(
        _ header: DatabaseHeader, _ byteCount: Int, _ path: String
    ) throws(LarderError) {
        let pages = header.pageByteCount * header.pageCount
        if header.usesLog {
            // The last commits may be in the log only.
            for ending in ["-wal", "-journal"] where hasContent(path + ending) {
                throw LarderError(
                    .storeInUse,
                    "\(path) is a store that is open or was not closed (there is "
                        + "\(path)\(ending))",
                    hint: "make a backup of it: larder --store FILE backup …")
            }
            guard byteCount >= pages else { throw damaged(path, incomplete(byteCount, of: pages)) }
        } else if byteCount != pages + BackupTrailer.byteCount {
            throw damaged(path, incomplete(byteCount, of: pages + BackupTrailer.byteCount))
        }
    }

    private static func hasContent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_size > 0
    }

    private static let chunkByteCount = 1 << 20

    /// Copies the pages, and compares the checksum of a backup. The file of a store has none.
    func copy(to file: NewFile, _ onProgress: (Int, Int) -> Void) throws(LarderError) {
        let end = header.usesLog ? byteCount : byteCount - BackupTrailer.byteCount
        var checksum = Checksum()
        var offset = 0
        while offset < end {
            let bytes = try read(min(Self.chunkByteCount, end - offset), at: offset)
            if !header.usesLog { checksum.append(bytes) }
            try file.write(bytes, at: offset)
            offset += bytes.count
            onProgress(offset, end)
        }
        guard !header.usesLog else { return }
        let trailer = try read(BackupTrailer.byteCount, at: end)
        guard BackupTrailer.matches(trailer, checksum) else {
            throw Self.damaged(path, "its checksum differs from that of its contents")
        }
    }

    private func read(_ count: Int, at offset: Int) throws(LarderError) -> [UInt8] {
        let bytes = try NewFile.read(count, at: offset, of: descriptor, path)
        guard bytes.count == count else {
            throw Self.damaged(path, "it became shorter while it was read")
        }
        return bytes
    }

    private static func incomplete(_ byteCount: Int, of expected: Int) -> String {
        "it has \(byteCount) bytes instead of \(expected)"
    }

    private static func damaged(_ path: String, _ reason: String) -> LarderError {
        LarderError(
            .storageFailed, "\(path) is damaged or incomplete (\(reason))",
            hint: "restore another backup")
    }

    private static func failure(_ path: String, _ reason: Int32) -> LarderError {
        guard reason != ENOENT else {
            return LarderError(.storageFailed, "there is no file \(path)")
        }
        return OpenFile.failure(path, reason)
    }

    private static func notAStore(_ path: String, _ reason: String) -> LarderError {
        LarderError(.notAStore, "\(path) \(reason)")
    }
}
