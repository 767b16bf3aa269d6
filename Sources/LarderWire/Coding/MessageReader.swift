internal import CLarderProto
internal import LarderModel

/// Takes unpacked fields over into Swift's values, checking each.
///
/// The pointers inside unpacked messages lead into the codec's arena, which lives until the message
/// has been decoded; nothing here keeps one beyond its call.
enum MessageReader {
    static func malformed(_ message: String) -> LarderError {
        LarderError(.malformedMessage, message)
    }

    static func tooMany(_ what: String, _ count: Int, maximum: Int) -> LarderError {
        LarderError(.resourceExhausted, "\(count) \(what) were sent, and \(maximum) are allowed")
    }

    /// The elements of a repeated message field, each decoded.
    static func list<Wire, Element>(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?, _ count: Int, _ what: String,
        maximum: Int, _ decode: (Wire) throws(LarderError) -> Element
    ) throws(LarderError) -> [Element] {
        guard count <= maximum else { throw tooMany(what, count, maximum: maximum) }
        guard let items else { return [] }
        var result: [Element] = []
        result.reserveCapacity(count)
        for item in UnsafeBufferPointer(start: items, count: count) {
            guard let item else { throw malformed("one of the \(what) is missing") }
            result.append(try decode(item.pointee))
        }
        return result
    }

    /// The elements of a repeated text field.
    static func texts(
        _ items: UnsafeMutablePointer<ProtobufCBinaryData>?, _ count: Int, _ what: String,
        maximum: Int, bytesMax: Int = .max
    ) throws(LarderError) -> [String] {
        guard count <= maximum else { throw tooMany(what, count, maximum: maximum) }
        var result: [String] = []
        result.reserveCapacity(count)
        for item in UnsafeBufferPointer(start: items, count: items == nil ? 0 : count) {
            result.append(try item.text(what, bytesMax: bytesMax))
        }
        return result
    }

    /// The elements of a repeated number field, by one copy.
    static func numbers<Number>(_ items: UnsafeMutablePointer<Number>?, _ count: Int) -> [Number] {
        Array(UnsafeBufferPointer(start: items, count: items == nil ? 0 : count))
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as text, nil if they are not UTF-8.
    var text: String? {
        // ASCII, as names are, needs no validation, whose generic code costs a name's tenfold.
        if count <= Self.shortBytesMax, allSatisfy({ $0 < 0x80 }) {
            return String(decoding: self, as: UTF8.self)
        }
        return String(validating: self, as: UTF8.self)
    }

    private static let shortBytesMax = 64

    /// The field as text; `what` names it, in the plural or not, in the error.
    func text(_ what: String, bytesMax: Int = .max) throws(LarderError) -> String {
        guard count <= bytesMax else {
            throw LarderError(
                .resourceExhausted,
                "\(what): \(count) bytes were sent, and \(bytesMax) are allowed")
        }
        guard let text else {
            throw MessageReader.malformed("\(what): the bytes are not valid UTF-8")
        }
        return text
    }

    /// The field as the name of an entity, a property, a variable: not empty, and not long.
    func name(_ what: String) throws(LarderError) -> String {
        guard count > 0 else { throw MessageReader.malformed("\(what) is missing") }
        return try text(what, bytesMax: Limits.nameBytesMax)
    }
}

extension ProtobufCBinaryData {
    /// The field's bytes, in the arena.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : len)
    }

    func text(_ what: String, bytesMax: Int = .max) throws(LarderError) -> String {
        try bytes.text(what, bytesMax: bytesMax)
    }

    func name(_ what: String) throws(LarderError) -> String { try bytes.name(what) }
}
