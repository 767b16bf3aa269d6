import Glibc
import LarderModel
import Logging
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Notifying the service manager")
    struct NotificationTests {
        /// The socket of a service manager, at a path or with an abstract name.
        private struct Manager {
            let descriptor: Int32

            init(_ path: String) throws {
                descriptor = try UnixSocket.make(SOCK_DGRAM)
                try UnixSocket.bind(descriptor, to: path)
                _ = fcntl(descriptor, F_SETFL, 0)
                var time = timeval(tv_sec: 300, tv_usec: 0)
                let length = socklen_t(MemoryLayout<timeval>.size)
                setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length)
            }

            func next() -> String {
                var bytes = [UInt8](repeating: 0, count: 1_000)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            }
        }

        private func notification(_ environment: [String: String]) -> Notification {
            Notification(environment: environment, processIdentifier: 42)
        }

        @Test("each state is one datagram to the service manager, at a path or an abstract name")
        func states() throws {
            let folder = try Folder()
            let path = "\(folder.path)/notify"
            let abstract = "\(path).abstract"
            for (address, name) in [(path, path), ("\0\(abstract)", "@\(abstract)")] {
                let manager = try Manager(address)
                let notification = notification(["NOTIFY_SOCKET": name])
                notification.ready(status: "serving\nat last")
                #expect(manager.next() == "READY=1\nSTATUS=serving at last")
                notification.alive()
                #expect(manager.next() == "WATCHDOG=1")
                notification.extendTime(by: .milliseconds(1_500))
                #expect(manager.next() == "EXTEND_TIMEOUT_USEC=1500000")
                notification.stopping()
                #expect(manager.next() == "STOPPING=1\nSTATUS=stopping")
                close(manager.descriptor)
            }
        }

        @Test("a missing or unreachable service manager is ignored")
        func noManager() {
            notification([:]).ready(status: "")
            notification(["NOTIFY_SOCKET": "/nowhere/at/all"]).alive()
            notification(["NOTIFY_SOCKET": "relative"]).alive()
            notification(["NOTIFY_SOCKET": ""]).alive()
        }

        @Test("the watchdog interval is valid only for the process that it names")
        func watchdog() {
            let interval = notification(["WATCHDOG_USEC": "2000000"]).watchdogInterval
            #expect(interval == .seconds(2))
            let other = ["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "43"]
            #expect(notification(other).watchdogInterval == nil)
            for text in ["0", "-5", "soon"] {
                #expect(notification(["WATCHDOG_USEC": text]).watchdogInterval == nil)
            }
        }

        @Test("a server notifies its service manager that it is ready, alive and stopping")
        func serving() async throws {
            let folder = try Folder()
            let manager = try Manager("\(folder.path)/notify")
            let notification = notification([
                "NOTIFY_SOCKET": "\(folder.path)/notify", "WATCHDOG_USEC": "20000",
            ])
            let path = "\(folder.path)/socket"
            let server = try Server(
                backend: FakeStore(),
                listeningSockets: [ListeningSocket(path: path)], notification: notification,
                logger: .silent)
            let running = Task { try await server.run() }
            var state = ""
            while !state.contains("READY=1") { state = manager.next() }
            #expect(state.contains(path))
            while state != "WATCHDOG=1" { state = manager.next() }
            let peer = try Peer(connectingTo: path)
            guard case .welcome? = try peer.shakeHands() else {
                Issue.record("no welcome")
                return
            }
            running.cancel()
            while !state.contains("STOPPING=1") { state = manager.next() }
            #expect(try peer.receiveUntilClosed() == [.unavailable])
            try await running.value
            #expect(!folder.contains("socket"))
            close(manager.descriptor)
        }

        @Test("a check of the watchdog that does not end is a line of the log")
        func hanging() async throws {
            let folder = try Folder()
            let manager = try Manager("\(folder.path)/notify")
            let (log, gate) = (RecordedLog(), Gate())
            let path = "\(folder.path)/socket"
            let server = try Server(
                backend: FakeStore(.init(writes: gate)),
                listeningSockets: [ListeningSocket(path: path)],
                notification: notification([
                    "NOTIFY_SOCKET": "\(folder.path)/notify", "WATCHDOG_USEC": "200000",
                ]), logger: log.logger)
            let running = Task { try await server.run() }
            while manager.next() != "WATCHDOG=1" {}
            #expect(log.messages.count == 1)
            let peer = try Peer(connectingTo: path)
            _ = try peer.shakeHands()
            try peer.send(.insert(1))
            gate.waitForArrival()
            #expect(
                eventually {
                    log.messages.dropFirst() == [
                        "the server does not work: an event loop, the writer or the disk hangs"
                    ]
                })
            gate.open()
            #expect(try peer.receive()?.reply.errorCode == nil)
            running.cancel()
            try await running.value
        }
    }
}
