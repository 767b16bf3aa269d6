/// A parameter of a statement, or a value of a row.
///
/// A parameter of a query has a type of its own, so that a statement is prepared without asking the
/// server for the types of its parameters. PostgreSQL converts it where the column has a narrower
/// type: a `bigint` to a `smallint`, `json` to `jsonb`.
///
/// A parameter of a change has the type of the column that it is stored in or compared with, which
/// the server infers. So it is sent in a form that all types of columns read: as a text, or as the
/// bytes of a `bytea` or `uuid`.
package enum PostgresValue: Hashable, Sendable {
    /// The type is that of a parameter; in a row, that of the column.
    case null(PostgresType)
    case bool(Bool)
    /// A `bigint`; in a row, an `integer` or a `smallint` too.
    case integer(Int64)
    case real(Float)
    case double(Double)
    /// A number in digits, without an exponent: see ``NumericText``.
    case numeric(String)
    /// U+0000 in it is an error of the server: ``PostgresError/Condition/invalidText``.
    case text(String)
    case bytes([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    /// A document as its text, in which PostgreSQL changes nothing.
    case json(String)
    /// Microseconds since the year 2000 in UTC. The minimum and the maximum are PostgreSQL's
    /// infinities.
    case timestamp(Int64)
    /// The parameter of `= ANY (…)`. In rows there are no arrays.
    case integers([Int64])
    /// A parameter whose type the server infers. The text has no U+0000.
    case inferredText(String)
    case inferredBytes([UInt8])

    package var type: PostgresType {
        switch self {
        case .null(let type): type
        case .bool: .bool
        case .integer: .bigint
        case .real: .real
        case .double: .double
        case .numeric: .numeric
        case .text: .text
        case .bytes: .bytea
        case .uuid: .uuid
        case .json: .json
        case .timestamp: .timestamptz
        case .integers: .bigints
        case .inferredText, .inferredBytes: .inferred
        }
    }

    /// Whether it is sent as text, and not in the binary form of its type.
    var isSentAsText: Bool { if case .inferredText = self { true } else { false } }

    package var isNull: Bool { if case .null = self { true } else { false } }
}
