import FoundationEssentials
import Glibc
import LarderModel

/// The socket of a server that listens at its default path, for a command without `--socket`,
/// `--store` and `LARDER_SOCKET`.
///
/// The default path of `larderd` has the name of its store. So the socket is determined only if the
/// folder contains one.
enum DefaultSocket {
    /// - Throws: A usage error if there are several sockets.
    static func path() throws -> String? {
        for folder in folders {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let paths = names.filter { $0.hasSuffix(".sock") }.sorted().map { "\(folder)/\($0)" }
            guard paths.count > 1 else {
                if let path = paths.first { return path }
                continue
            }
            throw UsageFailure(
                message: "\(folder) contains the sockets of \(paths.count) servers",
                hint: "pass one of them: --socket \(paths[0])")
        }
        return nil
    }

    /// The folders in which `larderd` creates sockets, by the rules of `docs/protocol.md`.
    private static var folders: [String] {
        let own = Environment.value("XDG_RUNTIME_DIR").map { "\($0)/larder" }
        return [own, "/run/larder"].compactMap { $0 }.filter { $0.hasPrefix("/") }
    }
}
