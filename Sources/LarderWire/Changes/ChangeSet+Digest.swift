package import LarderModel

extension ChangeSet {
    /// A hash that is equal for sets that ask for the same. The idempotency key, the author and the
    /// order of an object's properties do not matter.
    ///
    /// The hash is 64-bit FNV-1a, with words instead of bytes, of the encoded set. It detects the
    /// accidental reuse of a key, and does not protect against deliberate collisions. Fields that a
    /// later version of the protocol adds do not change the digests of sets without these fields.
    ///
    /// - Throws: `resourceExhausted` for a set that is too large to be sent.
    package func digest() throws(LarderError) -> UInt64 {
        let buffer = MessageBuffer()
        try buffer.changeSet(self, ProtobufWriter(arena: Arena()))
        return try buffer.bytes.changeSetDigest()
    }
}

extension WireCodec {
    /// The digest of the change set in the frame of a save.
    ///
    /// - Throws: as ``decodeRequest(_:)`` does.
    package func changeSetDigest(_ frame: RawSpan) throws(WireFailure) -> UInt64 {
        let header = try EnvelopeHeader(frame)
        do throws(LarderError) {
            return try header.body.changeSetDigest()
        } catch {
            throw header.failure(error)
        }
    }
}

/// The digest of an encoded change set whose fields come one after the other.
struct ChangeSetDigest {
    private(set) var value = UInt64.firstHash

    /// - Parameter fields: Whole fields of the set.
    mutating func add(_ fields: RawSpan) throws(LarderError) {
        var fields = FieldScanner(fields)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let change)): value = value.hashed(with: try change.changeDigest())
            case (4...5, _), (7, _): break
            default: value = value.hashed(with: field.digest)
            }
        }
    }
}

extension RawSpan {
    fileprivate func changeSetDigest() throws(LarderError) -> UInt64 {
        var digest = ChangeSetDigest()
        try digest.add(self)
        return digest.value
    }

    /// The sum of the properties' hashes is the same in every order.
    fileprivate func changeDigest() throws(LarderError) -> UInt64 {
        var hash = UInt64.firstHash
        var properties: UInt64 = 0
        var fields = FieldScanner(self)
        while let field = try fields.next() {
            switch field.number {
            case 4...5: properties &+= field.digest
            default: hash = hash.hashed(with: field.digest)
            }
        }
        return hash.hashed(with: properties)
    }

    fileprivate var digest: UInt64 {
        var hash = UInt64.firstHash.hashed(with: UInt64(byteCount))
        var offset = 0
        while offset + 8 <= byteCount {
            hash = hash.hashed(with: word(at: offset))
            offset += 8
        }
        while offset < byteCount {
            hash = hash.hashed(with: UInt64(self[offset]))
            offset += 1
        }
        return hash
    }
}

extension Field {
    fileprivate var digest: UInt64 {
        switch content {
        case .number(let content): content.hashed(with: UInt64(number))
        case .fixed(let bytes), .bytes(let bytes): bytes.digest.hashed(with: UInt64(number))
        }
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
