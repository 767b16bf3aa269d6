internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

/// Builds messages for protobuf-c to pack.
///
/// Structures, arrays and texts are copied into the arena and are valid until its reset.
struct ProtobufWriter {
    let arena: Arena

    /// The part that all messages of protobuf-c begin with.
    static func base<Message>(
        of message: UnsafeMutablePointer<Message>
    ) -> UnsafePointer<ProtobufCMessage> {
        UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self)
    }

    /// A message in the arena, as its own protobuf-c function initializes it.
    func make<Message>(
        _ initialize: (UnsafeMutablePointer<Message>?) -> Void
    ) -> UnsafeMutablePointer<Message> {
        let message = allocate(Message.self, 1)
        initialize(message)
        return message
    }

    /// The array of pointers of a repeated message field.
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

    func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        bytes.withUnsafeBytes { copy($0) }
    }

    func uuid(_ uuid: UUID) -> ProtobufCBinaryData {
        withUnsafeBytes(of: uuid.uuid) { copy($0) }
    }

    private func copy(_ bytes: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
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

    private func allocate<Element>(
        _ type: Element.Type, _ count: Int
    ) -> UnsafeMutablePointer<Element> {
        guard let memory = arena.allocate(count * MemoryLayout<Element>.stride) else {
            preconditionFailure("an arena without a bound refused memory")
        }
        return memory.bindMemory(to: type, capacity: count)
    }
}
