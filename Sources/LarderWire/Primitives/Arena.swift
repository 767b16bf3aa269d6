internal import CLarderProto
internal import LarderModel

/// Memory for the messages of one frame, allocated from the front and released all at once.
///
/// protobuf-c unpacks messages into it, and messages to be packed are built in it. Nothing in it is
/// freed separately: a pointer into it is valid until ``reset(bytesMax:)``.
///
/// A small frame can demand much memory. An empty message of two bytes costs its C structure, a
/// pointer and a note of protobuf-c's scanner, about 120 times its own length; a message field that
/// occurs several times is merged each time, at a cost that grows with the square of the count.
/// Hence the bound: an allocation beyond it fails, and protobuf-c reports that to its caller.
final class Arena {
    /// The memory that unpacking a body may take: a multiple of its length, at least the second
    /// number and at most the third. Query arguments and expressions may take a larger multiple,
    /// but their counts are limited, so they stay within the minimum.
    static let unpackedBytesPerByte = 32
    static let unpackedBytesMin = 1 << 20
    static let unpackedBytesMax = 96 << 20

    private static let alignment = 16
    /// The first chunk is reused for the next frame, so that an ordinary frame allocates nothing.
    private static let firstChunkBytes = 16 << 10
    private static let chunkBytesMax = 1 << 20

    /// Passed to protobuf-c. It refers to this arena unretained: protobuf-c uses it only during
    /// calls that the arena's owner makes, and it is released with the arena.
    let allocator: UnsafeMutablePointer<ProtobufCAllocator>
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// The start of the free part of the last chunk, and its length.
    private var free: UnsafeMutableRawPointer?
    private var freeByteCount = 0
    private var bytesMax = Int.max
    private(set) var byteCount = 0
    /// Whether an allocation has failed since the last reset.
    private(set) var isExhausted = false

    init() {
        allocator = .allocate(capacity: 1)
        allocator.initialize(
            to: ProtobufCAllocator(
                alloc: { owner, byteCount in
                    guard let owner else { return nil }
                    return Unmanaged<Arena>.fromOpaque(owner)._withUnsafeGuaranteedRef {
                        $0.allocate(byteCount)
                    }
                },
                free: { _, _ in },
                allocator_data: nil))
        allocator.pointee.allocator_data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
        allocator.deallocate()
    }

    /// The memory that unpacking a body of this length may take.
    static func bytesMax(forBodyOf byteCount: Int) -> Int {
        min(unpackedBytesMin + byteCount * unpackedBytesPerByte, unpackedBytesMax)
    }

    /// Releases all memory, and sets the bound until the next reset.
    func reset(bytesMax: Int = .max) {
        while chunks.count > 1 { chunks.removeLast().deallocate() }
        if let first = chunks.first { beginChunk(first) }
        byteCount = 0
        isExhausted = false
        self.bytesMax = bytesMax
    }

    /// Uninitialized memory for any type, or nil beyond the bound. A `size_t` beyond `Int` arrives
    /// from C as a negative number.
    func allocate(_ requested: Int) -> UnsafeMutableRawPointer? {
        guard 0...Int.max - Arena.alignment ~= requested else { return refuse() }
        let size = (requested + Arena.alignment - 1) & ~(Arena.alignment - 1)
        guard size <= bytesMax - byteCount else { return refuse() }
        byteCount += size
        if freeByteCount < size || free == nil { addChunk(size) }
        let memory = free
        free = memory.map { $0 + size }
        freeByteCount -= size
        return memory
    }

    private func beginChunk(_ chunk: UnsafeMutableRawBufferPointer) {
        free = chunk.baseAddress
        freeByteCount = chunk.count
    }

    private func refuse() -> UnsafeMutableRawPointer? {
        isExhausted = true
        return nil
    }

    private func addChunk(_ byteCountMin: Int) {
        let usual = min(
            (chunks.last?.count).map { $0 * 2 } ?? Arena.firstChunkBytes, Arena.chunkBytesMax)
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(usual, byteCountMin), alignment: Arena.alignment)
        chunks.append(chunk)
        beginChunk(chunk)
    }
}

extension Arena {
    /// Unpacks one message with the function that protobuf-c generated for it, and decodes it.
    ///
    /// The pointers inside the message are valid during the call of `decode`. The caller sets the
    /// memory bound with ``reset(bytesMax:)``.
    ///
    /// - Throws: `malformedMessage`; `resourceExhausted` beyond the bound; what `decode` throws.
    func decode<Message, Result>(
        _ bytes: RawSpan,
        _ unpack: (
            UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?
        ) -> UnsafeMutablePointer<Message>?,
        _ decode: (Message) throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        let message = bytes.withUnsafeBytes { bytes in
            unpack(allocator, bytes.count, bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
        if let message { return try decode(message.pointee) }
        if isExhausted {
            throw LarderError(
                .resourceExhausted,
                "a message of \(bytes.byteCount) bytes needs more memory than it may take",
                hint: "split the request")
        }
        throw .unreadable
    }
}
