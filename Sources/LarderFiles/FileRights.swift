import Glibc
package import LarderModel

/// Why this process may not open or create a file.
package enum FileRights {
    /// That a file may not be opened or created, with the reason.
    ///
    /// - Parameter verb: What may not be done: `opened` or `written`.
    package static func denied(_ path: String, _ verb: String) -> LarderError {
        LarderError(.permissionDenied, "\(path) may not be \(verb)\(reason(path))")
    }

    /// `: it belongs to user 0 and has the mode 600`, of the file or its folder; empty if the
    /// permissions of both suffice.
    package static func reason(_ path: String) -> String {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if !permits(folder, X_OK) { return owner(of: folder, "the folder \(folder)") }
        if permits(path, F_OK), !permits(path, R_OK | W_OK) { return owner(of: path, "it") }
        if !permits(folder, W_OK) { return owner(of: folder, "the folder \(folder)") }
        return ""
    }

    private static func permits(_ path: String, _ rights: Int32) -> Bool {
        faccessat(AT_FDCWD, path, rights, AT_EACCESS) == 0
    }

    private static func owner(of path: String, _ name: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return ": \(name) is not accessible" }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return ": \(name) belongs to user \(status.st_uid) and has the mode \(mode), and this is "
            + "user \(geteuid())"
    }
}
