internal import Foundation
public import LarderModel

extension PersistentIdentifier {
    /// The identifier that a store gives an object.
    ///
    /// An integer key from 1 is the key of the identifier. Of other keys it has a hash, which is
    /// the same in every process; so is the UUID of a store whose identifier is no UUID.
    ///
    /// - Throws: `malformedIdentifier` for a name that no entity can have.
    public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier {
        let identifier = PersistentIdentifier(
            store: StoreIdentity.uuid(of: storeIdentifier), entityName: entityName,
            key: StoreIdentity.key(of: primaryKey))
        _ = try PersistentIdentifier(uriRepresentation: identifier.uriRepresentation)
        return identifier
    }
}

/// The identifiers of stores and objects as numbers of fixed size.
enum StoreIdentity {
    static func uuid(of storeIdentifier: String) -> UUID {
        if let uuid = UUID(uuidString: storeIdentifier) { return uuid }
        var bytes: [UInt8] = []
        for seed: UInt64 in 1...2 {
            let part = hash(storeIdentifier, seed)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: part >> UInt64(shift)))
            }
        }
        // Version 8 is that of UUIDs with contents of their own.
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    static func key<T: CustomStringConvertible>(of primaryKey: T) -> Int64 {
        if let integer = primaryKey as? any BinaryInteger, let key = Int64(exactly: integer),
            key > 0, key < .max
        {
            return key
        }
        let key = Int64(truncatingIfNeeded: hash(primaryKey.description, 3) & 0x7FFF_FFFF_FFFF_FFFF)
        return key == 0 || key == .max ? 1 : key
    }

    /// FNV-1a with a final mix, since its high bits alone are weak for short texts.
    private static func hash(_ text: String, _ seed: UInt64) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 &+ seed &* 0x9E37_79B9_7F4A_7C15
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
