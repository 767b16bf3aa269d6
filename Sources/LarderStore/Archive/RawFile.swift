import Glibc
import LarderFiles
import LarderModel

/// A file of an archive, or one that is copied to it, with reads and writes at offsets.
///
/// Used by one thread at a time. It must not be used for the file of a store that this process has
/// open, because closing any descriptor of that file releases the lock of the store.
final class RawFile {
    let path: String
    private let descriptor: Int32

    /// Opens an existing file for reading.
    init(reading path: String) throws(LarderError) {
        self.path = path
        descriptor = try Self.open(path, O_RDONLY)
    }

    /// Creates an empty file, readable by its owner only. A file of this name is replaced.
    init(creating path: String) throws(LarderError) {
        self.path = path
        unlink(path)
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, "created", errno) }
    }

    /// Opens a file whose lock stands for something else, or creates it.
    init(locking path: String) throws(LarderError) {
        self.path = path
        descriptor = try Self.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
    }

    /// Opens a regular file. It does not wait for the writer of a named pipe.
    private static func open(_ path: String, _ flags: Int32) throws(LarderError) -> Int32 {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
        let reason = errno
        var status = stat()
        let isThere =
            descriptor >= 0 ? fstat(descriptor, &status) == 0 : lstat(path, &status) == 0
        let type = FileType(mode: status.st_mode)
        if isThere, !type.isRegular {
            if descriptor >= 0 { close(descriptor) }
            throw type.obstacle(at: path, insteadOf: "a file of an archive")
        }
        guard descriptor >= 0 else { throw failure(path, "opened", reason) }
        return descriptor
    }

    /// Makes the names in a folder durable.
    static func sync(folder path: String) throws(LarderError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "opened", errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path, "synced", errno) }
    }

    deinit { close(descriptor) }

    var byteCount: Int64 {
        get throws(LarderError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw failure("read", errno) }
            return Int64(status.st_size)
        }
    }

    /// The bytes at an offset; fewer at the end of the file.
    func read(at offset: Int64, _ count: Int) throws(LarderError) -> [UInt8] {
        do throws(SystemError) {
            return try FileOffsets.read(count, at: Int(offset), of: descriptor)
        } catch {
            throw failure("read", error.code)
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(LarderError) {
        do throws(SystemError) {
            try FileOffsets.write(bytes, at: Int(offset), to: descriptor)
        } catch {
            throw failure("written", error.code)
        }
    }

    func truncate(to count: Int64) throws(LarderError) {
        guard ftruncate(descriptor, off_t(count)) == 0 else { throw failure("written", errno) }
    }

    func sync() throws(LarderError) {
        guard fsync(descriptor) == 0 else { throw failure("synced", errno) }
    }

    /// Takes the lock of the file without waiting; false if another process has it.
    func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    func unlock() { flock(descriptor, LOCK_UN) }

    private func failure(_ verb: String, _ reason: Int32) -> LarderError {
        Self.failure(path, verb, reason)
    }

    static func failure(_ path: String, _ verb: String, _ reason: Int32) -> LarderError {
        let text = "\(path) cannot be \(verb) (\(SystemError(code: reason).text))"
        return switch reason {
        case ENOSPC, EDQUOT:
            LarderError(.storageFull, text, hint: "free space in the file system of this file")
        case EACCES, EPERM: LarderError(.permissionDenied, text)
        case EROFS: LarderError(.readOnly, text)
        default: LarderError(.storageFailed, text)
        }
    }
}
