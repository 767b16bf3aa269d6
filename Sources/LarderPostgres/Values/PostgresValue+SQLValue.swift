import LarderModel
import LarderSQL

extension PostgresValue {
    /// A value of a statement of `LarderSQL`.
    ///
    /// - Parameter type: The attribute type of the value; nil if its case has it.
    init(_ value: SQLValue, as type: AttributeType?) {
        self =
            switch (value, type) {
            case (.null, _): .null(type.map(PostgresType.init(parameterOf:)) ?? .unknown)
            case (.integer(let integer), .bool): .bool(integer != 0)
            case (.integer(let integer), .decimal): .numeric(String(integer))
            case (.integer(let integer), .double), (.integer(let integer), .date):
                .double(Double(integer))
            case (.integer(let integer), _): .integer(integer)
            case (.real(let real), .int16), (.real(let real), .int32), (.real(let real), .int64):
                Self.number(real)
            case (.real(let real), _): .double(real)
            case (.text(let text), .decimal): .numeric(text)
            case (.text(let text), .json): .json(text)
            case (.text(let text), _): .text(text)
            case (.blob(let bytes), .uuid): .uuid(bytes)
            case (.blob(let bytes), _): .bytes(bytes)
            }
    }

    /// A value of a change, whose type the server infers.
    ///
    /// - Throws: `invalidText` for U+0000, which would end the text.
    init(inferring value: SQLValue) throws(PostgresError) {
        self =
            switch value {
            case .null: .null(.inferred)
            case .integer(let integer): .inferredText(String(integer))
            case .real(let real): .inferredText(real.description)
            case .text(let text): .inferredText(text)
            case .blob(let bytes): .inferredBytes(bytes)
            }
        if case .text(let text) = value, text.utf8.contains(0) {
            throw PostgresError(.invalidText, "U+0000")
        }
    }

    /// A double that is compared with integers. PostgreSQL would convert these to doubles, which
    /// loses digits, so it becomes an exact number. Those that no integer reaches stay doubles.
    private static func number(_ real: Double) -> PostgresValue {
        if let integer = Int64(exactly: real) { return .integer(integer) }
        // A fraction is the half between two integers: see ``ValueConverter``.
        guard real.magnitude < 0x1p52 else { return .double(real) }
        return .numeric("\(real < 0 ? "-" : "")\(Int64(real.magnitude)).5")
    }
}

extension SQLValue {
    /// A value of a row, in the form in which attributes of its type are stored.
    init(_ value: PostgresValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let bool): .integer(bool ? 1 : 0)
            case .integer(let integer), .timestamp(let integer): .integer(integer)
            case .real(let float): .real(Double(float))
            case .double(let double): .real(double)
            case .numeric(let text), .text(let text), .json(let text), .inferredText(let text):
                .text(text)
            case .bytes(let bytes), .uuid(let bytes), .inferredBytes(let bytes): .blob(bytes)
            // Rows have no arrays.
            case .integers: .null
            }
    }
}

extension PostgresType {
    /// The type of parameters for the values of an attribute.
    init(parameterOf type: AttributeType) {
        self =
            switch type {
            case .bool: .bool
            case .int16, .int32, .int64: .bigint
            case .float, .double, .date: .double
            case .decimal: .numeric
            case .string, .url: .text
            case .json: .json
            case .uuid: .uuid
            case .data: .bytea
            }
    }
}

extension PostgresStatement {
    /// A finished statement whose parameters are known, except for the key of an object or keys.
    init(_ sql: SQL, key: PostgresValue? = nil, now: Double = 0, returnsFewRows: Bool = false) {
        let parameters = sql.parameters.map { parameter -> PostgresValue in
            switch parameter {
            case .typed(let value, let type): PostgresValue(value, as: type)
            case .constant(let value): PostgresValue(value, as: nil)
            case .now: .double(now)
            default: key ?? .null(.unknown)
            }
        }
        self.init(sql.text, parameters, returnsFewRows: returnsFewRows)
    }

    /// A finished statement of the planner, with the values of its parameters.
    init(_ sql: SQL, values: [SQLValue]) {
        let parameters = zip(sql.parameters, values).map { parameter, value in
            switch parameter {
            case .typed(_, let type): PostgresValue(value, as: type)
            case .now: PostgresValue(value, as: .double)
            default: PostgresValue(value, as: nil)
            }
        }
        self.init(sql.text, parameters)
    }
}
