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

    /// A double that is compared with integers. PostgreSQL would convert these to doubles, which
    /// loses digits, so it becomes an exact number. Those that no integer reaches stay doubles.
    private static func number(_ real: Double) -> PostgresValue {
        if let integer = Int64(exactly: real) { return .integer(integer) }
        // A fraction is the half between two integers: see ``ValueConverter``.
        guard real.magnitude < 0x1p52 else { return .double(real) }
        return .numeric("\(real < 0 ? "-" : "")\(Int64(real.magnitude)).5")
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
}
