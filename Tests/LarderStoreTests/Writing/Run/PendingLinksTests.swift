import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("pending links")
struct PendingLinksTests {
    private func target(_ insert: Int?) -> Assignment.Target {
        Assignment.Target(object: ObjectKey(entity: 0, key: 1), insertedBy: insert)
    }

    @Test("pending links wait for the last insert after the running change")
    func awaited() {
        let targets = [target(nil), target(2), target(5)]
        #expect(PendingLinks.awaitedInsert(targets, runningChange: 1) == 5)
        #expect(PendingLinks.awaitedInsert(targets, runningChange: 5) == nil)
        #expect(PendingLinks.awaitedInsert([target(nil)], runningChange: 0) == nil)
        #expect(PendingLinks.awaitedInsert(targets, runningChange: nil) == nil)
    }

    @Test("pending links are taken once, in the order in which they were added")
    func taken() {
        var pending = PendingLinks()
        for key in [Int64(3), 1, 2] {
            pending.add(.edits([]), of: ObjectKey(entity: 0, key: key), until: 4)
        }
        #expect(pending.take(after: 3).isEmpty)
        #expect(pending.take(after: 4).map(\.object.key) == [3, 1, 2])
        #expect(pending.take(after: 4).isEmpty)
    }
}
