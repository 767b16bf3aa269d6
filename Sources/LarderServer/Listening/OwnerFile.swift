import FoundationEssentials
import Glibc
import LarderModel
import Synchronization

/// The file next to a store, with `.owner` appended to its name, that says where the process which
/// serves the store listens.
///
/// The process holds a lock of the file as long as it serves the store, besides SQLite's lock of
/// the store itself: that one is lost if the process opens and closes the store's file by other
/// means, for example to copy it. The file is removed when the server stops. A killed process
/// leaves it, and the next one takes it over.
///
/// Only an owner can hold that lock: it is a write lock, for which the file has to be open for
/// writing, and only the user of the store may do that. Others may read the file if they may
/// connect to the socket; a read lock, which they could take after the owner was killed, is no
/// owner's, and the file is replaced.
package final class OwnerFile: Sendable {
    /// The contents of the file.
    package struct Record: Hashable, Sendable {
        package var socketPath: String
        /// The identifier of the store.
        package var store: UUID
        /// The inode of the store's file. A store that replaced the file has no owner.
        package var inode: UInt64
        package var processIdentifier: Int32

        package init(
            socketPath: String, store: UUID, inode: UInt64, processIdentifier: Int32
        ) {
            self.socketPath = socketPath
            self.store = store
            self.inode = inode
            self.processIdentifier = processIdentifier
        }

        private static let title = "larder-owner 1"
        private static let bytesMax = 8 << 10

        var text: String {
            """
            \(Self.title)
            process \(processIdentifier)
            store \(store.uuidString)
            inode \(inode)
            socket \(socketPath)

            """
        }

        /// - Returns: nil if the text is not complete.
        init?(_ text: String) {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.count >= 6, lines[0] == Self.title else { return nil }
            func value(_ index: Int, _ name: String) -> String? {
                lines[index].hasPrefix(name + " ")
                    ? String(lines[index].dropFirst(name.count + 1)) : nil
            }
            guard let process = value(1, "process").flatMap({ Int32($0) }),
                let store = value(2, "store").flatMap({ UUID(uuidString: $0) }),
                let inode = value(3, "inode").flatMap({ UInt64($0) }),
                let socket = value(4, "socket")
            else { return nil }
            self.init(
                socketPath: socket, store: store, inode: inode, processIdentifier: process)
        }

        /// The record of the process that serves a store, as far as there is one.
        package init?(ofStoreAt path: String) {
            // The open of a named pipe would wait for a writer.
            let descriptor = open(
                OwnerFile.path(of: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            self.init(readingFrom: descriptor)
        }

        init?(readingFrom descriptor: Int32) {
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.bytesMax) { buffer, count in
                count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
            }
            self.init(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The path of the file for a store.
    package static func path(of store: String) -> String { store + ".owner" }

    private let storePath: String
    private let isAnnounced: Bool
    /// Open as long as the file is claimed, because it holds the lock.
    private let descriptor: Int32
    private let isReleased = Atomic(false)
    private static let attemptsMax = 16

    /// - Parameters:
    ///   - storePath: The store's file, which may be missing.
    ///   - isAnnounced: Whether other processes can find the server.
    /// - Throws: `storeInUse` if another process, or this one, serves the store;
    ///   `permissionDenied`, `storageFailed` or `storageFull` if there can be no file, or if there
    ///   is one of another user or of another type.
    package init(claiming storePath: String, isAnnounced: Bool = true) throws(LarderError) {
        let storePath = try Self.canonical(storePath)
        self.storePath = storePath
        self.isAnnounced = isAnnounced
        let path = Self.path(of: storePath)
        for _ in 0..<Self.attemptsMax {
            let descriptor = try Self.openFile(path)
            // The former owner may have removed the file before it was locked.
            let isCurrent = Self.inode(of: descriptor) == Self.inode(at: path)
            switch OwnerLock.take(descriptor) {
            case .taken where isCurrent:
                self.descriptor = descriptor
                withdraw()
                return
            case .taken: break
            case .blocked: if isCurrent { unlink(path) }
            case .held:
                defer { close(descriptor) }
                throw Self.inUse(storePath, Record(readingFrom: descriptor))
            }
            close(descriptor)
        }
        throw Self.inUse(storePath, nil)
    }

    /// Opens the file, or creates it, readable by its user only.
    private static func openFile(_ path: String) throws(LarderError) -> Int32 {
        let descriptor = open(
            path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        var status = stat()
        guard descriptor >= 0 else {
            let reason = errno
            guard lstat(path, &status) == 0 else { throw failure(path, reason) }
            throw refusal(path, status) ?? failure(path, reason)
        }
        guard fstat(descriptor, &status) == 0, let refusal = refusal(path, status) else {
            return descriptor
        }
        close(descriptor)
        throw refusal
    }

    /// The error for a file that no owner of this user has left; nil for one that may be used.
    private static func refusal(_ path: String, _ status: stat) -> LarderError? {
        let type = FileType(mode: status.st_mode)
        guard type.isRegular else {
            return type.obstacle(at: path, insteadOf: "the file that names the store's server")
        }
        // Another name may be that of any file, whose contents would be lost.
        guard status.st_nlink <= 1 else {
            return LarderError(
                .storageFailed, "\(path) has another name (a hard link)",
                hint: "remove \(path); it has no data of the store")
        }
        guard status.st_uid != geteuid(), geteuid() != 0 else { return nil }
        return LarderError(
            .permissionDenied, "\(path) belongs to user \(status.st_uid)",
            hint: "if no process of that user serves the store, remove \(path); it has no data of "
                + "the store")
    }

    deinit { release() }

    /// The form for a program that need not be found, and so accepts that it may create no
    /// file. The error of opening the store then says why.
    ///
    /// - Throws: `storeInUse`, and `storageFailed` if the name is taken by something else.
    package static func claimIfPossible(
        _ storePath: String, isAnnounced: Bool = true
    ) throws(LarderError) -> OwnerFile? {
        do throws(LarderError) {
            return try OwnerFile(claiming: storePath, isAnnounced: isAnnounced)
        } catch {
            var status = stat()
            let isThere = lstat(Self.path(of: storePath), &status) == 0
            guard error.code != .storeInUse, !isThere || error.code == .permissionDenied else {
                throw error
            }
            return nil
        }
    }

    /// Lets other processes find the server.
    func announce(socket: String, store: UUID) {
        guard isAnnounced else { return }
        let absolute = socket.hasPrefix("/") ? socket : Self.workingFolder + "/" + socket
        let record = Record(
            socketPath: absolute, store: store, inode: Self.inode(at: storePath) ?? 0,
            processIdentifier: getpid())
        let bytes = Array(record.text.utf8)
        // Who may connect may find the server.
        var status = stat()
        if stat(absolute, &status) == 0 {
            fchmod(descriptor, 0o600 | (status.st_mode & 0o022) << 1)
        }
        // A file without a complete text means that there is no server yet.
        _ = pwrite(descriptor, bytes, bytes.count, 0)
    }

    /// Lets no other process find the server any more.
    func withdraw() { _ = ftruncate(descriptor, 0) }

    /// Removes the file, after the store is closed.
    package func release() {
        if isReleased.exchange(true, ordering: .relaxed) { return }
        unlink(Self.path(of: storePath))
        close(descriptor)
    }

    /// The absolute path of a file without symbolic links. The file may be missing.
    ///
    /// - Throws: `storageFailed` or `permissionDenied` if its folder cannot be found.
    package static func canonical(_ path: String) throws(LarderError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw LarderError(.storageFailed, "the path of the store is empty or has a zero byte")
        }
        if let real = realPath(path) { return real }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let real = realPath(folder), !name.isEmpty, !path.hasSuffix("/") else {
            throw LarderError(
                errno == EACCES ? .permissionDenied : .storageFailed,
                "the folder of \(path) cannot be found: \(SystemError(code: errno).text)",
                hint: "create the folder first")
        }
        return real == "/" ? "/\(name)" : "\(real)/\(name)"
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// The inode of the file at a path, following symbolic links; nil if there is none.
    package static func inode(at path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private static func inode(of descriptor: Int32) -> UInt64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private static var workingFolder: String {
        FileManager.default.currentDirectoryPath
    }

    private static func inUse(_ path: String, _ record: Record?) -> LarderError {
        let holder = record.map { description(of: $0.processIdentifier) } ?? "another process"
        return LarderError(
            .storeInUse, "\(path) is held by \(holder)",
            hint: "connect to that process, or stop it first")
    }

    /// `larderd (process 1234)`.
    private static func description(of process: Int32) -> String {
        let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))?
            .split(separator: "\n").first
        return name.map { "\($0) (process \(process))" } ?? "process \(process)"
    }

    private static func failure(_ path: String, _ reason: Int32) -> LarderError {
        switch reason {
        case ENOENT, ENOTDIR:
            LarderError(
                .storageFailed, "the folder of \(path) does not exist",
                hint: "create the folder first")
        case EACCES, EPERM, EROFS, ELOOP:
            LarderError(
                .permissionDenied, "\(path) cannot be created: \(SystemError(code: reason).text)",
                hint: "a store needs a folder in which its user may create files")
        case ENOSPC, EDQUOT:
            LarderError(.storageFull, "there is no space for \(path)")
        default:
            LarderError(
                .storageFailed, "\(path) cannot be opened: \(SystemError(code: reason).text)")
        }
    }
}
