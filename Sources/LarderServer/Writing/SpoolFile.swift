import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Synchronization

/// Batches of rows that wait in a file without a name until all of their stream have come, so that
/// no transaction is open while a client is waited for (`docs/decisions/0016-rows-are-spooled.md`).
///
/// Nobody else can reach the file, and it ends with the object, or with the process. Each batch is
/// a frame as on the wire. Who appends says where, so the file itself keeps no state.
final class SpoolFile: Sendable {
    private let descriptor: Int32
    private let books: SpoolBooks
    /// What is on the books for it.
    private let bookedBytes = Atomic<Int>(0)

    init(in folder: String, _ books: SpoolBooks) throws(LarderError) {
        descriptor = try SpoolFile.open(in: folder)
        self.books = books
    }

    deinit {
        close(descriptor)
        books.close(bookedBytes.load(ordering: .relaxed))
    }

    /// The flag O_TMPFILE, which is a macro that Swift does not import.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    private static func open(in folder: String) throws(LarderError) -> Int32 {
        let descriptor = Glibc.open(folder, unnamed | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        guard errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT else {
            throw failure("cannot be made")
        }
        // A file system that only has files with names: it loses its own at once.
        let path = "\(folder)/.larder-spool-\(UUID().uuidString)"
        let named = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard named >= 0 else { throw failure("cannot be made") }
        unlink(path)
        return named
    }

    /// Writes a batch at a place, and gives the place behind it.
    func append(_ batch: Batch, at start: Int) throws(LarderError) -> Int {
        var frame: [UInt8] = []
        try WireCodec().encode(
            RequestEnvelope(id: 1, request: .rows(requestID: 1, batch, isLast: false)),
            into: &frame)
        try books.book(frame.count)
        bookedBytes.add(frame.count, ordering: .relaxed)
        var written = 0
        while written < frame.count {
            let count = frame.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress?.advanced(by: written), $0.count - written,
                    off_t(start + written))
            }
            guard count > 0 || errno == EINTR else {
                throw SpoolFile.failure("cannot be written")
            }
            written += max(count, 0)
        }
        return start + frame.count
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
                throw SpoolFile.failure("cannot be read")
            }
            read += max(part, 0)
        }
        return bytes
    }

    private static func failure(_ what: String) -> LarderError {
        let reason = errno
        guard reason != ENOSPC, reason != EDQUOT, reason != EFBIG else {
            return LarderError(
                .storageFull, "there is no room on the disk for the rows of a stream",
                hint: "make room, or insert them in several transactions")
        }
        return LarderError(
            .storageFailed,
            "a file for the rows of a stream \(what) (\(SystemError(code: reason).text))")
    }
}
