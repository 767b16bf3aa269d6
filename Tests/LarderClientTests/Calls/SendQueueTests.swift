import Testing

@testable import LarderClient

/// A reference to a send queue, so that expectations may change it.
private final class SendQueueBox {
    private var sendQueue = SendQueue()

    var first: SendQueue.Frame? { sendQueue.first }
    var isEmpty: Bool { sendQueue.isEmpty }
    var sentByteCount: Int { sendQueue.sentByteCount }
    func append(_ frame: SendQueue.Frame) { sendQueue.append(frame) }
    func advance(by byteCount: Int) -> UInt64? { sendQueue.advance(by: byteCount) }
    func remove(_ id: UInt64) -> Bool { sendQueue.remove(id) }
}

@Suite("Frames that wait to be sent")
struct SendQueueTests {
    private func sendQueue(_ frames: (UInt64, Int)...) -> SendQueueBox {
        let sendQueue = SendQueueBox()
        for (id, count) in frames {
            sendQueue.append(
                SendQueue.Frame(id: id, bytes: [UInt8](repeating: UInt8(id), count: count)))
        }
        return sendQueue
    }

    @Test("a queued frame is sent when its last byte is sent")
    func advance() {
        let sendQueue = sendQueue((1, 10), (2, 5))
        #expect(sendQueue.advance(by: 9) == nil)
        #expect(sendQueue.sentByteCount == 9)
        #expect(sendQueue.advance(by: 1) == 1)
        #expect(sendQueue.first?.id == 2 && sendQueue.sentByteCount == 0)
        #expect(sendQueue.advance(by: 5) == 2)
        #expect(sendQueue.isEmpty)
    }

    @Test("queued frames are sent in their order")
    func order() {
        let sendQueue = SendQueueBox()
        var sent: [UInt64] = []
        for id in 1...100 as ClosedRange<UInt64> {
            sendQueue.append(SendQueue.Frame(id: id, bytes: [1, 2]))
            if id.isMultiple(of: 3), let first = sendQueue.advance(by: 2) { sent.append(first) }
        }
        while !sendQueue.isEmpty { if let id = sendQueue.advance(by: 2) { sent.append(id) } }
        #expect(sent == Array(1...100))
    }

    @Test("a queued frame can be removed before any of its bytes is sent")
    func remove() {
        let sendQueue = sendQueue((1, 3), (2, 3), (3, 3))
        #expect(sendQueue.remove(2))
        #expect(sendQueue.remove(1))
        #expect(!sendQueue.remove(1))
        #expect(sendQueue.first?.id == 3)
    }

    @Test("a frame that is partly sent cannot be removed")
    func removePartlySent() {
        let sendQueue = sendQueue((1, 3), (2, 3))
        _ = sendQueue.advance(by: 1)
        #expect(!sendQueue.remove(1))
        #expect(sendQueue.remove(2))
        #expect(sendQueue.first?.id == 1 && sendQueue.sentByteCount == 1)
    }
}
