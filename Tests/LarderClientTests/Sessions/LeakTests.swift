import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Resources after clients are released")
struct LeakTests {
    @Test("hundreds of clients leak no descriptors and no threads")
    func descriptorsAndThreads() async throws {
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            // Every third connection is lost at its first request.
            if number.isMultiple(of: 3) {
                _ = peer.receive()
            } else {
                try peer.serve(batchCount: 20)
            }
        }
        defer { server.stop() }
        let before = try Usage.now()
        for round in 0..<400 {
            let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
            _ = try await client.object(for: .item(1))
            let stream = try await client.stream(.fetch(Fetch("Item")))
            _ = try? await stream.next()
            await inThread { _ = try client.object(for: .item(2)) }
            if round.isMultiple(of: 2) { client.close() }
            _ = try? StoreClient.adopt(connectedSocket: open("/dev/null", O_RDONLY))
        }
        // Other tests run at the same time and use some of their own; a leak would add hundreds.
        let after = try Usage.now()
        #expect(after.descriptors < before.descriptors + 150)
        #expect(after.threads < before.threads + 150)
    }
}

/// The numbers of descriptors and threads of this process.
private struct Usage {
    var descriptors: Int
    var threads: Int

    static func now() throws -> Usage {
        Usage(
            descriptors: try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
            threads: try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count)
    }
}
