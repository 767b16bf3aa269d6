internal import CLarderProto
internal import LarderModel

/// Reads the fields of messages that protobuf-c has unpacked.
///
/// Their pointers lead into the codec's arena, which is valid until the message has been decoded.
/// No function here stores a pointer.
enum ProtobufReader {
    /// The elements of a repeated message field, each decoded.
    static func list<Wire, Element>(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?, _ count: Int, _ what: String,
        maximum: Int, _ decode: (Wire) throws(LarderError) -> Element
    ) throws(LarderError) -> [Element] {
        guard count <= maximum else { throw .tooMany(what, count, maximum: maximum) }
        guard let items else { return [] }
        var result: [Element] = []
        result.reserveCapacity(count)
        for item in UnsafeBufferPointer(start: items, count: count) {
            guard let item else { throw .malformed("one of the \(what) is missing") }
            result.append(try decode(item.pointee))
        }
        return result
    }

    /// The elements of a repeated text field.
    static func texts(
        _ items: UnsafeMutablePointer<ProtobufCBinaryData>?, _ count: Int, _ what: String,
        maximum: Int, bytesMax: Int = .max
    ) throws(LarderError) -> [String] {
        guard count <= maximum else { throw .tooMany(what, count, maximum: maximum) }
        var result: [String] = []
        result.reserveCapacity(count)
        for item in UnsafeBufferPointer(start: items, count: items == nil ? 0 : count) {
            result.append(try item.text(what, bytesMax: bytesMax))
        }
        return result
    }

    /// The elements of a repeated number field.
    static func numbers<Number>(_ items: UnsafeMutablePointer<Number>?, _ count: Int) -> [Number] {
        Array(UnsafeBufferPointer(start: items, count: items == nil ? 0 : count))
    }
}

extension ProtobufCBinaryData {
    /// The field's bytes, in the arena.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            // The arena, and with it the memory, outlives the structure that is borrowed here.
            let field = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : len)
            return _overrideLifetime(field.bytes, borrowing: self)
        }
    }

    func text(_ what: String, bytesMax: Int = .max) throws(LarderError) -> String {
        try bytes.text(what, bytesMax: bytesMax)
    }

    func name(_ what: String) throws(LarderError) -> String { try bytes.name(what) }

    func columnName(_ what: String) throws(LarderError) -> String { try bytes.columnName(what) }
}
