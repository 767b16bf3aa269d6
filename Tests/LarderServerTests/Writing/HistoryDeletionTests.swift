import FoundationEssentials
import LarderModel
import LarderWire
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LarderServer

@Suite("A deletion from the history, step by step")
struct HistoryDeletionTests {
    private final class Replies: Sendable {
        let list = Mutex<[Result<Int64, LarderError>]>([])
        var last: Result<Int64, LarderError>? { list.withLock { $0.last } }
    }

    private let replies = Replies()

    private func deletion(_ deletion: HistoryDeletion, user: UInt32 = 1) -> WriteQueue.Deletion {
        let replies = replies
        return WriteQueue.Deletion(deletion, for: user, deadline: .distantFuture) { reply in
            replies.list.withLock { $0.append(reply) }
        }
    }

    /// A store with this number of transactions.
    private func store(_ count: Int, _ options: FakeStore.Options = .init()) throws -> FakeStore {
        let store = try FakeStore(options)
        store.records.state.withLock { state in
            for key in 0..<Int64(count) {
                _ = state.history.append(store.storeDescription.identifier, key + 1...key + 1)
            }
        }
        return store
    }

    @Test("each step of a deletion from the history deletes some, and the last returns the number")
    func steps() throws {
        let store = try store(10)
        let writer = try store.makeWriter()
        let deletion = deletion(.keeping(2))
        var left: [Int] = []
        var results: [Int64?] = []
        while results.last != .some(8) {
            results.append(try deletion.step(of: writer, rowsMax: 3).get())
            left.append(store.records[\.history.transactions].count)
        }
        #expect(results == [nil, nil, 8] && left == [7, 4, 2])
    }

    @Test("transactions committed during a deletion from the history do not move its end")
    func end() throws {
        let store = try store(5)
        let writer = try store.makeWriter()
        let deletion = deletion(.keeping(1))
        _ = deletion.step(of: writer, rowsMax: 2)
        store.records.state.withLock { state in
            _ = state.history.append(store.storeDescription.identifier, 6...6)
        }
        _ = deletion.step(of: writer, rowsMax: 2)
        #expect(try deletion.step(of: writer, rowsMax: 2).get() == 4)
        #expect(store.records[\.history.transactions].map(\.id) == [5, 6])
    }

    @Test("a deletion from the history that is ended reports how many transactions it deleted")
    func ended() throws {
        let store = try store(5)
        let timeout = LarderError(.timeout, "too late")
        let deletion = deletion(.keeping(1))
        deletion.reject(timeout)
        #expect(replies.last == .failure(timeout))
        for (rowsMax, count) in [(1, "1 transaction was"), (2, "3 transactions were")] {
            _ = deletion.step(of: try store.makeWriter(), rowsMax: rowsMax)
            deletion.reject(timeout)
            guard case .failure(let error) = replies.last else { return }
            #expect(error.code == .timeout && error.message.hasPrefix("\(count) deleted"))
        }
    }

    @Test("a deletion from the history shares no commit and is not stopped for other writes")
    func kind() {
        let item = WriteQueue.Item.deletion(deletion(.keeping(1), user: 7))
        #expect(item.user == 7 && item.deadline == .distantFuture)
        #expect(!item.isShort && !item.isGroupable)
    }

    @Test("other writes run between two steps of a deletion from the history")
    func schedule() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var schedule = WriteSchedule(limits: ServerLimits())
        func users(_ next: WriteSchedule.Next) -> [(user: UInt32, isDeletion: Bool)] {
            guard case .group(let items) = next else { return [] }
            return items.map { item in
                if case .deletion = item { (item.user, true) } else { (item.user, false) }
            }
        }
        let deletion = WriteQueue.Item.deletion(deletion(.keeping(1)))
        func probe(_ user: UInt32) -> WriteQueue.Item {
            .probe(WriteQueue.Probe(for: user, deadline: .distantFuture) { _ in })
        }
        var isAppended = schedule.append(deletion)
        let first = users(schedule.next(at: start))
        isAppended = schedule.append(probe(1)) && isAppended
        isAppended = schedule.append(probe(2)) && isAppended
        schedule.appendAgain(deletion)
        #expect(isAppended && schedule.count == 3)
        var order: [(user: UInt32, isDeletion: Bool)] = []
        while !schedule.isEmpty { order += users(schedule.next(at: start)) }
        #expect(first.map(\.isDeletion) == [true])
        #expect(order.map(\.isDeletion) == [false, false, true])
        #expect(Set(order.prefix(2).map(\.user)) == [1, 2])
    }

    @Test("a write that continues has a slot in the queue, also above its user's share")
    func share() {
        var limits = ServerLimits()
        limits.writesQueued = SharedLimit(2, userShare: 0.5)
        var schedule = WriteSchedule(limits: limits)
        let other = schedule.append(.deletion(deletion(.keeping(1))))
        schedule.appendAgain(.deletion(deletion(.keeping(2))))
        let another = schedule.append(.deletion(deletion(.keeping(3))))
        #expect(other && !another && schedule.count == 2)
    }

    @Test("a queue that is being closed ends a deletion after its current step")
    func close() async throws {
        let gate = Gate()
        let store = try store(100, .init(deletions: gate))
        var limits = ServerLimits()
        limits.historyDeletionRowsMax = 1
        let readers = ReaderPool(backend: store, limits: limits)
        let queue = WriteQueue(
            writer: try store.makeWriter(), readers: readers, announcer: CommitAnnouncer([]),
            limits: limits, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        queue.append(.deletion(deletion(.keeping(1))))
        gate.waitForArrival()
        await withCheckedContinuation { closed in
            queue.close { closed.resume() }
            gate.open()
        }
        await withCheckedContinuation { closed in readers.close { closed.resume() } }
        #expect(store.records[\.writerIsClosed])
        #expect(store.records[\.history.transactions].count == 99)
        guard case .failure(let error) = replies.last else {
            Issue.record("the deletion did not end with an error")
            return
        }
        #expect(error.code == .unavailable && error.message.contains("1 transaction"))
    }

    @Test("the retention deletes old or excess transactions when the server starts")
    func retention() async throws {
        let store = try store(10)
        var options = Server.Options(name: "test")
        options.limits.historyRetention = HistoryRetention(countMax: 4)
        options.limits.historyDeletionRowsMax = 2
        let server = try Server(backend: store, options: options, logger: .silent)
        while store.records[\.history.transactions].count > 4 { await Task.yield() }
        await server.stop()
        #expect(store.records[\.history.transactions].map(\.id) == [7, 8, 9, 10])
    }

    @Test("the values of objects in the history are encoded on the thread that has read them")
    func encoding() {
        let token = HistoryToken(store: UUID(), epoch: 0, number: 1)
        var transaction = HistoryTransaction(
            token: token, timestamp: Date(timeIntervalSinceReferenceDate: 0))
        func isEncoded(_ objects: [Batch] = []) -> Bool {
            let reply = Reply.history(
                HistoryReply([transaction], upTo: token, objects: objects), more: true)
            if case .frame = EncodableReply(reply, to: 1, encodedAbove: 1_000) { return true }
            return false
        }
        #expect(!isEncoded())
        #expect(isEncoded([Batch(rowCount: 1, columns: [])]))
        let value = Value.data(Data(repeating: 7, count: 1 << 20))
        transaction.tombstones = [HistoryTombstone("Item", 1, ["data": value])]
        #expect(isEncoded())
    }
}
