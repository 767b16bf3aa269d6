import Synchronization

/// A statement or a part of one: its text, and the parameter for each `?` in it.
///
/// Text comes from string literals only, which the type of the literals enforces. Names, literals,
/// parameters and other parts are interpolated:
///
///     let sql: SQL = "SELECT \(name: column) FROM \(name: table) WHERE \(name: key) = \(value)"
///
/// So a user's value is always a parameter, and names are quoted in one function. A `?` in a
/// literal is a parameter as well, which the caller binds by its index.
package struct SQL: Sendable {
    package private(set) var text = ""
    /// The values or parameters of the interpolated `?`, in order.
    package private(set) var parameters: [SQLParameter] = []
    /// How deep its parentheses are nested. SQLite's parser bounds that.
    package var depth = 0
    /// Whether it has a collation other than BINARY, which SQLite applies to the whole expression.
    private(set) var hasCollation = false
    /// The operator that connects its parts at the top level, if there is one.
    var junction: Junction?
    /// Equal for copies with the same text, so that a ``StatementCache`` need not compare texts.
    package private(set) var identity = SQL.nextIdentity()

    package enum Junction {
        case and
        case or

        package var separator: SQL {
            switch self {
            case .and: " AND "
            case .or: " OR "
            }
        }
    }

    private static let identities = Atomic(0)

    private static func nextIdentity() -> Int {
        identities.add(1, ordering: .relaxed).newValue
    }

    /// A `?` for each parameter, with commas between them.
    package init(_ parameters: [SQLParameter]) {
        text = repeatElement("?", count: parameters.count).joined(separator: ", ")
        self.parameters = parameters
    }

    /// A `?` for each value of a parameter with several, with commas between them.
    package init(elements parameter: SQLParameter) {
        text = repeatElement("?", count: parameter.valueCount).joined(separator: ", ")
        parameters = [parameter]
    }

    /// The statement with other parameters.
    package func with(_ parameters: [SQLParameter]) -> SQL {
        var result = self
        result.parameters = parameters
        return result
    }

    /// Another text with its parameters.
    func with(_ text: String, _ parameters: [SQLParameter]) -> SQL {
        var result = with(parameters)
        result.text = text
        result.identity = SQL.nextIdentity()
        return result
    }

    /// The parameters as values to bind. All of them must be known.
    package var values: [SQLValue] {
        parameters.map { parameter in
            guard case .constant(let value) = parameter else {
                preconditionFailure("parameters are computed before a statement is run")
            }
            return value
        }
    }
}

extension SQL: Hashable {
    package static func == (left: SQL, right: SQL) -> Bool {
        left.text == right.text && left.parameters == right.parameters
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(text)
        hasher.combine(parameters)
    }
}

// MARK: Text

extension SQL: ExpressibleByStringInterpolation {
    package init(stringLiteral literal: StaticString) {
        text = literal.description
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = SQL([])

        package init(literalCapacity: Int, interpolationCount: Int) {
            sql.text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            sql.text += literal.description
        }

        /// Another part, with its parameters.
        package mutating func appendInterpolation(_ part: SQL) { sql.append(part) }

        /// Parts with a separator between them.
        package mutating func appendInterpolation(_ parts: [SQL], separator: SQL = ", ") {
            sql.append(parts.joined(separator: separator))
        }

        /// A name of a table, column or index.
        package mutating func appendInterpolation(name: String) {
            sql.text += SQL.quoted(name, UInt8(ascii: "\""))
        }

        /// Names with commas between them.
        package mutating func appendInterpolation(names: [String]) {
            appendInterpolation(names.map { "\(name: $0)" })
        }

        /// A string literal. For names of a schema, which the planner has to see, not for values.
        package mutating func appendInterpolation(literal: String) {
            sql.text += SQL.quoted(literal, UInt8(ascii: "'"))
        }

        /// A constant of a schema in a statement that takes no parameters, such as ALTER TABLE.
        package mutating func appendInterpolation(constant: SQLValue) {
            switch constant {
            case .null: sql.text += "NULL"
            case .integer(let integer): sql.text += String(integer)
            // Infinity has no literal; SQLite reads a number that is too large as infinity.
            case .real(let real) where real.isInfinite: sql.text += real < 0 ? "-9e999" : "9e999"
            case .real(let real): sql.text += real.description
            case .text(let text): sql.text += SQL.quoted(text, UInt8(ascii: "'"))
            case .blob(let bytes):
                let digits = Array("0123456789abcdef".utf8)
                let hexadecimal = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
                sql.text += "x'\(String(decoding: hexadecimal, as: UTF8.self))'"
            }
        }

        package mutating func appendInterpolation(_ number: some FixedWidthInteger) {
            sql.text += String(number)
        }

        /// The name of a function or collation, which is written without quotation marks.
        package mutating func appendInterpolation(function: String) {
            precondition(function.utf8.allSatisfy(SQL.isWordByte), "not a word: \(function)")
            sql.text += function
        }

        /// A value as a parameter.
        package mutating func appendInterpolation(_ value: SQLValue) {
            appendInterpolation(.constant(value))
        }

        package mutating func appendInterpolation(_ parameter: SQLParameter) {
            sql.append(SQL([parameter]))
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A name or a string literal in its quotation marks. No other function quotes.
    ///
    /// It works on bytes: a quotation mark with a combining mark is one character, but SQLite reads
    /// bytes.
    private static func quoted(_ text: String, _ mark: UInt8) -> String {
        var bytes = [mark]
        for byte in text.utf8 {
            if byte == mark { bytes.append(mark) }
            bytes.append(byte)
        }
        bytes.append(mark)
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: Composition

extension SQL {
    package mutating func append(_ other: SQL) {
        text += other.text
        parameters += other.parameters
        depth = max(depth, other.depth)
        hasCollation = hasCollation || other.hasCollation
        junction = nil
        identity = SQL.nextIdentity()
    }

    package static func + (left: SQL, right: SQL) -> SQL {
        var result = left
        result.append(right)
        return result
    }

    package static func += (left: inout SQL, right: SQL) { left.append(right) }

    var inParentheses: SQL {
        var result: SQL = "(\(self))"
        result.depth += 1
        return result
    }

    func collated(_ collation: String) -> SQL {
        var result: SQL = "\(self) COLLATE \(function: collation)"
        result.hasCollation = true
        return result
    }

    /// Compared by bytes, whatever collation it has.
    var inByteOrder: SQL {
        guard hasCollation else { return self }
        var result: SQL = "\(self) COLLATE BINARY"
        result.hasCollation = false
        return result
    }

    /// With parentheses if it needs them as an operand of AND.
    var asConjunct: SQL { junction == .or ? inParentheses : self }
}

extension Sequence<SQL> {
    /// The parts in order with a separator between them.
    package func joined(separator: SQL) -> SQL {
        var result = SQL([])
        var isFirst = true
        for part in self {
            if !isFirst { result.append(separator) }
            result.append(part)
            isFirst = false
        }
        return result
    }
}
