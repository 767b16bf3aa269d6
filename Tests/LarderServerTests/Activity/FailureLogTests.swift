import LarderModel
import LarderWire
import NIOPosix
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("The log of the server's own failures")
    struct FailureLogTests {
        private func log(
            _ recorded: RecordedLog, adjust: (inout ServerLimits) -> Void = { _ in }
        ) -> FailureLog {
            var limits = ServerLimits()
            adjust(&limits)
            return FailureLog(
                logger: recorded.logger, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                limits: limits)
        }

        @Test("a failure that repeats is one line, and the next line has the number left out")
        func repetition() {
            let recorded = RecordedLog()
            let log = log(recorded) { $0.failureLineInterval = .milliseconds(50) }
            let failure = LarderError(.storageFull, "there is no room")
            for _ in 0..<3 { log.report(failure) }
            let message = "the storage failed: there is no room"
            #expect(eventually { recorded.messages.count == 2 })
            #expect(recorded.messages == [message, message])
            #expect(
                recorded.metadata == [
                    ["code": "STORAGE_FULL"], ["code": "STORAGE_FULL", "omitted": "2"],
                ])
            // After an interval without the failure, it is new again.
            #expect(eventually { log.isQuiet })
            log.report(failure)
            #expect(eventually { recorded.messages.count == 3 })
            #expect(recorded.metadata.last == ["code": "STORAGE_FULL"])
        }

        @Test("different failures, and those of different users, have lines of their own")
        func differentFailures() {
            let recorded = RecordedLog()
            let log = log(recorded)
            let refusal = LarderError(.resourceExhausted, "too many")
            for _ in 0..<2 {
                log.report(LarderError(.storageFailed, "the disk is gone"))
                log.report(LarderError(.storageFailed, "the store file is damaged"))
                log.report(refusal: refusal, of: 1)
                log.report(refusal: refusal, of: 2)
            }
            #expect(
                recorded.messages == [
                    "the storage failed: the disk is gone",
                    "the storage failed: the store file is damaged",
                    "connection refused: too many", "connection refused: too many",
                ])
            #expect(recorded.metadata.map { $0["uid"] } == [nil, nil, "1", "2"])
        }

        @Test("a client's own errors, and refusals while the server stops, are not logged")
        func otherErrors() {
            let recorded = RecordedLog()
            let log = log(recorded)
            for code in ErrorCode.allCases
            where ![.storageFailed, .storageFull, .notAStore].contains(code) {
                log.report(LarderError(code, "an error"))
            }
            log.report(refusal: ConnectionState.stopping, of: 1)
            #expect(recorded.messages.isEmpty)
        }

        @Test("failures beyond the maximum of an interval share one line")
        func manyFailures() {
            let recorded = RecordedLog()
            let log = log(recorded)
            for number in 0..<66 { log.report(LarderError(.storageFailed, "\(number)")) }
            #expect(recorded.messages.count == 65)
            #expect(recorded.messages[63] == "the storage failed: 63")
            #expect(
                recorded.messages[64]
                    == "there are more kinds of failures than are logged one by one")
        }

        @Test("an error of the storage that a request finds is a line of the server's log")
        func requests() async throws {
            let recorded = RecordedLog()
            try await RunningServer.run(logger: recorded.logger) { running in
                let peer = try running.ready()
                for _ in 0..<3 {
                    #expect(try peer.call(.fetch("fails"))?.errorCode == .storageFailed)
                }
                _ = try peer.call(.explain(QueryRequest(.fetch(Fetch("Nothing")))))
            }
            #expect(
                recorded.messages.filter { $0 != "stopped" }
                    == ["the storage failed: the disk is gone"])
        }

        @Test("a user who is refused is a line of the server's log")
        func refusedUser() async throws {
            let recorded = RecordedLog()
            try await RunningServer.run(logger: recorded.logger) {
                $0.connections = SharedLimit(10, userShare: 0.1)
            } _: { running in
                let first = try running.ready(as: 7)
                for _ in 0..<2 {
                    let refused = try running.connect(as: 7)
                    #expect(try refused.receiveUntilClosed() == [.resourceExhausted])
                }
                #expect(try first.call(.schema)?.errorCode == nil)
            }
            #expect(
                recorded.messages.filter { $0 != "stopped" } == [
                    "connection refused: user 7 has 1 connections, its share of the 10 that the "
                        + "server accepts"
                ])
            #expect(recorded.metadata[0] == ["code": "RESOURCE_EXHAUSTED", "uid": "7"])
        }
    }
}
