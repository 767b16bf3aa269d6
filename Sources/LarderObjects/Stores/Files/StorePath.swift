internal import FoundationEssentials
internal import Glibc
package import LarderModel
internal import LarderServer

/// The paths of store files and of their sockets.
package enum StorePath {
    /// The default store of a program: `$XDG_DATA_HOME/PROGRAM/default.store`.
    package static func defaultStore(
        program: String = programName, file: String = "default.store",
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        // Relative paths are to be ignored, as the XDG base directory specification says.
        let data =
            absolute("XDG_DATA_HOME", environment) ?? "\(homeFolder(environment))/.local/share"
        return "\(data)/\(program)/\(file)"
    }

    /// Creates the folder of a store of this user, unless it is there.
    ///
    /// - Throws: `storageFailed`.
    package static func createFolder(of path: String) throws(LarderError) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw LarderError(.storageFailed, "the folder \(folder) cannot be created")
        }
    }

    /// The name of the running program's file.
    package static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"
    }

    private static func homeFolder(_ environment: [String: String]) -> String {
        absolute("HOME", environment) ?? FileManager.default.homeDirectoryForCurrentUser.path
    }

    /// An absolute path from the environment.
    private static func absolute(_ name: String, _ environment: [String: String]) -> String? {
        environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    // MARK: Files

    static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// - Throws: `permissionDenied` for a file of another user, unless the store is shared.
    static func checkUser(of path: String, _ options: StoreFileOptions) throws(LarderError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_uid != geteuid(), !options.isShared else {
            return
        }
        throw LarderError(
            .permissionDenied, "\(path) belongs to another user",
            hint: "let a larderd of that user serve it, and connect to its socket")
    }

    // MARK: Sockets

    /// Binds the socket of a store file: next to it, or in the runtime folder if that path is too
    /// long or its file system has no sockets. The caller has claimed the owner file.
    static func listeningSocket(
        for path: String, mode: UInt32
    ) throws(LarderError) -> ListeningSocket {
        do throws(LarderError) {
            return try ListeningSocket(lockedPath: path + ".socket", mode: mode)
        } catch {
            return try ListeningSocket(
                lockedPath: "\(try runtimeFolder())/\(shortName(of: path)).socket", mode: mode)
        }
    }

    /// A name that no other path has.
    private static func shortName(of path: String) -> String {
        var checksum = Checksum()
        checksum.append(Array(path.utf8))
        let digits = String(checksum.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A folder for sockets that only this user can write.
    private static func runtimeFolder() throws(LarderError) -> String {
        let folder =
            absolute("XDG_RUNTIME_DIR", ProcessInfo.processInfo.environment).map { "\($0)/larder" }
            ?? "/tmp/larder-\(geteuid())"
        let isMade = mkdir(folder, 0o700) == 0 || errno == EEXIST
        var status = stat()
        guard isMade, lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid(), status.st_mode & 0o022 == 0
        else {
            throw LarderError(
                .connectionFailed, "\(folder) is not a folder that only this user can write",
                hint: "set XDG_RUNTIME_DIR to such a folder")
        }
        return folder
    }
}
