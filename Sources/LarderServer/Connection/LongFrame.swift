import NIOCore
import Synchronization

/// The content of a long frame while it arrives.
///
/// An event loop collects what arrives in pieces, which the thread that decodes the frame joins. If
/// the event loop joined them, it would clear and copy megabytes of new memory, and so delay its
/// other connections. The memory grows with the bytes that have arrived, never with the length that
/// a peer declares.
final class LongFrame: Sendable {
    private struct Pieces {
        var buffers: [ByteBuffer] = []
        var byteCount = 0
    }

    /// Below the size for which the allocator maps memory of its own (see `Disposal`).
    private static let pieceBytes = 128 << 10

    /// The length of the content.
    let byteCount: Int
    private let pieces = Mutex(Pieces())

    init(byteCount: Int) { self.byteCount = byteCount }

    /// The bytes that have arrived.
    var arrivedByteCount: Int { pieces.withLock { $0.byteCount } }

    var isComplete: Bool { arrivedByteCount == byteCount }

    /// Moves the bytes that belong to the frame out of a buffer.
    func append(_ arrived: inout ByteBuffer) {
        pieces.withLock { pieces in
            let count = min(arrived.readableBytes, byteCount - pieces.byteCount)
            guard let bytes = arrived.readSlice(length: count) else { return }
            pieces.byteCount += count
            if count >= arrived.storageCapacity / 2 {
                pieces.buffers.append(bytes)
            } else if let last = pieces.buffers.indices.last,
                pieces.buffers[last].writableBytes >= count
            {
                pieces.buffers[last].writeImmutableBuffer(bytes)
            } else {
                var piece = ByteBufferAllocator().buffer(capacity: max(count, Self.pieceBytes))
                piece.writeImmutableBuffer(bytes)
                pieces.buffers.append(piece)
            }
        }
    }

    /// Removes and returns the content. Each piece is freed when it has been copied.
    func join() -> ByteBuffer {
        var buffers = pieces.withLock { pieces in
            defer { pieces.buffers = [] }
            return pieces.buffers
        }
        var content = ByteBufferAllocator().buffer(capacity: byteCount)
        for index in buffers.indices {
            content.writeBuffer(&buffers[index])
            buffers[index] = ByteBuffer()
        }
        return content
    }
}
