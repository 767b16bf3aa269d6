import CLinux
import Glibc
package import LarderModel

/// A file that gets its name when it is complete, and never replaces another one.
///
/// Until then it has no name, so that nothing remains of it if the process is killed. Where the
/// file system has no unnamed files, or another library has to open it by a path, it has a
/// temporary name in the same folder, which the next new file of the same name takes over.
///
/// It is used on one thread at a time.
package final class NewFile {
    /// The name that the file gets.
    package let path: String
    /// Where the file is until then; nil if it has no name.
    package private(set) var temporaryPath: String?
    private let folder: String
    private let descriptor: Int32
    /// The files that SQLite creates next to a database, as endings of its path.
    private static let companions = ["-wal", "-journal"]

    /// Creates an empty file, readable by its owner only.
    ///
    /// - Parameter isNamed: Whether the file needs a name already.
    /// - Throws: `fileExists`; `unavailable` if another process is writing a file of this name;
    ///   `storageFull`, `permissionDenied` or `storageFailed`.
    package init(at path: String, isNamed: Bool = false) throws(LarderError) {
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
            throw LarderError(
                .storageFailed,
                "the path of the new file is empty, ends with a slash or has a zero byte")
        }
        try NewFile.checkAbsence(of: path)
        let folder = NewFile.folder(of: path)
        self.path = path
        self.folder = folder
        if !isNamed, let unnamed = try NewFile.openUnnamed(in: folder, for: path) {
            descriptor = unnamed
            return
        }
        let temporary = NewFile.temporaryPath(of: path, in: folder)
        descriptor = try NewFile.openNamed(temporary, for: path)
        temporaryPath = temporary
    }

    deinit {
        if let temporaryPath { NewFile.remove(temporaryPath) }
        close(descriptor)
    }

    private static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/")
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    private static func temporaryPath(of path: String, in folder: String) -> String {
        var name = Checksum()
        let slash = path.lastIndex(of: "/")
        name.append(path[(slash.map { path.index(after: $0) } ?? path.startIndex)...].utf8)
        return "\(folder)/.larder-new-\(String(name.value, radix: 16))"
    }

    /// Removes the temporary file for this path that a killed process has left, if there is one.
    package static func removeAbandoned(at path: String) {
        try? removeAbandoned(temporaryPath(of: path, in: folder(of: path)), for: path)
    }

    /// - Throws: `fileExists` if there is anything at the path, a broken link included.
    package static func checkAbsence(of path: String) throws(LarderError) {
        var status = stat()
        if lstat(path, &status) == 0 { throw exists(path) }
    }

    // MARK: Opening

    /// O_TMPFILE, a macro that Swift does not import.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    /// - Returns: nil if the file has to have a name.
    private static func openUnnamed(
        in folder: String, for path: String
    ) throws(LarderError) -> Int32? {
        // The name is given by the link of the descriptor there.
        guard access("/proc/self/fd", F_OK) == 0 else { return nil }
        let descriptor = open(folder, unnamed | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        let reason = errno
        guard reason != EOPNOTSUPP, reason != EISDIR, reason != EINVAL else { return nil }
        throw failure(path, reason)
    }

    private static let attemptsMax = 3

    private static func openNamed(
        _ temporary: String, for path: String
    ) throws(LarderError) -> Int32 {
        for _ in 0..<attemptsMax {
            let created = open(
                temporary, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if created >= 0 {
                // Another process that finds the file before it is locked takes it for abandoned.
                if flock(created, LOCK_EX | LOCK_NB) == 0, isAt(temporary, created) {
                    return created
                }
                close(created)
                continue
            }
            guard errno == EEXIST else { throw failure(path, errno) }
            try removeAbandoned(temporary, for: path)
        }
        throw beingWritten(path)
    }

    /// Removes the file of a process that was killed.
    private static func removeAbandoned(
        _ temporary: String, for path: String
    ) throws(LarderError) {
        let found = open(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        var status = stat()
        if found >= 0 ? fstat(found, &status) == 0 : lstat(temporary, &status) == 0 {
            let type = FileType(mode: status.st_mode)
            guard type.isRegular else {
                if found >= 0 { close(found) }
                throw type.obstacle(at: temporary, insteadOf: "the beginning of \(path)")
            }
        }
        guard found >= 0 else {
            if errno == ENOENT { return }
            throw failure(temporary, errno)
        }
        defer { close(found) }
        guard flock(found, LOCK_EX | LOCK_NB) == 0 else { throw beingWritten(path) }
        if isAt(temporary, found) { remove(temporary) }
    }

    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var (named, open) = (stat(), stat())
        return lstat(path, &named) == 0 && fstat(descriptor, &open) == 0
            && named.st_dev == open.st_dev && named.st_ino == open.st_ino
    }

    private static func remove(_ temporary: String) {
        for companion in companions { unlink(temporary + companion) }
        unlink(temporary)
    }

    // MARK: Contents

    package func write(_ bytes: [UInt8], at offset: Int) throws(LarderError) {
        do throws(SystemError) {
            try FileOffsets.write(bytes, at: offset, to: descriptor)
        } catch {
            throw NewFile.failure(path, error.code)
        }
    }

    /// The bytes from an offset on: fewer than `count` at the end of the file.
    package func read(_ count: Int, at offset: Int) throws(LarderError) -> [UInt8] {
        try NewFile.read(count, at: offset, of: descriptor, path)
    }

    package static func read(
        _ count: Int, at offset: Int, of descriptor: Int32, _ path: String
    ) throws(LarderError) -> [UInt8] {
        do throws(SystemError) {
            return try FileOffsets.read(count, at: offset, of: descriptor)
        } catch {
            throw failure(path, error.code)
        }
    }

    /// Removes everything that was written.
    package func removeContents() throws(LarderError) {
        guard ftruncate(descriptor, 0) == 0 else { throw NewFile.failure(path, errno) }
    }

    /// Removes what follows the first bytes, or extends the file with zeros.
    package func truncate(to byteCount: Int) throws(LarderError) {
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
            throw NewFile.failure(path, errno)
        }
    }

    package func sync() throws(LarderError) {
        guard fsync(descriptor) == 0 else { throw NewFile.failure(path, errno) }
    }

    // MARK: The name

    /// Gives the file its name, and makes the name durable. The contents must have been synced.
    ///
    /// - Throws: `fileExists` if there is another file of this name by now, which stays as it is.
    package func publish() throws(LarderError) {
        let status =
            temporaryPath.map { larder_rename_new($0, path) }
            ?? linkat(
                AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
        guard status == 0 else {
            throw NewFile.failure(path, errno)
        }
        temporaryPath = nil
        do throws(LarderError) { try syncFolder() } catch {
            // A file that may be gone after a power failure is no backup.
            unlink(path)
            throw error
        }
    }

    private func syncFolder() throws(LarderError) {
        let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder with write but without read permission cannot be synced.
        guard opened >= 0 || errno != EACCES else { return }
        guard opened >= 0 else { throw NewFile.failure(path, errno) }
        defer { close(opened) }
        // Some file systems do not support this sync and return EINVAL.
        guard fsync(opened) == 0 || errno == EINVAL else { throw NewFile.failure(path, errno) }
    }

    // MARK: Errors

    private static func exists(_ path: String) -> LarderError {
        LarderError(
            .fileExists, "\(path) exists already", hint: "choose another path, or remove the file")
    }

    private static func beingWritten(_ path: String) -> LarderError {
        LarderError(
            .unavailable, "another process is writing \(path)", hint: "wait until it has ended")
    }

    package static func failure(_ path: String, _ reason: Int32) -> LarderError {
        switch reason {
        case EEXIST: exists(path)
        case ENOSPC, EDQUOT, EFBIG:
            LarderError(
                .storageFull, "there is no room for \(path)",
                hint: "free disk space, or choose another folder")
        case ENOENT, ENOTDIR:
            LarderError(
                .storageFailed, "the folder of \(path) does not exist",
                hint: "create the folder first")
        case EACCES, EPERM: FileRights.denied(path, "written")
        case EROFS: LarderError(.readOnly, "\(path) is on a file system that cannot be written")
        default:
            LarderError(
                .storageFailed,
                "\(path) cannot be read or written (\(SystemError(code: reason).text))")
        }
    }
}
