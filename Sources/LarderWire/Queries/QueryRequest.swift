package import LarderModel

/// A query: its shape, which is planned once, and the values of this call.
package struct QueryRequest: Hashable, Sendable {
    package var shape: QueryShape
    package var parameters: QueryParameters
    /// The number of batches that the server may send before the client grants more with
    /// ``Request/credit(requestID:batches:)``; 0 sets no limit, and only the socket's flow control
    /// applies.
    package var credit: UInt32

    package init(shape: QueryShape, parameters: QueryParameters, credit: UInt32 = 0) {
        self.shape = shape
        self.parameters = parameters
        self.credit = credit
    }

    /// Encodes the query's shape. Constants in its expressions become arguments.
    ///
    /// - Throws: `resourceExhausted` for more than `Limits` allows.
    package init(
        _ query: Query, _ parameters: QueryParameters = QueryParameters(), credit: UInt32 = 0
    ) throws(LarderError) {
        self.parameters = parameters
        self.credit = credit
        shape = try QueryShape(query, &self.parameters)
    }
}

// The message `QueryRequest`.

extension QueryRequest {
    init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(shape: QueryShape(bytes: []), parameters: QueryParameters())
        var fields = FieldScanner(bytes)
        parameters.arguments.reserveCapacity(
            try fields.count(of: 2, "arguments", maximum: Limits.argumentsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): shape = QueryShape(bytes: bytes.array)
            case (2, .bytes(let bytes)):
                parameters.arguments.append(try QueryArgument(decoding: bytes))
            case (3, .number(let number)): parameters.argumentsAreText = number != 0
            case (4, .number(let number)):
                let limit = Int64(bitPattern: number)
                guard limit >= 0 else { throw .malformed("the limit is negative") }
                parameters.limit = limit
            case (5, .number(let number)):
                let offset = Int64(bitPattern: number)
                guard offset >= 0 else { throw .malformed("the offset is negative") }
                parameters.offset = offset
            case (6, .number(let number)): credit = UInt32(truncatingIfNeeded: number)
            case (7, .bytes(let bytes)):
                try parameters.variables.insertVariable(decoding: bytes)
            case (8, .bytes(let bytes)):
                guard parameters.after.count <= Limits.queryColumnsMax else {
                    throw .tooMany(
                        "values of a keyset cursor", parameters.after.count + 1,
                        maximum: Limits.queryColumnsMax + 1)
                }
                parameters.after.append(try Value(decoding: bytes))
            case (9, .number(let number)): parameters.assumesUTC = number != 0
            case (1...9, _): throw .unreadable
            default: break
            }
        }
    }
}

extension MessageBuffer {
    func query(_ query: QueryRequest) throws(LarderError) {
        let parameters = query.parameters
        if !query.shape.bytes.isEmpty { query.shape.bytes.withUnsafeBytes { element(1, $0) } }
        for argument in parameters.arguments { try self.argument(2, argument) }
        bool(3, parameters.argumentsAreText)
        if let limit = parameters.limit { member(4, UInt64(bitPattern: limit)) }
        if let offset = parameters.offset { member(5, UInt64(bitPattern: offset)) }
        number(6, UInt64(query.credit))
        try variables(7, parameters.variables)
        for value in parameters.after { try self.value(8, value) }
        bool(9, parameters.assumesUTC)
    }
}
