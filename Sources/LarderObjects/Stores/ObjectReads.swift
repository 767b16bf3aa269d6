internal import LarderModel

/// Reads of objects by identifier that are too large for one request.
enum ObjectReads {
    /// The batches of all identifiers. The request is divided as often as the number of identifiers
    /// or the size of the objects requires; then an entity has several batches.
    ///
    /// - Throws: the error of `read`; `resourceExhausted` for an object that is too large alone.
    static func batches(
        of identifiers: [PersistentIdentifier],
        _ read: ([PersistentIdentifier]) throws(LarderError) -> [Batch]
    ) throws(LarderError) -> [Batch] {
        if identifiers.isEmpty { return [] }
        if identifiers.count <= Limits.identifiersMax {
            do throws(LarderError) {
                return try read(identifiers)
            } catch {
                guard error.code == .resourceExhausted, identifiers.count > 1 else { throw error }
            }
        }
        let middle = identifiers.count / 2
        return try batches(of: Array(identifiers[..<middle]), read)
            + batches(of: Array(identifiers[middle...]), read)
    }
}
