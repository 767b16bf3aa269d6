/// A version by which a server recognizes that an object which it has read is unchanged.
///
/// A reader returns the mark before it reads the object (``StoreReader/mark(of:properties:)``), and
/// the backend reports whether it is still current (``StoreBackend/isCurrent(_:)``). A mark is
/// replaced before a change of the object becomes visible. Objects may share a mark; a change of
/// one then invalidates what was read of the others. A server caches nothing of a store that has no
/// marks: such a store uses the default implementations below.
public struct ObjectStamp: Hashable, Sendable {
    /// Which of the store's marks this is; the store gives it a meaning.
    public let slot: Int
    public let version: UInt64

    public init(slot: Int, version: UInt64) {
        self.slot = slot
        self.version = version
    }
}

extension StoreReader {
    public func mark(of object: PersistentIdentifier, properties: [String]?) -> ObjectStamp? { nil }
}

extension StoreBackend {
    public func isCurrent(_ mark: ObjectStamp) -> Bool { false }
}
