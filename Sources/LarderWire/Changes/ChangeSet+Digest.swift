public import LarderModel

extension ChangeSet {
    /// A hash that is equal for sets that ask for the same. The idempotency key, the author and the
    /// order of an object's properties do not matter.
    ///
    /// The hash is 64-bit FNV-1a, with words instead of bytes, of encoded parts of the set. It
    /// detects the accidental reuse of a key, and does not protect against deliberate collisions.
    /// Fields that a later version of the protocol adds do not change the digests of sets without
    /// these fields.
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
        return digest.hash
    }
}

/// The digest of the parts of a set so far. Each part is encoded alone, so that nothing has to be
/// put in order.
private struct Digest {
    private(set) var hash = UInt64.firstHash
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
        hash = hash.hashed(with: buffer.bytes.hash)
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
            sum &+= buffer.bytes.hash
        }
        hash = hash.hashed(with: sum)
    }
}

extension RawSpan {
    fileprivate var hash: UInt64 {
        var hash = UInt64.firstHash.hashed(with: UInt64(byteCount))
        for start in stride(from: 0, through: byteCount - 8, by: 8) {
            let word = extracting(start..<start + 8).number(as: UInt64.self)
            hash = hash.hashed(with: word)
        }
        for offset in byteCount & ~7..<byteCount { hash = hash.hashed(with: UInt64(self[offset])) }
        return hash
    }
}

extension UInt64 {
    fileprivate static var firstHash: UInt64 { 0xCBF2_9CE4_8422_2325 }

    fileprivate func hashed(with word: UInt64) -> UInt64 {
        let product = (self ^ word) &* 0x0000_0100_0000_01B3
        // The upper bits of a word would only change those of the hash.
        return product ^ (product >> 32)
    }
}
