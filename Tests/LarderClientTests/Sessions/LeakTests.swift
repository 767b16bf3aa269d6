import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import TestSupport
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
        let before = try ProcessResources.now()
        for round in 0..<400 {
            let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
            _ = try await client.object(for: .item(1))
            let stream = try await client.stream(.fetch(Fetch("Item")))
            _ = try? await stream.next()
            await inThread { _ = try client.object(for: .item(2)) }
            if round.isMultiple(of: 2) { client.close() }
            _ = try? StoreClient.adopt(connectedSocket: open("/dev/null", O_RDONLY))
        }
        #expect(try before.leak(after: 400) == nil)
    }
}
