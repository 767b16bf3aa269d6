import LarderModel
internal import LarderWire

/// Results as the batches in which they arrive, for code that keeps rows as columns. Blocking.
extension StoreClient {
    /// The whole result of a query.
    package func batches(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws(LarderError) -> [Batch] {
        try elements(query, parameters) { batch, _ in [batch] }
    }

    /// The existing objects among these, one batch per entity.
    package func batches(
        of identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        if identifiers.isEmpty { return [] }
        return try session.perform(.batches(of: identifiers, properties: properties))
    }
}

extension Operation where Output == [Batch] {
    fileprivate static func batches(
        of identifiers: [PersistentIdentifier], properties: [String]?
    ) -> Self {
        Operation(request: .get(identifiers, properties: properties)) {
            reply, _ throws(LarderError) in
            guard case .encodedBatches(let rows, more: false) = reply else { return nil }
            return try rows.batches()
        }
    }
}
