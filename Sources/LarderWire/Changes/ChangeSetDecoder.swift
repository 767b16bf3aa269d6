package import LarderModel

/// Decodes an encoded change set that is too long for memory, piece by piece. It reads no file: its
/// caller does.
package struct ChangeSetDecoder {
    /// The length of a piece, unless a change is longer. Decoded it takes several times as much.
    private static let pieceBytes = 256 << 10

    private let byteCount: Int
    private let changeBytesMax: Int
    private let arena = Arena()
    private var offset = 0
    private var changeCount = 0
    private var fieldsDigest = ChangeSetDigest()

    /// The digest of the pieces so far; see `ChangeSet.digest()`.
    package var digest: UInt64 { fieldsDigest.value }

    /// - Parameters:
    ///   - byteCount: The length of the encoded set.
    ///   - changeBytesMax: The longest change that is accepted.
    package init(byteCount: Int, changeBytesMax: Int) {
        self.byteCount = byteCount
        self.changeBytesMax = changeBytesMax
    }

    /// The next changes, and those options of the set that are encoded between them; nil after the
    /// last.
    ///
    /// - Parameter read: Returns a number of bytes at an offset, which are there.
    /// - Throws: errors of `read`; `malformedMessage` and others if the set cannot be decoded;
    ///   `resourceExhausted` for a change that is too long, or one too many.
    package mutating func next(
        _ read: (_ count: Int, _ offset: Int) throws(LarderError) -> [UInt8]
    ) throws(LarderError) -> ChangeSet? {
        let rest = byteCount - offset
        guard rest > 0 else { return nil }
        var bytes = try read(min(rest, Self.pieceBytes), offset)
        var whole = FieldScanner(bytes.span.bytes).wholeByteCount()
        if whole == 0 {
            guard let length = FieldScanner(bytes.span.bytes).firstFieldByteCount(), length <= rest
            else { throw .unreadable }
            guard length <= changeBytesMax else { throw tooLong(length) }
            bytes = try read(length, offset)
            whole = length
        }
        let fields = bytes.span.bytes.extracting(first: whole)
        try fieldsDigest.add(fields)
        arena.reset(bytesMax: Arena.bytesMax(forBodyOf: whole))
        defer { arena.reset() }
        let set = try ChangeSet(decoding: fields, arena)
        offset += whole
        changeCount += set.changes.count
        guard changeCount <= Limits.changesInPartsMax else {
            throw .tooMany("changes", changeCount, maximum: Limits.changesInPartsMax)
        }
        return set
    }

    private func tooLong(_ length: Int) -> LarderError {
        var violation = ChangeViolation(
            .resourceExhausted,
            "a change takes \(length) bytes; the server stores objects of at most "
                + "\(changeBytesMax) bytes")
        violation.change = changeCount
        return LarderError(violation, hint: "store the value in a file of its own")
    }
}
