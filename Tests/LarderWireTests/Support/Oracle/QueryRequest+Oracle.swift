import CLarderProto
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c what the library decodes by hand.

extension QueryRequest {
    init(_ wire: Larder__V1__QueryRequest) throws(LarderError) {
        var parameters = QueryParameters(
            arguments: try ProtobufReader.list(
                wire.arguments, wire.n_arguments, "arguments", maximum: Limits.argumentsMax,
                QueryArgument.init),
            variables: try QueryArgument.named(wire.variables, wire.n_variables),
            argumentsAreText: wire.arguments_are_text != 0, assumesUTC: wire.assumes_utc != 0,
            after: try ProtobufReader.list(
                wire.after, wire.n_after, "values of a keyset cursor",
                maximum: Limits.queryColumnsMax + 1,
                Value.init))
        if wire.limit_presence_case == LARDER__V1__QUERY_REQUEST__LIMIT_PRESENCE_LIMIT {
            guard wire.limit >= 0 else { throw .malformed("the limit is negative") }
            parameters.limit = wire.limit
        }
        if wire.offset_presence_case == LARDER__V1__QUERY_REQUEST__OFFSET_PRESENCE_OFFSET {
            guard wire.offset >= 0 else { throw .malformed("the offset is negative") }
            parameters.offset = wire.offset
        }
        self.init(
            shape: QueryShape(bytes: wire.shape.bytes.array), parameters: parameters,
            credit: wire.credit)
    }
}

extension QueryArgument {
    init(_ wire: Larder__V1__Argument) throws(LarderError) {
        switch wire.kind_case {
        case LARDER__V1__ARGUMENT__KIND_VALUE:
            guard let value = wire.value?.pointee else { break }
            self = .value(try Value(value))
            return
        case LARDER__V1__ARGUMENT__KIND_LIST:
            guard let list = wire.list?.pointee else { break }
            self = .list(
                try ProtobufReader.list(
                    list.items, list.n_items, "values of a list",
                    maximum: Limits.listElementsMax, Value.init))
            return
        default: break
        }
        throw .malformed("an argument has no kind that is known")
    }

    /// The values of variables, by name.
    static func named(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__NamedArgument>?>?,
        _ count: Int
    ) throws(LarderError) -> [String: QueryArgument] {
        var variables: [String: QueryArgument] = [:]
        _ = try ProtobufReader.list(items, count, "variables", maximum: Limits.variablesMax) {
            (item) throws(LarderError) in
            let name = try item.name.name("a variable's name")
            guard let argument = item.argument?.pointee else {
                throw .malformed("a variable has no value")
            }
            guard variables.updateValue(try QueryArgument(argument), forKey: name) == nil else {
                throw .malformed("a variable is given twice")
            }
        }
        return variables
    }
}
