import Glibc
import LarderModel

/// Listening sockets that a service manager passes to this process, as systemd defines it:
/// `LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`, descriptors from 3.
package enum Activation {
    /// A descriptor that the environment announces, and its name.
    struct PassedDescriptor: Equatable {
        let descriptor: Int32
        let name: String
    }

    private static let firstDescriptor: Int32 = 3
    private static let socketsMax: Int32 = 64
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

    /// Takes the sockets once: it unsets the variables, so that no child process takes them again.
    ///
    /// - Returns: an empty list if this process was not activated by a socket.
    /// - Throws: `connectionFailed` if a descriptor is not a listening Unix stream socket.
    package static func takeListeningSockets() throws(LarderError) -> [ListeningSocket] {
        var environment: [String: String] = [:]
        for name in variables {
            environment[name] = getenv(name).map { String(cString: $0) }
        }
        let announced = try passedDescriptors(in: environment, processIdentifier: getpid())
        for name in variables { unsetenv(name) }
        var sockets: [ListeningSocket] = []
        for passed in announced {
            _ = fcntl(passed.descriptor, F_SETFD, FD_CLOEXEC)
            try check(passed.descriptor)
            sockets.append(
                ListeningSocket(inherited: passed.descriptor, name: passed.name))
        }
        return sockets
    }

    /// The descriptors that the environment announces for this process.
    static func passedDescriptors(
        in environment: [String: String], processIdentifier: Int32
    ) throws(LarderError) -> [PassedDescriptor] {
        guard let owner = environment["LISTEN_PID"].flatMap({ Int32($0) }),
            owner == processIdentifier, let text = environment["LISTEN_FDS"]
        else { return [] }
        guard let count = Int32(text), (0...socketsMax).contains(count) else {
            throw LarderError(
                .connectionFailed,
                "LISTEN_FDS must be a number from 0 to \(socketsMax)")
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "")
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        return (0..<count).map { index in
            let name = Int(index) < names.count ? names[Int(index)] : ""
            return PassedDescriptor(
                descriptor: firstDescriptor + index, name: name.isEmpty ? "unknown" : name)
        }
    }

    private static func check(_ descriptor: Int32) throws(LarderError) {
        guard UnixSocket.option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            UnixSocket.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            UnixSocket.option(SO_ACCEPTCONN, of: descriptor) == 1
        else {
            throw LarderError(
                .connectionFailed,
                "the inherited descriptor \(descriptor) is not a listening Unix stream socket",
                hint: "set ListenStream= to a path and Accept=no in the socket unit")
        }
    }
}
