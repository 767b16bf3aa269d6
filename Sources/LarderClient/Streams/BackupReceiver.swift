import LarderFiles
import LarderModel
internal import LarderWire
import Synchronization

/// Receives a backup into a new file, on one thread that it blocks.
///
/// The file gets its name after the server has sent everything, the bytes are on disk, and they
/// have been read back and compared with the checksum at their end. The server has verified the
/// copy before it sent it.
final class BackupReceiver: Sendable {
    /// The number of parts that the server may send before the first of them is written.
    private static let window: UInt32 = 4
    private static let readByteCount = 1 << 20

    private enum State {
        case idle
        case receiving(Connection, UInt64)
        case cancelled
    }

    private let session: Session
    private let path: String
    private let onProgress: (@Sendable (Int64, Int64) -> Void)?
    private let state = Mutex(State.idle)

    init(
        _ session: Session, path: String, onProgress: (@Sendable (Int64, Int64) -> Void)? = nil
    ) {
        self.session = session
        self.path = path
        self.onProgress = onProgress
    }

    /// Ends the backup; ``receive()`` throws `cancelled`.
    func cancel() {
        let previous = state.withLock { state in
            defer { state = .cancelled }
            return state
        }
        if case .receiving(let connection, let id) = previous { connection.cancel(id) }
    }

    func receive() throws(LarderError) -> StoreBackup {
        guard session.snapshot == nil else {
            throw LarderError(
                .unsupported, "a snapshot cannot be backed up",
                hint: "use the client that opened the snapshot; a backup is a snapshot itself")
        }
        let file = try NewFile(at: path)
        var attempt = session.attempt(isWrite: false)
        var failed: Connection?
        while true {
            let connection = try session.connection(replacing: failed, for: attempt)
            if let backup = try receive(into: file, over: connection, &attempt) { return backup }
            failed = connection
        }
    }

    /// - Returns: nil if the connection was lost before the first part, and the request has to be
    ///   sent again.
    private func receive(
        into file: NewFile, over connection: Connection, _ attempt: inout Attempt
    ) throws(LarderError) -> StoreBackup? {
        let id = try connection.send(
            .backup(credit: Self.window), .stream(window: Self.window), until: nil)
        let isWanted = state.withLock { state in
            if case .cancelled = state { return false }
            state = .receiving(connection, id)
            return true
        }
        if !isWanted { connection.cancel(id) }
        do throws(LarderError) {
            var written = 0
            while true {
                let outcome = connection.outcome(of: id, until: attempt.deadline)
                if written > 0, case .response(.lost(let error, _)) = outcome {
                    throw LarderError(
                        error.code, "\(error.message) before the end of the backup",
                        hint: "make the backup again")
                }
                guard let reply = try attempt.resolve(outcome, now: .now) else { return nil }
                guard case .backup(let part, let more) = reply else { throw .unexpectedReply }
                try file.write(part.content, at: written)
                written += part.content.count
                guard Int64(written) <= part.byteCount else { throw .unexpectedReply }
                onProgress?(Int64(written), part.byteCount)
                if !more { return try complete(file, written, part, connection.welcome) }
                // The time limit is that of each reply, because a large backup takes long.
                attempt = session.attempt(isWrite: false)
            }
        } catch {
            connection.cancel(id)
            throw error
        }
    }

    private func complete(
        _ file: NewFile, _ written: Int, _ last: BackupPart, _ welcome: Welcome
    ) throws(LarderError) -> StoreBackup {
        guard Int64(written) == last.byteCount else {
            throw damaged("\(written) of \(last.byteCount) bytes were received")
        }
        try file.sync()
        try verify(file, written)
        try file.publish()
        return StoreBackup(
            path: path, byteCount: last.byteCount,
            position: HistoryToken(
                store: welcome.storeIdentifier, epoch: welcome.historyEpoch,
                number: last.transaction))
    }

    private func verify(_ file: NewFile, _ byteCount: Int) throws(LarderError) {
        let end = byteCount - BackupTrailer.byteCount
        var checksum = Checksum()
        var offset = 0
        while offset < end {
            let bytes = try file.read(min(Self.readByteCount, end - offset), at: offset)
            guard !bytes.isEmpty else { break }
            checksum.append(bytes)
            offset += bytes.count
        }
        let trailer = try file.read(BackupTrailer.byteCount, at: max(0, end))
        guard offset == end, BackupTrailer.matches(trailer, checksum) else {
            throw damaged("it cannot be read back as it was written")
        }
    }

    private func damaged(_ reason: String) -> LarderError {
        LarderError(
            .storageFailed, "the backup \(path) was not made (\(reason))",
            hint: "make it again, on another disk if that does not help")
    }
}
