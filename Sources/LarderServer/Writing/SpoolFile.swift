import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Synchronization

/// A file without a name for a transaction that arrives in several messages, until the last has
/// arrived, so that no transaction is open while the server waits for a client. See
/// `docs/decisions/0016-atomic-insert-streams.md`.
///
/// No other process can open the file, and it disappears with the object or the process. Each batch
/// of rows is a frame, as on the wire; the parts of a change set follow each other as they are. The
/// callers store the offsets.
final class SpoolFile: Sendable {
    private let descriptor: Int32
    private let quota: SpoolQuota
    private let user: UInt32
    private let chargedBytes = Atomic<Int>(0)

    /// - Parameter user: The quota of this user is charged.
    init(in folder: String, _ quota: SpoolQuota, for user: UInt32) throws(LarderError) {
        descriptor = try SpoolFile.open(in: folder)
        self.quota = quota
        self.user = user
    }

    deinit {
        close(descriptor)
        quota.release(chargedBytes.load(ordering: .relaxed), for: user)
    }

    /// O_TMPFILE, a macro that Swift does not import.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    private static func open(in folder: String) throws(LarderError) -> Int32 {
        let descriptor = Glibc.open(folder, unnamed | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        guard errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT else {
            throw failure("create")
        }
        // The file system has no unnamed files: the name is removed at once.
        let path = "\(folder)/.larder-spool-\(UUID().uuidString)"
        let named = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard named >= 0 else { throw failure("create") }
        unlink(path)
        return named
    }

    /// Writes the content of a message at an offset and returns the offset after it.
    func append(_ part: WriteStream.Part, at start: Int) throws(LarderError) -> Int {
        let frame = try Self.bytes(of: part)
        try quota.charge(frame.count, for: user)
        chargedBytes.add(frame.count, ordering: .relaxed)
        var written = 0
        while written < frame.count {
            let count = frame.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress?.advanced(by: written), $0.count - written,
                    off_t(start + written))
            }
            guard count > 0 || errno == EINTR else {
                throw SpoolFile.failure("write")
            }
            written += max(count, 0)
        }
        return start + frame.count
    }

    private static func bytes(of part: WriteStream.Part) throws(LarderError) -> [UInt8] {
        switch part {
        case .changes(let bytes): return bytes
        case .rows(let batch):
            var frame: [UInt8] = []
            // The identifiers are not read back.
            try WireCodec().encode(
                RequestEnvelope(id: 1, request: .rows(requestID: 1, batch, isLast: false)),
                into: &frame)
            return frame
        }
    }

    func read(_ count: Int, at start: Int) throws(LarderError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            let part = bytes.withUnsafeMutableBytes {
                pread(
                    descriptor, $0.baseAddress?.advanced(by: read), $0.count - read,
                    off_t(start + read))
            }
            guard part > 0 || part < 0 && errno == EINTR else {
                throw SpoolFile.failure("read")
            }
            read += max(part, 0)
        }
        return bytes
    }

    private static func failure(_ action: String) -> LarderError {
        let error = SystemError(code: errno)
        guard ![ENOSPC, EDQUOT, EFBIG].contains(error.code) else {
            return SpoolQuota.noSpace
        }
        return LarderError(
            .storageFailed,
            "cannot \(action) a file for a write in several messages: \(error.text)")
    }
}
