import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Backups")
    struct BackupTests {
        /// The parts with content of a backup, and the last reply.
        private func receive(_ peer: Peer) throws -> (parts: [[UInt8]], last: Reply?) {
            var parts: [[UInt8]] = []
            while true {
                let reply = try peer.receive()?.reply
                guard case .backup(let part, more: true)? = reply else { return (parts, reply) }
                if !part.content.isEmpty { parts.append(part.content) }
            }
        }

        private func expectedFile(_ byteCount: Int) -> [UInt8] {
            let content = FakeCopy.content(0..<byteCount)
            var checksum = Checksum()
            checksum.append(content)
            return content + BackupTrailer.bytes(checksum)
        }

        private func options(
            _ adjust: (inout FakeStore.Options) -> Void
        ) -> FakeStore.Options {
            var options = FakeStore.Options()
            adjust(&options)
            return options
        }

        @Test("a backup is sent in parts, with a checksum and the last transaction at the end")
        func parts() async throws {
            let options = options { $0.copy.byteCount = 2_500 }
            try await RunningServer.run(options) { limits in
                limits.backupPartBytesMax = 1_000
            } _: { running in
                let peer = try running.ready()
                _ = try peer.call(.insert(1))
                try peer.send(.backup(credit: 0))
                let (parts, last) = try receive(peer)
                #expect(parts.map(\.count) == [1_000, 1_000, 500, 16])
                #expect(parts.flatMap { $0 } == expectedFile(2_500))
                #expect(
                    last == .backup(BackupPart(byteCount: 2_516, transaction: 1), more: false))
                try peer.wait(until: "backups", is: 0)
                #expect(running.store.records[\.copies] == 0)
            }
        }

        @Test("a backup of a store that is served read-only is made without the writer")
        func readOnly() async throws {
            try await RunningServer.run(options { $0.isReadOnly = true }) { running in
                let peer = try running.ready()
                try peer.send(.backup(credit: 0))
                #expect(try receive(peer).parts.flatMap { $0 } == expectedFile(1_000))
            }
        }

        @Test("a backup is sent as far as the client's credit allows")
        func credit() async throws {
            try await RunningServer.run { limits in
                limits.backupPartBytesMax = 100
            } _: { running in
                let peer = try running.ready()
                let id = try peer.send(.backup(credit: 2))
                for _ in 0..<2 {
                    guard case .backup(_, more: true)? = try peer.receive()?.reply else {
                        Issue.record("no part")
                        return
                    }
                }
                // The next reply is not a part, so the server waits.
                #expect(try peer.call(.ping) == .pong)
                try peer.send(.credit(requestID: id, batches: 100))
                #expect(try receive(peer).parts.count == 9)
            }
        }

        @Test("a backup is made step by step, with the writes that arrive before each step")
        func steps() async throws {
            let gate = Gate()
            let options = options {
                $0.copy.steps = gate
                $0.copy.stepCount = 4
            }
            try await RunningServer.run(options) { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                try peer.send(.backup(credit: 0))
                gate.waitForArrival()
                try writer.send(.insert(1))
                try peer.wait(until: "savesWaiting", is: 1)
                gate.open()
                // The save was executed after the first step, and not after the last.
                guard case .saved? = try writer.receive()?.reply else {
                    Issue.record("not saved")
                    return
                }
                _ = try receive(peer)
                #expect(running.store.records[\.copySteps] == [0, 1, 1, 1])
            }
        }

        @Test("a backup reports progress until the first part, within the credit")
        func progress() async throws {
            let gate = Gate()
            let options = options { $0.copy.verification = gate }
            try await RunningServer.run(options) { limits in
                limits.progressInterval = .milliseconds(1)
            } _: { running in
                let peer = try running.ready()
                let id = try peer.send(.backup(credit: 3))
                gate.waitForArrival()
                for _ in 0..<3 {
                    guard case .backup(let part, more: true)? = try peer.receive()?.reply else {
                        Issue.record("no progress")
                        return
                    }
                    #expect(part.content.isEmpty)
                }
                #expect(try peer.call(.ping) == .pong)
                gate.open()
                try peer.send(.credit(requestID: id, batches: 100_000))
                #expect(try receive(peer).parts.flatMap { $0 } == expectedFile(1_000))
            }
        }

        @Test("one backup above a user's maximum is refused until another has ended")
        func countMax() async throws {
            let gate = Gate()
            let options = options { $0.copy.verification = gate }
            try await RunningServer.run(options) { limits in
                limits.backups = SharedLimit(2, userShare: 0.5)
            } _: { running in
                let (peer, other) = (try running.ready(as: 1), try running.ready(as: 2))
                try peer.send(.backup(credit: 0))
                gate.waitForArrival()
                #expect(try other.metric("backups") == 1)
                guard case .activity(let activity)? = try other.call(.activity) else { return }
                #expect(activity.load.backupsRunning == 1)
                let second = try running.ready(as: 1)
                #expect(try second.call(.backup(credit: 0))?.errorCode == .resourceExhausted)
                try other.send(.backup(credit: 0))
                gate.open()
                for peer in [peer, other] {
                    #expect(try receive(peer).parts.flatMap { $0 } == expectedFile(1_000))
                }
                try peer.wait(until: "backups", is: 0)
                try second.send(.backup(credit: 0))
                #expect(try receive(second).parts.flatMap { $0 } == expectedFile(1_000))
            }
        }

        @Test("a cancelled backup, and one whose connection closes, releases everything")
        func cancellation() async throws {
            for closes in [false, true] {
                let gate = Gate()
                try await RunningServer.run(
                    options {
                        $0.copy.steps = gate
                        $0.copy.stepCount = .max
                    }
                ) { running in
                    let (peer, other) = (try running.ready(), try running.ready())
                    let id = try peer.send(.backup(credit: 0))
                    gate.waitForArrival()
                    if closes {
                        peer.close()
                    } else {
                        try peer.send(.cancel(requestID: id))
                        #expect(try peer.receive()?.reply.errorCode == .cancelled)
                    }
                    gate.open()
                    try other.wait(until: "backups", is: 0)
                    #expect(running.store.records[\.copies] == 0)
                    guard case .saved? = try other.call(.insert(1)) else {
                        Issue.record("not saved")
                        return
                    }
                }
            }
        }

        @Test("a backup that its client does not receive is released when the client leaves")
        func stalledClient() async throws {
            try await RunningServer.run { limits in
                limits.backupPartBytesMax = 100
            } _: { running in
                let (peer, other) = (try running.ready(), try running.ready())
                try peer.send(.backup(credit: 1))
                _ = try peer.receive()
                peer.close()
                try other.wait(until: "backups", is: 0)
                #expect(running.store.records[\.copies] == 0)
            }
        }

        @Test("a backup ends with the time of the client or of the server, whichever is shorter")
        func deadlines() async throws {
            for (client, server) in [(20, 60_000), (0, 20)] as [(UInt32, Int64)] {
                let options = options { $0.copy.stepCount = .max }
                try await RunningServer.run(options) { limits in
                    limits.backupTimeMax = .milliseconds(server)
                } _: { running in
                    let peer = try running.ready()
                    let reply = try peer.call(.backup(credit: 0), timeoutMilliseconds: client)
                    #expect(reply?.errorCode == .timeout)
                    try peer.wait(until: "backups", is: 0)
                }
            }
        }

        @Test("a backup fails with the error of a step or of its verification")
        func errors() async throws {
            let error = LarderError(.storageFailed, "damaged")
            for isStep in [true, false] {
                let options = options {
                    if isStep {
                        $0.copy.stepError = error
                    } else {
                        $0.copy.verificationError = error
                    }
                }
                try await RunningServer.run(options) { running in
                    let peer = try running.ready()
                    #expect(try peer.call(.backup(credit: 0)) == .failed(error))
                    try peer.wait(until: "backups", is: 0)
                }
            }
        }

        @Test("a backup without disk space for the copy is refused")
        func diskSpace() async throws {
            try await RunningServer.run(options { $0.copy.bytesLeft = 1 << 60 }) { running in
                let peer = try running.ready()
                #expect(try peer.call(.backup(credit: 0))?.errorCode == .storageFull)
                try peer.wait(until: "backups", is: 0)
            }
        }

        @Test("a backup ends when the server stops")
        func stop() async throws {
            let gate = Gate()
            let running = try RunningServer(options { $0.copy.verification = gate })
            let peer = try running.ready()
            try peer.send(.backup(credit: 0))
            gate.waitForArrival()
            async let stopped: Void = running.server.stop()
            #expect(try peer.receiveUntilClosed().first == .unavailable)
            gate.open()
            await stopped
            #expect(running.store.records[\.copies] == 0)
        }

        @Test("a backup in a snapshot is refused")
        func snapshot() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.openSnapshot)
                _ = try peer.receive()
                let reply = try peer.call(.backup(credit: 0), in: id)
                #expect(reply?.errorCode == .malformedMessage)
            }
        }
    }
}
