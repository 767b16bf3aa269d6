/// Writes protobuf's encoding by hand, for messages that no encoder would make.
struct ProtoBytes {
    private(set) var bytes: [UInt8] = []

    static func varint(_ number: UInt64) -> [UInt8] {
        var rest = number
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    func number(_ field: UInt64, _ number: UInt64) -> ProtoBytes {
        appending(Self.varint(field << 3) + Self.varint(number))
    }

    func bytes(_ field: UInt64, _ content: [UInt8]) -> ProtoBytes {
        appending(Self.varint(field << 3 | 2) + Self.varint(UInt64(content.count)) + content)
    }

    func text(_ field: UInt64, _ text: String) -> ProtoBytes { bytes(field, Array(text.utf8)) }

    func message(_ field: UInt64, _ message: ProtoBytes) -> ProtoBytes {
        bytes(field, message.bytes)
    }

    func fixed64(_ field: UInt64, _ bits: UInt64) -> ProtoBytes {
        appending(
            Self.varint(field << 3 | 1)
                + (0..<8).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) })
    }

    func fixed32(_ field: UInt64, _ bits: UInt32) -> ProtoBytes {
        appending(
            Self.varint(field << 3 | 5)
                + (0..<4).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) })
    }

    func raw(_ bytes: [UInt8]) -> ProtoBytes { appending(bytes) }

    private func appending(_ more: [UInt8]) -> ProtoBytes {
        var copy = self
        copy.bytes += more
        return copy
    }

    /// The content of a frame: an envelope with this body under the field's number.
    static func envelope(id: UInt64 = 9, _ field: UInt64, _ body: ProtoBytes) -> [UInt8] {
        ProtoBytes().number(1, id).message(field, body).bytes
    }
}
