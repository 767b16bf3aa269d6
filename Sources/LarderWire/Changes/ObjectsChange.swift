internal import CLarderProto
internal import LarderModel

// The message `ObjectsChange`. protobuf-c codes its expressions, which the arena holds until then.

extension ObjectSelection {
    static func objectsChange(
        decoding bytes: RawSpan, _ arena: Arena
    ) throws(LarderError) -> (ObjectSelection, [PropertyAssignment]) {
        var selection = ObjectSelection("")
        var assignments: [PropertyAssignment] = []
        var entity = bytes.extracting(first: 0)
        var fields = FieldScanner(bytes)
        selection.arguments.reserveCapacity(
            try fields.count(of: 4, "arguments", maximum: Limits.argumentsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): entity = bytes
            case (2, .bytes(let bytes)):
                if selection.predicate != nil { throw .repeated("the predicate of a change") }
                selection.predicate = try arena.decode(bytes, larder__v1__term__unpack) {
                    (term) throws(LarderError) in try QueryTerm(term, "the predicate")
                }
            case (3, .bytes(let bytes)):
                guard assignments.count < Limits.queryColumnsMax else {
                    throw .tooMany(
                        "assignments", assignments.count + 1, maximum: Limits.queryColumnsMax)
                }
                assignments.append(
                    try arena.decode(
                        bytes, larder__v1__named_term__unpack, PropertyAssignment.init))
            case (4, .bytes(let bytes)):
                selection.arguments.append(try QueryArgument(decoding: bytes))
            case (5, .number(let number)): selection.argumentsAreText = number != 0
            case (6, .bytes(let bytes)): try selection.variables.insertVariable(decoding: bytes)
            case (7, .number(let number)): selection.wantsIdentifiers = number != 0
            case (8, .number(let number)): selection.includesSubentities = number == 0
            case (9, .number(let number)): selection.assumesUTC = number != 0
            case (10, .bytes(let bytes)):
                guard selection.sort.count < Limits.queryColumnsMax else {
                    throw .tooMany(
                        "sort keys", selection.sort.count + 1, maximum: Limits.queryColumnsMax)
                }
                selection.sort.append(
                    try arena.decode(bytes, larder__v1__sort_key__unpack, SortKey.init))
            case (11, .number(let number)): selection.limit = Int64(bitPattern: number)
            case (1...11, _): throw .unreadable
            default: break
            }
        }
        selection.entityName = try entity.name("the entity of a change")
        return (selection, assignments)
    }
}

extension PropertyAssignment {
    fileprivate init(_ wire: Larder__V1__NamedTerm) throws(LarderError) {
        self.init(
            try wire.name.name("the property of an assignment"),
            try QueryTerm.required(wire.term, "an assignment"))
    }
}

extension MessageBuffer {
    /// Constants in expressions become arguments.
    func objectsChange(
        _ field: UInt32, _ selection: ObjectSelection, _ assignments: [PropertyAssignment],
        _ writer: ProtobufWriter
    ) throws(LarderError) {
        for (name, count) in [
            ("assignments", assignments.count), ("sort keys", selection.sort.count),
        ] where count > Limits.queryColumnsMax {
            throw .tooMany(name, count, maximum: Limits.queryColumnsMax)
        }
        var flattener = ExpressionFlattener(writer: writer, arguments: selection.arguments)
        try message(field) { () throws(LarderError) in
            text(1, selection.entityName)
            if let predicate = try writer.term(selection.predicate, &flattener) {
                message(2, packing: predicate)
            }
            for assignment in assignments {
                let column = QueryColumn(assignment.term, name: assignment.name)
                message(3, packing: try writer.column(column, &flattener))
            }
            let sort = try selection.sort.map { (key) throws(LarderError) in
                try writer.sortKey(key, &flattener)
            }
            let parameters = QueryParameters(
                arguments: flattener.arguments, variables: selection.variables)
            try parameters.checkLimits()
            for argument in parameters.arguments { try self.argument(4, argument) }
            bool(5, selection.argumentsAreText)
            try variables(6, parameters.variables)
            bool(7, selection.wantsIdentifiers)
            bool(8, !selection.includesSubentities)
            bool(9, selection.assumesUTC)
            for key in sort { message(10, packing: key) }
            if let limit = selection.limit { member(11, UInt64(bitPattern: limit)) }
        }
    }
}
