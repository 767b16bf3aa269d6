internal import CLarderProto
internal import LarderModel

/// Memory for the messages of one frame: given out from the front, taken back all at once.
///
/// protobuf-c unpacks into it, and messages to be packed are laid out in it. Nothing in it is
/// freed one by one, so a pointer into it is good until ``reset(bytesMax:)`` and no longer.
///
/// A small frame can ask for much: an empty message of two bytes costs its C structure, a pointer,
/// and protobuf-c's note of where it was found, together up to about 120 times its bytes; and a
/// field that stands several times where one is expected is merged anew each time, which grows with
/// the square. Hence the bound: past it an allocation fails, which protobuf-c passes on.
final class Arena {
    /// What unpacking a body may take: so much for each of its bytes, and so much in any case, but
    /// never more than the last. Of honest messages the densest are long change sets with
    /// one-letter names and small numbers, which take some 23 times their bytes; predicates and
    /// arguments may take more, but are so few that they stay within what any body may take.
    static let unpackedBytesPerByte = 32
    static let unpackedBytesMin = 1 << 20
    static let unpackedBytesMax = 256 << 20

    private static let alignment = 16
    /// The first chunk stays from frame to frame, so that an ordinary one allocates nothing.
    private static let firstChunkBytes = 16 << 10
    private static let chunkBytesMax = 1 << 20

    /// What protobuf-c is given. It holds this arena unretained: it is used only in calls that the
    /// arena's owner makes, and released with the arena.
    let allocator: UnsafeMutablePointer<ProtobufCAllocator>
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// Where the free part of the last chunk begins, and how many bytes it has.
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

    /// How much unpacking a body of so many bytes may take.
    static func bytesMax(forBodyOf byteCount: Int) -> Int {
        min(unpackedBytesMin + byteCount * unpackedBytesPerByte, unpackedBytesMax)
    }

    /// Takes everything back, and sets the bound until the next reset.
    func reset(bytesMax: Int = .max) {
        while chunks.count > 1 { chunks.removeLast().deallocate() }
        if let first = chunks.first { beginChunk(first) }
        byteCount = 0
        isExhausted = false
        self.bytesMax = bytesMax
    }

    /// Uninitialized memory for any type, or nil past the bound. A `size_t` beyond `Int` comes
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
    /// Unpacks one message with the function that protobuf-c generated for it. The pointers inside
    /// lead into this arena and end with its next reset.
    ///
    /// The bound is set by the caller with ``reset(bytesMax:)``.
    func unpack<Message>(
        _ bytes: UnsafeRawBufferPointer,
        _ unpack: (
            UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?
        ) -> UnsafeMutablePointer<Message>?
    ) throws(LarderError) -> Message {
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        if let message = unpack(allocator, bytes.count, start) { return message.pointee }
        if isExhausted {
            throw LarderError(
                .resourceExhausted,
                "a message of \(bytes.count) bytes needs more memory than it may take",
                hint: "send less at once")
        }
        throw FieldScanner.unreadable
    }
}
