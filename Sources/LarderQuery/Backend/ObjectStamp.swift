import LarderModel

/// A version by which a server recognizes that an object which it has read is unchanged.
///
/// A reader returns the stamp before it reads the object
/// (``StoreReader/stamp(of:properties:)``), and the backend reports whether it is still current
/// (``StoreBackend/isCurrent(_:)``). A stamp is replaced before a change of the object becomes
/// visible. Objects may share a stamp; a change of one then invalidates what was read of the
/// others. A server caches nothing of a store that has no stamps: such a store uses the default
/// implementations below.
package struct ObjectStamp: Hashable, Sendable {
    /// Which of the store's stamps this is; the store gives it a meaning.
    package let slot: Int
    package let version: UInt64

    package init(slot: Int, version: UInt64) {
        self.slot = slot
        self.version = version
    }
}

extension StoreReader {
    package func stamp(of object: PersistentIdentifier, properties: [String]?) -> ObjectStamp? {
        nil
    }
}

extension StoreBackend {
    package func isCurrent(_ stamp: ObjectStamp) -> Bool { false }
}
