internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

/// Lays out messages for packing, from Swift's values, in an arena.
///
/// Structures, pointers and texts are the arena's, good until its reset. Large arrays are not
/// copied: messages point into their storage, which the caller keeps alive until they are packed
/// (see `WireCodec.write`).
struct MessageWriter {
    let arena: Arena

    /// A message in the arena, as protobuf-c's own function initializes it.
    func make<Message>(
        _ initialize: (UnsafeMutablePointer<Message>?) -> Void
    ) -> UnsafeMutablePointer<Message> {
        let message = allocate(Message.self, 1)
        initialize(message)
        return message
    }

    /// Pointers to messages, as a repeated field wants them.
    func list<Element, Message>(
        _ elements: some Collection<Element>,
        _ encode: (Element) throws(LarderError) -> UnsafeMutablePointer<Message>
    ) throws(LarderError) -> UnsafeMutablePointer<UnsafeMutablePointer<Message>?>? {
        guard !elements.isEmpty else { return nil }
        let items = allocate(UnsafeMutablePointer<Message>?.self, elements.count)
        var index = 0
        for element in elements {
            (items + index).initialize(to: try encode(element))
            index += 1
        }
        return items
    }

    func texts(_ texts: [String]) -> UnsafeMutablePointer<ProtobufCBinaryData>? {
        guard !texts.isEmpty else { return nil }
        let items = allocate(ProtobufCBinaryData.self, texts.count)
        for (index, text) in texts.enumerated() {
            (items + index).initialize(to: self.text(text))
        }
        return items
    }

    func text(_ text: String) -> ProtobufCBinaryData {
        var text = text
        return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
    }

    func uuid(_ uuid: UUID) -> ProtobufCBinaryData {
        withUnsafeBytes(of: uuid.uuid) { copy($0) }
    }

    func copy(_ bytes: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
        guard let source = bytes.baseAddress, bytes.count > 0 else {
            return ProtobufCBinaryData(len: 0, data: nil)
        }
        let copied = allocate(UInt8.self, bytes.count)
        UnsafeMutableRawPointer(copied).copyMemory(from: source, byteCount: bytes.count)
        return ProtobufCBinaryData(len: bytes.count, data: copied)
    }

    func copy<Number>(numbers: [Number]) -> UnsafeMutablePointer<Number>? {
        guard !numbers.isEmpty else { return nil }
        let copied = allocate(Number.self, numbers.count)
        copied.initialize(from: numbers, count: numbers.count)
        return copied
    }

    /// The array's own storage. The caller holds the value that the array is part of, unchanged,
    /// until the message is packed; packing only reads.
    func pointing<Element>(at array: [Element]) -> UnsafeMutablePointer<Element>? {
        array.withUnsafeBufferPointer { UnsafeMutablePointer(mutating: $0.baseAddress) }
    }

    func pointing(at bytes: [UInt8]) -> ProtobufCBinaryData {
        ProtobufCBinaryData(len: bytes.count, data: pointing(at: bytes))
    }

    private func allocate<Element>(
        _ type: Element.Type, _ count: Int
    ) -> UnsafeMutablePointer<Element> {
        guard let memory = arena.allocate(count * MemoryLayout<Element>.stride) else {
            preconditionFailure("an arena without a bound has refused memory")
        }
        return memory.bindMemory(to: type, capacity: count)
    }
}
