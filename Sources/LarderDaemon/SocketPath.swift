import Glibc
import LarderModel

/// The path at which the server listens: the one given with `--socket`, or a default path.
enum SocketPath {
    /// - Throws: ``UsageError`` if no option and no environment variable leads to a path.
    static func path(for options: DaemonCommand) throws -> String {
        if let socket = options.socket { return socket }
        guard let directory else {
            throw UsageError(
                message: "no runtime directory for the socket; pass --socket PATH")
        }
        return "\(directory)/\(baseName(of: options.store)).sock"
    }

    private static var directory: String? {
        // systemd sets RUNTIME_DIRECTORY to one directory, or to a list separated by colons.
        if let given = variable("RUNTIME_DIRECTORY") {
            return given.split(separator: ":").first.map(String.init)
        }
        if let given = variable("XDG_RUNTIME_DIR") { return "\(given)/larder" }
        return geteuid() == 0 ? "/run/larder" : nil
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else {
            return nil
        }
        return value
    }

    /// The store's file name without directories and extension.
    private static func baseName(of store: String?) -> String {
        guard let file = store?.split(separator: "/").last else { return "memory" }
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return String(file) }
        return String(file[..<dot])
    }
}
