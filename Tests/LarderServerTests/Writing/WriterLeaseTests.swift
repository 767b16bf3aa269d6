import LarderModel
import LarderWire
import NIOPosix
import Synchronization
import Testing

@testable import LarderServer

@Suite("The writer's owner")
struct WriterLeaseTests {
    private static func set(_ number: Int64) -> SaveRequest {
        let identifier = PersistentIdentifier(temporary: "a", entityName: "Item")
        return SaveRequest(
            ChangeSet([.insert(identifier, values: ["number": .int(number)])]))
    }

    private static func lease(_ store: FakeStore) throws -> WriterLease {
        WriterLease(writer: try store.makeWriter(), limits: ServerLimits())
    }

    @Test("a free writer saves on the event loop, and is free again")
    func saveInline() throws {
        let store = try FakeStore()
        let lease = try Self.lease(store)
        var releases: [Bool] = []
        let outcome = lease.saveInline(Self.set(7)) { releases.append($0) }
        #expect(try outcome?.get().inserted.count == 1)
        #expect(store.records[\.numbers] == [1: 7])
        #expect(releases == [false])
        #expect(lease.owner == .none && lease.inlineSaves == 1)
    }

    @Test("a save that exceeds its budget changes nothing, and the writer is free again")
    func budget() throws {
        let store = try FakeStore(.init(isTooLongForLoop: true))
        let lease = try Self.lease(store)
        #expect(lease.saveInline(Self.set(7)) { _ in } == nil)
        #expect(lease.owner == .none && lease.inlineSaves == 0)
    }

    @Test("due maintenance is reported after the release")
    func maintenance() throws {
        let lease = try Self.lease(FakeStore(.init(needsMaintenance: true)))
        var releases: [(Bool, WriterLease.Owner)] = []
        _ = lease.saveInline(Self.set(7)) { releases.append(($0, lease.owner)) }
        #expect(releases.count == 1)
        #expect(releases.first?.0 == true && releases.first?.1 == WriterLease.Owner.none)
    }

    @Test("the thread takes a free writer once, and an event loop does not get it until then")
    func thread() throws {
        let store = try FakeStore()
        let lease = try Self.lease(store)
        #expect(lease.takeForThread())
        #expect(!lease.takeForThread())
        #expect(lease.saveInline(Self.set(7)) { _ in } == nil)
        #expect(lease.owner == .thread)
        lease.releaseFromThread()
        #expect(lease.saveInline(Self.set(7)) { _ in } != nil)
        #expect(store.records[\.numbers] == [1: 7])
    }

    @Test("the thread does not get the writer while an event loop saves")
    func eventLoop() async throws {
        let gate = Gate()
        let lease = try Self.lease(FakeStore(.init(writes: gate)))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let saved = group.next().submit { lease.saveInline(Self.set(7)) { _ in } != nil }
        gate.waitForArrival()
        #expect(lease.owner == .eventLoop)
        #expect(!lease.takeForThread())
        gate.open()
        #expect(try await saved.get())
        #expect(lease.takeForThread())
        try await group.shutdownGracefully()
    }

    @Test("a closed lease grants no more saves on event loops")
    func close() throws {
        let lease = try Self.lease(FakeStore())
        let closings = Mutex(0)
        lease.close { closings.withLock { $0 += 1 } }
        #expect(closings.withLock { $0 } == 1)
        #expect(lease.saveInline(Self.set(7)) { _ in } == nil)
        #expect(lease.takeForThread())
    }

    @Test("closing waits for the save of an event loop, which then reports no release")
    func closeDuringSave() async throws {
        let gate = Gate()
        let lease = try Self.lease(FakeStore(.init(writes: gate)))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let events = Mutex<[String]>([])
        let saved = group.next().submit {
            lease.saveInline(Self.set(7)) { _ in events.withLock { $0.append("released") } } != nil
        }
        gate.waitForArrival()
        lease.close { events.withLock { $0.append("free") } }
        #expect(events.withLock { $0 } == [])
        gate.open()
        #expect(try await saved.get())
        #expect(events.withLock { $0 } == ["free"])
        try await group.shutdownGracefully()
    }
}
