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
package final class OwnerFile: Sendable {
    /// What the file says.
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
            let descriptor = open(OwnerFile.path(of: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
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
    ///   `permissionDenied`, `storageFailed` or `storageFull` if there can be no file.
    package init(claiming storePath: String, isAnnounced: Bool = true) throws(LarderError) {
        let storePath = try Self.canonical(storePath)
        self.storePath = storePath
        self.isAnnounced = isAnnounced
        let path = Self.path(of: storePath)
        for _ in 0..<Self.attemptsMax {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
            guard descriptor >= 0 else { throw Self.failure(path, errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                defer { close(descriptor) }
                throw Self.inUse(storePath, Record(readingFrom: descriptor))
            }
            // The former owner may have removed the file before it was locked.
            if let locked = Self.inode(of: descriptor), locked == Self.inode(at: path) {
                self.descriptor = descriptor
                withdraw()
                return
            }
            close(descriptor)
        }
        throw Self.inUse(storePath, nil)
    }

    deinit { release() }

    /// The same for a program that does not need to be found, and so accepts that there can be no
    /// file. The error of opening the store then says why.
    ///
    /// - Throws: `storeInUse`.
    package static func claimIfPossible(
        _ storePath: String, isAnnounced: Bool = true
    ) throws(LarderError) -> OwnerFile? {
        do throws(LarderError) {
            return try OwnerFile(claiming: storePath, isAnnounced: isAnnounced)
        } catch {
            guard error.code != .storeInUse else { throw error }
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
