public import LarderModel

extension ChangeSet {
    /// A hash that is equal for sets that ask for the same. The idempotency key, the author and the
    /// order of an object's properties do not matter.
    ///
    /// The hash is 64-bit FNV-1a of encoded parts of the set. It detects the accidental reuse of a
    /// key, and does not protect against deliberate collisions. Fields that a later version of the
    /// protocol adds do not change the digests of sets without these fields.
    ///
    /// - Throws: `resourceExhausted` for a set that is too large to be sent.
    public func digest() throws(LarderError) -> UInt64 {
        var digest = Digest()
        for change in changes { try digest.add(change) }
        var rest = self
        rest.changes = []
        rest.author = ""
        rest.idempotencyKey = ""
        try digest.add { buffer, writer throws(LarderError) in try buffer.changeSet(rest, writer) }
        return digest.checksum.value
    }
}

/// The digest of the parts of a set so far. Each part is encoded alone, so that nothing has to be
/// put in order.
private struct Digest {
    private(set) var checksum = Checksum()
    private let buffer = MessageBuffer()
    private let writer = ProtobufWriter(arena: Arena())

    mutating func add(_ change: Change) throws(LarderError) {
        switch change {
        case .insert(let identifier, let values, let edits):
            try add(encoded: .insert(identifier, values: [:], edits: edits))
            try add(values)
        case .update(let identifier, let ifVersion, let values, let base, let edits):
            try add(encoded: .update(identifier, ifVersion: ifVersion, values: [:], edits: edits))
            try add(values)
            try add(base)
        case .delete, .updateAll, .deleteAll: try add(encoded: change)
        }
    }

    mutating func add(
        _ encode: (MessageBuffer, ProtobufWriter) throws(LarderError) -> Void
    ) throws(LarderError) {
        buffer.removeAll()
        try encode(buffer, writer)
        checksum.append(number: buffer.bytes.checksum)
    }

    private mutating func add(encoded change: Change) throws(LarderError) {
        try add { buffer, writer throws(LarderError) in try buffer.change(change, writer) }
    }

    /// The sum of the properties' hashes is the same in every order.
    private mutating func add(_ values: [String: Value]) throws(LarderError) {
        var sum = UInt64(values.count)
        for (name, value) in values {
            buffer.removeAll()
            try buffer.property(name, value)
            sum &+= buffer.bytes.checksum
        }
        checksum.append(number: sum)
    }
}

extension RawSpan {
    fileprivate var checksum: UInt64 {
        var checksum = Checksum()
        for offset in 0..<byteCount { checksum.append(self[offset]) }
        return checksum.value
    }
}
