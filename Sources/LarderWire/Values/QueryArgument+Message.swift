internal import LarderModel

// The messages `Argument`, `ValueList` and `NamedArgument`.

extension QueryArgument {
    init(decoding bytes: RawSpan) throws(LarderError) {
        var argument: QueryArgument?
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1...2, .bytes(let bytes)):
                if argument != nil { throw .repeated("the kind of an argument") }
                argument =
                    field.number == 1
                    ? .value(try Value(decoding: bytes)) : .list(try Self.list(decoding: bytes))
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        guard let argument else { throw .malformed("the argument has no known kind") }
        self = argument
    }

    private static func list(decoding bytes: RawSpan) throws(LarderError) -> [Value] {
        var fields = FieldScanner(bytes)
        var values: [Value] = []
        values.reserveCapacity(
            try fields.count(of: 1, "values in a list", maximum: Limits.listElementsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): values.append(try Value(decoding: bytes))
            case (1, _): throw .unreadable
            default: break
            }
        }
        return values
    }
}

extension [String: QueryArgument] {
    /// Adds the variable that a `NamedArgument` gives.
    mutating func insertVariable(decoding bytes: RawSpan) throws(LarderError) {
        guard count < Limits.variablesMax else {
            throw .tooMany("variables", count + 1, maximum: Limits.variablesMax)
        }
        let (name, argument) = try bytes.named(
            "the name of a variable", "the value of a variable"
        ) {
            bytes throws(LarderError) in try QueryArgument(decoding: bytes)
        }
        guard updateValue(argument, forKey: name) == nil else {
            throw .malformed("the variable is present twice")
        }
    }
}

extension MessageBuffer {
    func argument(_ field: UInt32, _ argument: QueryArgument) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            switch argument {
            case .value(let value): try self.value(1, value)
            case .list(let values):
                guard values.count <= Limits.listElementsMax else {
                    throw .tooMany(
                        "values in a list", values.count, maximum: Limits.listElementsMax)
                }
                try message(2) { () throws(LarderError) in
                    for value in values { try self.value(1, value) }
                }
            }
        }
    }

    /// In the order of names, so that equal variables give equal bytes.
    func variables(
        _ field: UInt32, _ variables: [String: QueryArgument]
    ) throws(LarderError) {
        guard !variables.isEmpty else { return }
        for (name, argument) in variables.sorted(by: { $0.key < $1.key }) {
            try message(field) { () throws(LarderError) in
                text(1, name)
                try self.argument(2, argument)
            }
        }
    }
}
