package import FoundationEssentials
package import LarderModel
internal import LarderWire

// The calls on which `LarderRecords` stands.

extension StoreClient {
    /// The whole result of a query, as elements that the closure makes of each batch and the
    /// store's identifier while the server reads the next one. If the connection is lost, it is
    /// called again for the first batch.
    package func elements<Element>(
        _ query: Query, _ parameters: QueryParameters,
        _ elements: (Batch, UUID) throws(LarderError) -> [Element]
    ) throws(LarderError) -> [Element] {
        let request = try QueryRequest(query, parameters)
        return try withoutActuallyEscaping(elements) { elements throws(LarderError) in
            try session.run(ListExchange(request, elements))
        }
    }

    /// The asynchronous form.
    package func elements<Element: Sendable>(
        _ query: Query, _ parameters: QueryParameters,
        _ elements: @escaping @Sendable (Batch, UUID) throws(LarderError) -> [Element]
    ) async throws(LarderError) -> [Element] {
        try await session.collect(
            ListQuery(query: query, parameters: parameters, elements: elements))
    }

    /// The time limit of a call.
    package var requestTimeout: Duration { session.options.requestTimeout }
}
