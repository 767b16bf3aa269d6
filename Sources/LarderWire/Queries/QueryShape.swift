internal import CLarderProto
package import LarderModel

/// A query without its values, as it is encoded on the wire: the message `Query`.
///
/// A server keys its plans by shape. The same query has the same shape, whatever its constants, so
/// a shape that has a plan is not decoded again.
package struct QueryShape: Hashable, Sendable {
    let bytes: [UInt8]

    /// - Parameter bytes: Need not be a valid `Query`; ``decoded()`` checks them.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Encodes a query. The constants in its expressions are appended to the arguments of the
    /// parameters, and the shape refers to them by index.
    ///
    /// - Throws: `resourceExhausted` for more than `Limits` allows.
    package init(_ query: Query, _ parameters: inout QueryParameters) throws(LarderError) {
        let arena = Arena()
        let writer = ProtobufWriter(arena: arena)
        var flattener = ExpressionFlattener(writer: writer, arguments: parameters.arguments)
        let message = try writer.shape(query, &flattener)
        parameters.arguments = flattener.arguments
        try parameters.checkLimits()
        // The arena owns the message and everything that it points to.
        bytes = withExtendedLifetime(arena) {
            let size = larder__v1__query__get_packed_size(message)
            return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = larder__v1__query__pack(message, buffer.baseAddress)
            }
        }
    }

    package var byteCount: Int { bytes.count }

    /// The query, checked.
    ///
    /// - Throws: `malformedMessage` if the bytes are not a query, `resourceExhausted` for more than
    ///   `Limits` allows.
    package func decoded() throws(LarderError) -> Query {
        let arena = Arena()
        arena.reset(bytesMax: Arena.bytesMax(forBodyOf: bytes.count))
        return try arena.decode(bytes.span.bytes, larder__v1__query__unpack, Query.init)
    }
}

extension Query {
    init(_ wire: Larder__V1__Query) throws(LarderError) {
        switch wire.kind_case {
        case LARDER__V1__QUERY__KIND_FETCH:
            guard let fetch = wire.fetch else { throw Query.unknownKind }
            self = .fetch(try Fetch(fetch.pointee))
        case LARDER__V1__QUERY__KIND_COUNT:
            guard let count = wire.count?.pointee else { throw Query.unknownKind }
            self = .count(
                entityName: try count.entity.name("the entity of a query"),
                predicate: try QueryTerm.optional(count.predicate, "the predicate"),
                includesSubentities: count.exclude_subentities == 0)
        case LARDER__V1__QUERY__KIND_AGGREGATE:
            guard let aggregate = wire.aggregate else { throw Query.unknownKind }
            self = .aggregate(try Aggregate(aggregate.pointee))
        default:
            throw Query.unknownKind
        }
    }

    private static let unknownKind = LarderError.malformed("the query has no known kind")
}

extension ProtobufWriter {
    fileprivate func shape(
        _ query: Query, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Query> {
        let wire = make(larder__v1__query__init)
        switch query {
        case .fetch(let fetch):
            wire.pointee.kind_case = LARDER__V1__QUERY__KIND_FETCH
            wire.pointee.fetch = try self.fetch(fetch, &flattener)
        case .count(let entityName, let predicate, let includesSubentities):
            let count = make(larder__v1__count_query__init)
            count.pointee.entity = text(entityName)
            count.pointee.predicate = try term(predicate, &flattener)
            count.pointee.exclude_subentities = includesSubentities ? 0 : 1
            wire.pointee.kind_case = LARDER__V1__QUERY__KIND_COUNT
            wire.pointee.count = count
        case .aggregate(let aggregate):
            wire.pointee.kind_case = LARDER__V1__QUERY__KIND_AGGREGATE
            wire.pointee.aggregate = try self.aggregate(aggregate, &flattener)
        }
        return wire
    }
}
