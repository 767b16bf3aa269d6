import Glibc
import LarderModel

/// Where the server listens: as the options say, or by the custom of the system.
enum SocketPlace {
    static func path(for options: DaemonCommand) throws -> String {
        if let socket = options.socket { return socket }
        guard let directory = directory else {
            throw UsageError(
                message: "there is no runtime directory for the socket; give --socket PATH")
        }
        return "\(directory)/\(name(of: options.store)).sock"
    }

    private static var directory: String? {
        // A service manager makes a directory for the service, or several, and names them.
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

    /// The file's name without directories and ending.
    private static func name(of store: String?) -> String {
        guard let file = store?.split(separator: "/").last else { return "memory" }
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return String(file) }
        return String(file[..<dot])
    }
}
