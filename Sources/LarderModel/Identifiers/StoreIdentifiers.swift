package import FoundationEssentials
import Synchronization

/// The UUIDs of stores that programs write, whose identifiers may be any text.
///
/// A ``PersistentIdentifier`` has the UUID of its store, so that the identifiers of all stores have
/// one size. For a text that is no UUID it is a hash of the text, the same in every process. The
/// texts are remembered, so that ``PersistentIdentifier/storeIdentifier`` is the store's own.
package final class StoreIdentifiers: Sendable {
    /// The identifiers of the stores of this process.
    package static let shared = StoreIdentifiers()

    /// Limits on what is remembered, since decoded identifiers have texts from outside. A store
    /// beyond them has its UUID as its identifier.
    package static let countMax = 16_384
    package static let textBytesMax = 1_024

    private let texts = Mutex<[UUID: String]>([:])

    package init() {}

    /// The UUID of a store. A UUID in upper case is its own.
    package static func uuid(of text: String) -> UUID {
        if let uuid = UUID(uuidString: text), uuid.uuidString == text { return uuid }
        var bytes: [UInt8] = []
        for seed: UInt64 in 1...2 {
            let part = hash(text, seed)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: part >> UInt64(shift)))
            }
        }
        bytes[6] = bytes[6] & 0x0F | hashVersion << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Remembers the text of a store.
    ///
    /// - Returns: its UUID.
    @discardableResult
    package func remember(_ text: String) -> UUID {
        let uuid = Self.uuid(of: text)
        guard text != uuid.uuidString, text.utf8.count <= Self.textBytesMax else { return uuid }
        texts.withLock { texts in
            if texts.count < Self.countMax { texts[uuid] = text }
        }
        return uuid
    }

    /// The text of a store if it is known, or its UUID.
    package func text(of uuid: UUID) -> String {
        guard uuid.uuid.6 >> 4 == Self.hashVersion, let text = texts.withLock({ $0[uuid] })
        else { return uuid.uuidString }
        return text
    }

    /// The version of UUIDs whose contents a program decides.
    private static let hashVersion: UInt8 = 8

    /// FNV-1a with a final mix, since its high bits alone are weak for short texts.
    package static func hash(_ text: String, _ seed: UInt64) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 &+ seed &* 0x9E37_79B9_7F4A_7C15
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
