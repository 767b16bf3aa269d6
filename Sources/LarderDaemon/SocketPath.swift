import Glibc
import LarderModel

/// A path at which the server listens: one given with `--socket`, or a default path.
struct SocketPath: Hashable {
    let path: String
    /// The role of everybody who connects there; nil if the policy decides.
    let role: String?

    /// - Throws: ``UsageError`` if no option and no environment variable leads to a path, or a path
    ///   is given twice.
    static func paths(for options: DaemonCommand) throws -> [SocketPath] {
        let given = options.socket.map(SocketPath.init)
        for (index, socket) in given.enumerated()
        where given[..<index].contains(where: { $0.path == socket.path }) {
            throw UsageError(message: "--socket \(socket.path) is given twice")
        }
        if !given.isEmpty { return given }
        guard let directory else {
            throw UsageError(
                message: "no runtime directory for the socket; pass --socket PATH")
        }
        return [SocketPath("\(directory)/\(options.location.name).sock")]
    }

    /// - Parameter text: A path, and perhaps a colon and the name of a role, which has no slash.
    private init(_ text: String) {
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("/"),
            text.index(after: colon) < text.endIndex
        {
            path = String(text[..<colon])
            role = String(text[text.index(after: colon)...])
        } else {
            (path, role) = (text, nil)
        }
    }

    private static var directory: String? {
        if let given = ServiceFolder.first(of: "RUNTIME_DIRECTORY") { return given }
        if let given = ServiceFolder.path(of: "XDG_RUNTIME_DIR") { return "\(given)/larder" }
        return geteuid() == 0 ? "/run/larder" : nil
    }
}
