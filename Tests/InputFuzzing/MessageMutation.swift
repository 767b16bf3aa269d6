import TestSupport

/// Changes of a protobuf message that leave it well formed: numbers become extreme ones, and fields
/// are added, removed and repeated. Damage of bytes alone is rejected before a number is used.
public struct MessageMutation {
    private struct Field {
        var number: UInt64
        var content: Content
    }

    private enum Content {
        case number(UInt64)
        /// Four or eight bytes.
        case fixed([UInt8])
        case bytes([UInt8])
        case message([Field])
        /// Packed numbers, or a text or message that can be read as such.
        case numbers([UInt64])
    }

    private static let depthMax = 12

    private var fields: [Field]

    /// - Returns: nil if the bytes are not a message.
    public init?(_ bytes: [UInt8]) {
        guard let fields = Self.fields(bytes[...], depth: 0) else { return nil }
        self.fields = fields
    }

    public var bytes: [UInt8] { Self.bytes(of: fields) }

    /// Makes one to three changes, anywhere in the message.
    public mutating func mutate(using generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            Self.mutate(&fields, using: &generator)
        }
    }

    /// An input of ``MessageInput`` with changes of its message, or of its bytes if it is none.
    public static func changed(
        _ input: [UInt8], using generator: inout SeededGenerator
    ) -> [UInt8] {
        guard let number = input.first, var message = Self(Array(input.dropFirst())) else {
            return Fuzzing.mutated(input, donor: input, using: &generator)
        }
        message.mutate(using: &generator)
        return [number] + message.bytes
    }

    // MARK: Changes

    private static func mutate(_ fields: inout [Field], using generator: inout SeededGenerator) {
        guard let index = fields.indices.randomElement(using: &generator),
            Int.random(in: 0..<8, using: &generator) > 0
        else {
            return fields.append(
                Field(
                    number: UInt64.random(in: 1...18, using: &generator),
                    content: .number(ExtremeIntegers.random(using: &generator))))
        }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: fields.remove(at: index)
        case 1: fields.append(fields[index])
        default: mutate(&fields[index].content, using: &generator)
        }
    }

    private static func mutate(_ content: inout Content, using generator: inout SeededGenerator) {
        let word = ExtremeIntegers.random(using: &generator)
        switch content {
        case .number: content = .number(word)
        case .fixed(let bytes):
            content = .fixed(
                bytes.indices.map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) })
        case .message(var fields):
            mutate(&fields, using: &generator)
            content = .message(fields)
        case .numbers(var numbers):
            guard let index = numbers.indices.randomElement(using: &generator) else { return }
            numbers[index] = word
            content = .numbers(numbers)
        case .bytes(let bytes):
            content = .bytes(Fuzzing.mutated(bytes, donor: bytes, using: &generator))
        }
    }

    // MARK: Coding

    private static func bytes(of fields: [Field]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            func append(_ wireType: UInt64, _ content: [UInt8]) {
                bytes += ExtremeIntegers.varint(field.number << 3 | wireType)
                if wireType == 2 { bytes += ExtremeIntegers.varint(UInt64(content.count)) }
                bytes += content
            }
            switch field.content {
            case .number(let number): append(0, ExtremeIntegers.varint(number))
            case .fixed(let fixed): append(fixed.count == 8 ? 1 : 5, fixed)
            case .bytes(let content): append(2, content)
            case .message(let fields): append(2, Self.bytes(of: fields))
            case .numbers(let numbers): append(2, numbers.flatMap(ExtremeIntegers.varint))
            }
        }
        return bytes
    }

    /// - Returns: nil if the bytes are not a message.
    private static func fields(_ bytes: ArraySlice<UInt8>, depth: Int) -> [Field]? {
        var rest = bytes
        var fields: [Field] = []
        while !rest.isEmpty {
            guard let tag = number(&rest), tag >> 3 > 0 else { return nil }
            let content: Content
            switch tag & 7 {
            case 0:
                guard let number = number(&rest) else { return nil }
                content = .number(number)
            case 1, 5:
                let count = tag & 7 == 1 ? 8 : 4
                guard rest.count >= count else { return nil }
                content = .fixed(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            case 2:
                guard let length = number(&rest), length <= UInt64(rest.count) else { return nil }
                content = self.content(rest.prefix(Int(length)), depth: depth)
                rest = rest.dropFirst(Int(length))
            default: return nil
            }
            fields.append(Field(number: tag >> 3, content: content))
        }
        return fields
    }

    private static func content(_ bytes: ArraySlice<UInt8>, depth: Int) -> Content {
        if depth < depthMax, !bytes.isEmpty, let fields = fields(bytes, depth: depth + 1) {
            return .message(fields)
        }
        let isText = bytes.allSatisfy { 0x20..<0x7F ~= $0 }
        if !isText, let numbers = numbers(bytes) { return .numbers(numbers) }
        return .bytes(Array(bytes))
    }

    private static func numbers(_ bytes: ArraySlice<UInt8>) -> [UInt64]? {
        var rest = bytes
        var numbers: [UInt64] = []
        while !rest.isEmpty {
            guard let number = number(&rest) else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}
