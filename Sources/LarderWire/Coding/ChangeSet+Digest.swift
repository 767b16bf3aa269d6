public import LarderModel

extension ChangeSet {
    /// A number that is equal for sets that ask for the same: made of the set's canonical bytes
    /// without its idempotency key and its author, who is not what is asked for.
    ///
    /// FNV-1a, 64 bits: it finds a key that was used twice by mistake, and is no protection against
    /// someone who wants a collision. A field that a later version of the protocol adds leaves the
    /// digests of sets without it as they are.
    ///
    /// - Throws: `resourceExhausted` for a set that is too large to be sent.
    public func digest() throws(LarderError) -> UInt64 {
        var set = self
        set.author = ""
        set.idempotencyKey = ""
        let bytes = MessageBytes()
        try MessageWriter(arena: Arena()).save(set, into: bytes)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes.bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }
}
