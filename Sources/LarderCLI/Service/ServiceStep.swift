import Glibc
import LarderModel

/// A step of creating or removing a service.
enum ServiceStep: Equatable {
    /// Creates a folder, and its missing parents; one that exists stays as it is.
    case makeFolder(String, permissions: mode_t)
    /// Writes a new file, which everybody may read and only its owner may change.
    case write(String, to: String)
    /// Gives a store file to the owner of its folder.
    case giveToOwner(of: String, file: String)
    /// Removes a file; a missing one is no error.
    case remove(String)
    /// Removes a folder if it is empty.
    case removeEmptyFolder(String)
    /// Runs a command.
    case run([String])
    /// Runs a command that may fail.
    case attempt([String])

    /// The line of `--dry-run`: the kind of the step, and its object.
    var description: (kind: String, object: String) {
        switch self {
        case .makeFolder(let path, _): ("create folder", path)
        case .write(_, let path): ("write", path)
        case .giveToOwner(let folder, let file): ("give to the owner of \(folder)", file)
        case .remove(let path): ("remove", path)
        case .removeEmptyFolder(let path): ("remove if empty", path)
        case .run(let command), .attempt(let command):
            ("run", command.joined(separator: " "))
        }
    }

    /// - Returns: The steps that undo it, in their order.
    func perform() throws(LarderError) -> [ServiceStep] {
        switch self {
        case .makeFolder(let path, let permissions):
            return try Self.makeFolder(path, permissions).map { .removeEmptyFolder($0) }
        case .write(let text, let path):
            try NewFile.write(text, to: path, permissions: 0o644)
            return [.remove(path)]
        case .giveToOwner(let folder, let file): try Self.give(file, toOwnerOf: folder)
        case .remove(let path):
            guard unlink(path) == 0 || errno == ENOENT else {
                throw Self.failure("cannot remove \(path)")
            }
        case .removeEmptyFolder(let path):
            guard rmdir(path) == 0 || [ENOENT, ENOTEMPTY, EEXIST].contains(errno) else {
                throw Self.failure("cannot remove \(path)")
            }
        case .run(let command): try Systemctl.run(command)
        case .attempt(let command): try? Systemctl.run(command)
        }
        return []
    }

    /// - Returns: The folders that did not exist, the innermost first.
    private static func makeFolder(
        _ path: String, _ permissions: mode_t
    ) throws(LarderError) -> [String] {
        if mkdir(path, permissions) == 0 {
            // The umask may have removed permissions.
            guard chmod(path, permissions) == 0 else { throw failure("cannot create \(path)") }
            return [path]
        }
        switch errno {
        case EEXIST: return []
        case ENOENT:
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw failure("cannot create \(path)")
            }
            let parents = try makeFolder(String(path[..<slash]), 0o755)
            return try makeFolder(path, permissions) + parents
        default: throw failure("cannot create \(path)")
        }
    }

    /// The user of the service may replace files in the folder, so that the file is opened, and a
    /// link to another one is not followed.
    private static func give(_ file: String, toOwnerOf folder: String) throws(LarderError) {
        var owner = stat()
        var status = stat()
        guard stat(folder, &owner) == 0 else { throw failure("cannot find \(folder)") }
        let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open \(file)") }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot read \(file)") }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw LarderError(.storageFailed, "\(file) is not a store file with one name")
        }
        guard fchown(descriptor, owner.st_uid, owner.st_gid) == 0 else {
            throw failure("cannot give \(file) to its service")
        }
    }

    private static func failure(_ message: String) -> LarderError {
        let reason = SystemError(code: errno)
        let isDenied = [EACCES, EPERM, EROFS].contains(reason.code)
        return LarderError(
            isDenied ? .permissionDenied : .storageFailed, "\(message): \(reason.text)")
    }
}
