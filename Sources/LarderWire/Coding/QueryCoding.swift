internal import CLarderProto
public import LarderModel

/// The shape of a query, apart from its values.
public enum QueryCoding {
    /// Encodes a query. Constants in its trees are lifted out: they follow the arguments that the
    /// parameters already hold, and the shape refers to them by place.
    ///
    /// The same query gives the same bytes, whatever its constants.
    public static func encode(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> (shape: [UInt8], parameters: QueryParameters) {
        let arena = Arena()
        let writer = MessageWriter(arena: arena)
        var flattener = ExpressionFlattener(writer: writer, arguments: parameters.arguments)
        let message = try writer.shape(query, &flattener)
        var parameters = parameters
        parameters.arguments = flattener.arguments
        try parameters.checkLimits()
        // The message and all it points to stand in the arena: no array is pointed at from a shape.
        let shape = withExtendedLifetime(arena) {
            let size = larder__v1__query__get_packed_size(message)
            return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = larder__v1__query__pack(message, buffer.baseAddress)
            }
        }
        return (shape, parameters)
    }

    /// Decodes a shape that came from outside.
    ///
    /// - Throws: `malformedMessage` for bytes that are no query, `resourceExhausted` past a limit.
    public static func decode(_ shape: [UInt8]) throws(LarderError) -> Query {
        let arena = Arena()
        arena.reset(bytesMax: Arena.bytesMax(forBodyOf: shape.count))
        defer { withExtendedLifetime(arena) {} }
        return try shape.withUnsafeBufferPointer { (bytes) throws(LarderError) -> Query in
            try Query(
                arena.unpack(UnsafeRawBufferPointer(bytes), larder__v1__query__unpack))
        }
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
                predicate: try QueryTerm.optional(count.predicate, "a predicate"),
                includesSubentities: count.exclude_subentities == 0)
        case LARDER__V1__QUERY__KIND_AGGREGATE:
            guard let aggregate = wire.aggregate else { throw Query.unknownKind }
            self = .aggregate(try Aggregate(aggregate.pointee))
        default:
            throw Query.unknownKind
        }
    }

    private static let unknownKind = MessageReader.malformed("a query has no kind that is known")
}

extension MessageWriter {
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
