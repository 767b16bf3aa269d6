import Glibc
import LarderModel
import Synchronization
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Accepting connections")
    struct AcceptorTests {
        /// A bound socket in the abstract name space, and its address.
        private static func bound() throws -> (descriptor: Int32, address: sockaddr_un) {
            let descriptor = try UnixSocket.make(SOCK_STREAM)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var length = socklen_t(MemoryLayout<sa_family_t>.size)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    // The kernel chooses a name.
                    try #require(bind(descriptor, generic, length) == 0)
                    length = socklen_t(MemoryLayout<sockaddr_un>.size)
                    try #require(getsockname(descriptor, generic, &length) == 0)
                }
            }
            return (descriptor, address)
        }

        private static let nameLength = socklen_t(MemoryLayout<sa_family_t>.size + 6)

        /// Connects without waiting for the server.
        ///
        /// - Returns: false if nobody listens at the address.
        private static func connect(_ client: Int32, to address: sockaddr_un) -> Bool {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(client, $0, nameLength) == 0
                }
            }
        }

        @Test("each connection is accepted once, and none after the end")
        func accepting() throws {
            let (descriptor, address) = try Self.bound()
            let accepted = Mutex<[Int32]>([])
            let acceptor = try Acceptor(descriptor, logger: .silent) { socket in
                accepted.withLock { $0.append(socket) }
            }
            let clients = try (0..<300).map { _ in try UnixSocket.make(SOCK_STREAM) }
            for client in clients { #expect(Self.connect(client, to: address)) }
            #expect(eventually { accepted.withLock { $0.count } == clients.count })
            let hasEnded = Mutex(false)
            acceptor.close { hasEnded.withLock { $0 = true } }
            #expect(eventually { hasEnded.withLock { $0 } })
            let late = try UnixSocket.make(SOCK_STREAM)
            #expect(!Self.connect(late, to: address))
            #expect(accepted.withLock { $0.count } == clients.count)
            for socket in accepted.withLock({ $0 }) + clients + [late] { close(socket) }
        }

        // In a process of its own, because other tests need descriptors.
        @Test("without descriptors connections wait, and are accepted when there are some again")
        func shortage() async {
            await #expect(processExitsWith: .success) { try Self.acceptAfterShortage() }
        }

        private static func acceptAfterShortage() throws {
            let (descriptor, address) = try Self.bound()
            let accepted = Mutex(0)
            let log = RecordedLog()
            let acceptor = try Acceptor(descriptor, logger: log.logger) { _ in
                accepted.withLock { $0 += 1 }
            }
            let client = try UnixSocket.make(SOCK_STREAM)
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            try #require(getrlimit(resource, &limit) == 0)
            // The next descriptor is the lowest that is free.
            let next = dup(client)
            close(next)
            var none = limit
            none.rlim_cur = rlim_t(next)
            try #require(setrlimit(resource, &none) == 0)
            #expect(Self.connect(client, to: address))
            #expect(eventually { log.messages.count == 1 })
            // It is tried again, which is not a warning.
            #expect(eventually { log.details.count >= 2 })
            #expect(accepted.withLock { $0 } == 0)
            try #require(setrlimit(resource, &limit) == 0)
            #expect(eventually { accepted.withLock { $0 } == 1 })
            #expect(
                log.messages == ["cannot accept connections now: Too many open files"])
            acceptor.close {}
        }

        @Test("a descriptor that is no socket is an error, and is closed")
        func noSocket() throws {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            #expect(throws: SystemError(code: ENOTSOCK)) {
                try Acceptor(ends[0], logger: .silent) { _ in }
            }
            #expect(fcntl(ends[0], F_GETFD) == -1)
            close(ends[1])
        }
    }
}
