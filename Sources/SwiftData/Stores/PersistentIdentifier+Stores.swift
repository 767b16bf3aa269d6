public import LarderModel

extension PersistentIdentifier {
    /// The identifier that a store gives an object.
    ///
    /// Its ``storeIdentifier`` is that of the store. An integer key from 1 is the key of the
    /// identifier. Of other keys it has a hash, which is the same in every process.
    ///
    /// - Throws: `malformedIdentifier` for a name that no entity can have.
    public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier {
        let identifier = PersistentIdentifier(
            store: StoreIdentifiers.shared.remember(storeIdentifier), entityName: entityName,
            key: key(of: primaryKey))
        _ = try PersistentIdentifier(uriRepresentation: identifier.uriRepresentation)
        return identifier
    }

    private static func key<T: CustomStringConvertible>(of primaryKey: T) -> Int64 {
        if let integer = primaryKey as? any BinaryInteger, let key = Int64(exactly: integer),
            key > 0, key < .max
        {
            return key
        }
        let hash = StoreIdentifiers.hash(String(safelyDescribing: primaryKey), 3)
        let key = Int64(truncatingIfNeeded: hash & 0x7FFF_FFFF_FFFF_FFFF)
        return key == 0 || key == .max ? 1 : key
    }
}
