internal import CLarderProto
internal import LarderModel

extension QueryRequest {
    init(_ wire: Larder__V1__QueryRequest) throws(LarderError) {
        var parameters = QueryParameters(
            arguments: try MessageReader.list(
                wire.arguments, wire.n_arguments, "arguments", maximum: Limits.argumentsMax,
                Value.init),
            argumentsAreText: wire.arguments_are_text != 0,
            after: try MessageReader.list(
                wire.after, wire.n_after, "values of a place", maximum: Limits.queryColumnsMax + 1,
                Value.init))
        if wire.limit_presence_case == LARDER__V1__QUERY_REQUEST__LIMIT_PRESENCE_LIMIT {
            guard wire.limit >= 0 else { throw MessageReader.malformed("the limit is negative") }
            parameters.limit = wire.limit
        }
        if wire.offset_presence_case == LARDER__V1__QUERY_REQUEST__OFFSET_PRESENCE_OFFSET {
            guard wire.offset >= 0 else { throw MessageReader.malformed("the offset is negative") }
            parameters.offset = wire.offset
        }
        self.init(shape: Array(wire.shape.bytes), parameters: parameters, credit: wire.credit)
    }
}

extension MessageWriter {
    func query(
        _ query: QueryRequest
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__QueryRequest> {
        let wire = make(larder__v1__query_request__init)
        let parameters = query.parameters
        wire.pointee.shape = pointing(at: query.shape)
        wire.pointee.n_arguments = parameters.arguments.count
        wire.pointee.arguments = try list(parameters.arguments, value)
        wire.pointee.arguments_are_text = parameters.argumentsAreText ? 1 : 0
        if let limit = parameters.limit {
            wire.pointee.limit_presence_case = LARDER__V1__QUERY_REQUEST__LIMIT_PRESENCE_LIMIT
            wire.pointee.limit = limit
        }
        if let offset = parameters.offset {
            wire.pointee.offset_presence_case = LARDER__V1__QUERY_REQUEST__OFFSET_PRESENCE_OFFSET
            wire.pointee.offset = offset
        }
        wire.pointee.credit = query.credit
        wire.pointee.n_after = parameters.after.count
        wire.pointee.after = try list(parameters.after, value)
        return wire
    }
}
