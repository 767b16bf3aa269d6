internal import FoundationEssentials
internal import LarderModel

// Typed reads of a field's bytes. No pointer leaves the closure that it is passed to.

extension RawSpan {
    @inline(__always)
    subscript(offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// The little-endian number at the start of the bytes, which may be unaligned.
    @inline(__always)
    func number<Number: FixedWidthInteger & BitwiseCopyable>(as type: Number.Type) -> Number {
        Number(littleEndian: unsafeLoadUnaligned(as: type))
    }

    /// The little-endian word at an offset.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    var array: [UInt8] { withUnsafeBytes { Array($0) } }

    var data: Data { withUnsafeBytes { Data($0) } }

    /// The bytes as text; nil if they are not valid UTF-8.
    var text: String? {
        withUnsafeBytes { bytes in
            // Names are short and ASCII, and the generic validation is slow for these.
            if bytes.count <= Self.shortBytesMax, bytes.allSatisfy({ $0 < 0x80 }) {
                return String(decoding: bytes, as: UTF8.self)
            }
            let units = bytes.assumingMemoryBound(to: UInt8.self)
            guard let valid = try? UTF8Span(validating: units.span) else { return nil }
            return String(copying: valid)
        }
    }

    private static var shortBytesMax: Int { 64 }

    /// The field as text.
    ///
    /// - Parameter what: Names the field in the error.
    func text(_ what: String, bytesMax: Int = .max) throws(LarderError) -> String {
        guard byteCount <= bytesMax else {
            throw LarderError(
                .resourceExhausted,
                "\(what) has \(byteCount) bytes; at most \(bytesMax) are allowed")
        }
        guard let text else { throw .malformed("\(what) is not valid UTF-8") }
        return text
    }

    /// The field as the name of an entity, a property or a variable, which must not be empty.
    func name(_ what: String) throws(LarderError) -> String {
        guard byteCount > 0 else { throw .malformed("\(what) is missing") }
        return try text(what, bytesMax: Limits.nameBytesMax)
    }

    /// The field as the name of a result column, which may be a whole expression.
    func columnName(_ what: String) throws(LarderError) -> String {
        guard byteCount > 0 else { throw .malformed("\(what) is missing") }
        return try text(what, bytesMax: Self.keyPathBytesMax)
    }

    static var keyPathBytesMax: Int { Limits.keyPathStepsMax * (Limits.nameBytesMax + 1) }

    /// A message of a name (field 1) and what is named (field 2), such as `PropertyValue`.
    ///
    /// - Parameters:
    ///   - nameText: Describes the name in errors. A literal, so that it costs nothing.
    ///   - contentText: Describes what is named in errors.
    func named<Content>(
        _ nameText: String, _ contentText: String,
        _ decode: (RawSpan) throws(LarderError) -> Content
    ) throws(LarderError) -> (name: String, content: Content) {
        var name = extracting(first: 0)
        var content: Content?
        var fields = FieldScanner(self)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): name = bytes
            case (2, .bytes(let bytes)):
                if content != nil { throw .repeated(contentText) }
                content = try decode(bytes)
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        guard let content else { throw .malformed("\(contentText) is missing") }
        return (try name.name(nameText), content)
    }

    func uuid(_ what: String) throws(LarderError) -> UUID {
        guard byteCount == MemoryLayout<uuid_t>.size else {
            throw .malformed("\(what) has \(byteCount) bytes; it must have 16")
        }
        return UUID(uuid: withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
