public import LarderModel

extension ChangeSet {
    /// A hash that is equal for sets that ask for the same: that of the set's encoded bytes without
    /// its idempotency key and its author.
    ///
    /// The hash is 64-bit FNV-1a. It detects the accidental reuse of a key, and does not protect
    /// against deliberate collisions. Fields that a later version of the protocol adds do not
    /// change the digests of sets without these fields.
    ///
    /// - Throws: `resourceExhausted` for a set that is too large to be sent.
    public func digest() throws(LarderError) -> UInt64 {
        var set = self
        set.author = ""
        set.idempotencyKey = ""
        let buffer = MessageBuffer()
        try buffer.changeSet(set, ProtobufWriter(arena: Arena()))
        var checksum = Checksum()
        checksum.append(buffer.array)
        return checksum.value
    }
}
