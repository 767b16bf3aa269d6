import LarderModel
import LarderWire
import Logging
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Stopping a server")
    struct StopTests {
        @Test("a stop completes accepted requests, and refuses later ones unexecuted")
        func accepted() async throws {
            let gate = Gate()
            let running = try RunningServer(.init(writes: gate))
            let peer = try running.ready()
            try peer.send(.insert(1))
            gate.waitForArrival()
            try peer.send(.insert(2))
            #expect(try peer.call(.schema)?.errorCode == nil)
            async let stopped: Void = running.server.stop()
            while try peer.call(.schema)?.errorCode == nil {}
            #expect(try peer.call(.insert(3))?.errorCode == .unavailable)
            gate.open()
            for _ in 0..<2 { #expect(try peer.receive()?.reply.errorCode == nil) }
            let closing = try #require(try peer.receive())
            #expect(closing.id == 0 && closing.reply.errorCode == .unavailable)
            #expect(try peer.receive() == nil)
            await stopped
            #expect(running.store.records[\.numbers].count == 2)
            #expect(running.store.records[\.writerIsClosed])
            #expect(running.store.records[\.readersOpen] == 0)
        }

        @Test("a stop sends the closing error to idle connections and closes them at once")
        func idle() async throws {
            let running = try RunningServer()
            let (ready, new) = (try running.ready(), try running.connect())
            await running.server.stop()
            #expect(try ready.receiveUntilClosed() == [.unavailable])
            #expect(try new.receiveUntilClosed() == [.unavailable])
            await running.server.stop()
        }

        @Test("a stop waits for a connection no longer than its maximum")
        func stopTime() async throws {
            let running = try RunningServer { $0.stopTimeMax = .milliseconds(20) }
            let peer = try running.ready()
            #expect(try peer.call(.fetch("rows 1000000", credit: 1))?.hasMore == true)
            await running.server.stop()
            #expect(try peer.receive() == nil)
            #expect(running.store.records[\.cursorsOpen] == 0)
        }

        @Test("an idle server stops after its idle time")
        func idleExit() async throws {
            let store = try FakeStore()
            var options = Server.Options(name: "test")
            options.idleTimeMax = .milliseconds(10)
            let server = try Server(
                backend: store, options: options,
                logger: .silent)
            try await server.run()
            #expect(store.records[\.writerIsClosed])
        }

        @Test("a synchronous caller can stop a server")
        func blocking() throws {
            let running = try RunningServer()
            let peer = try running.ready()
            #expect(try peer.call(.insert(1))?.errorCode == nil)
            running.server.stopAndWait()
            #expect(running.store.records[\.writerIsClosed])
        }
    }
}
