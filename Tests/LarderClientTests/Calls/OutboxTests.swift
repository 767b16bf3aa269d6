import Testing

@testable import LarderClient

/// An outbox behind a reference, so that expectations may change it.
private final class HeldOutbox {
    private var outbox = Outbox()

    var first: Outbox.Frame? { outbox.first }
    var isEmpty: Bool { outbox.isEmpty }
    var sentByteCount: Int { outbox.sentByteCount }
    func append(_ frame: Outbox.Frame) { outbox.append(frame) }
    func advance(by byteCount: Int) -> UInt64? { outbox.advance(by: byteCount) }
    func retract(_ id: UInt64) -> Bool { outbox.retract(id) }
}

@Suite("Frames that wait to be sent")
struct OutboxTests {
    private func outbox(_ frames: (UInt64, Int)...) -> HeldOutbox {
        let outbox = HeldOutbox()
        for (id, count) in frames {
            outbox.append(Outbox.Frame(id: id, bytes: [UInt8](repeating: UInt8(id), count: count)))
        }
        return outbox
    }

    @Test("a frame is sent once its last byte is")
    func advance() {
        let outbox = outbox((1, 10), (2, 5))
        #expect(outbox.advance(by: 9) == nil)
        #expect(outbox.sentByteCount == 9)
        #expect(outbox.advance(by: 1) == 1)
        #expect(outbox.first?.id == 2 && outbox.sentByteCount == 0)
        #expect(outbox.advance(by: 5) == 2)
        #expect(outbox.isEmpty)
    }

    @Test("frames keep their order however many come and go")
    func order() {
        let outbox = HeldOutbox()
        var sent: [UInt64] = []
        for id in 1...100 as ClosedRange<UInt64> {
            outbox.append(Outbox.Frame(id: id, bytes: [1, 2]))
            if id.isMultiple(of: 3), let first = outbox.advance(by: 2) { sent.append(first) }
        }
        while !outbox.isEmpty { if let id = outbox.advance(by: 2) { sent.append(id) } }
        #expect(sent == Array(1...100))
    }

    @Test("a frame of which nothing was sent can be taken back")
    func retract() {
        let outbox = outbox((1, 3), (2, 3), (3, 3))
        #expect(outbox.retract(2))
        #expect(outbox.retract(1))
        #expect(!outbox.retract(1))
        #expect(outbox.first?.id == 3)
    }

    @Test("a frame that has begun to go cannot be taken back")
    func retractStarted() {
        let outbox = outbox((1, 3), (2, 3))
        _ = outbox.advance(by: 1)
        #expect(!outbox.retract(1))
        #expect(outbox.retract(2))
        #expect(outbox.first?.id == 1 && outbox.sentByteCount == 1)
    }
}
