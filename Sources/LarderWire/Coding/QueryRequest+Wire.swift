internal import CLarderProto
internal import LarderModel

extension QueryRequest {
    init(_ wire: Larder__V1__QueryRequest) throws(LarderError) {
        var parameters = QueryParameters(
            arguments: try MessageReader.list(
                wire.arguments, wire.n_arguments, "arguments", maximum: Limits.argumentsMax,
                QueryArgument.init),
            variables: try QueryArgument.named(wire.variables, wire.n_variables),
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
                try MessageReader.list(
                    list.items, list.n_items, "values of a list",
                    maximum: Limits.listElementsMax, Value.init))
            return
        default: break
        }
        throw MessageReader.malformed("an argument has no kind that is known")
    }

    /// The values of variables, by name.
    static func named(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__NamedArgument>?>?,
        _ count: Int
    ) throws(LarderError) -> [String: QueryArgument] {
        var variables: [String: QueryArgument] = [:]
        _ = try MessageReader.list(items, count, "variables", maximum: Limits.variablesMax) {
            (item) throws(LarderError) in
            let name = try item.name.name("a variable's name")
            guard let argument = item.argument?.pointee else {
                throw MessageReader.malformed("a variable has no value")
            }
            guard variables.updateValue(try QueryArgument(argument), forKey: name) == nil else {
                throw MessageReader.malformed("a variable is given twice")
            }
        }
        return variables
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
        wire.pointee.arguments = try list(parameters.arguments, argument)
        wire.pointee.n_variables = parameters.variables.count
        wire.pointee.variables = try variables(parameters.variables)
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

    /// In the order of their names, so that the same parameters are the same bytes.
    func variables(
        _ variables: [String: QueryArgument]
    ) throws(LarderError) -> UnsafeMutablePointer<
        UnsafeMutablePointer<Larder__V1__NamedArgument>?
    >? {
        try list(variables.sorted { $0.key < $1.key }) { (name, argument) throws(LarderError) in
            let item = make(larder__v1__named_argument__init)
            item.pointee.name = text(name)
            item.pointee.argument = try self.argument(argument)
            return item
        }
    }

    func argument(
        _ argument: QueryArgument
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Argument> {
        let wire = make(larder__v1__argument__init)
        switch argument {
        case .value(let value):
            wire.pointee.kind_case = LARDER__V1__ARGUMENT__KIND_VALUE
            wire.pointee.value = try self.value(value)
        case .list(let values):
            guard values.count <= Limits.listElementsMax else {
                throw MessageReader.tooMany(
                    "values of a list", values.count, maximum: Limits.listElementsMax)
            }
            let items = make(larder__v1__value_list__init)
            items.pointee.n_items = values.count
            items.pointee.items = try list(values, value)
            wire.pointee.kind_case = LARDER__V1__ARGUMENT__KIND_LIST
            wire.pointee.list = items
        }
        return wire
    }
}
