internal import CLarderProto
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
        let arena = Arena()
        let message = try MessageWriter(arena: arena).save(set)
        // The message points into arrays of the set, which has to outlive it.
        let bytes = withExtendedLifetime((set, arena)) {
            let size = larder__v1__change_set__get_packed_size(message)
            return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = larder__v1__change_set__pack(message, buffer.baseAddress)
            }
        }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }
}
