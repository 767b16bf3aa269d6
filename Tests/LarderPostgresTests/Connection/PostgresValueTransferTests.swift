#if PostgreSQL
import LarderPostgres
import TestSupport
import Testing

@Suite(
    "Values on their way to PostgreSQL and back",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresValueTransferTests {
    private static let nines = String(repeating: "9", count: 38)

    /// Values at the extremes of each of Larder's types, with the type of the column.
    private static let extremes: [(column: String, values: [PostgresValue])] = [
        ("boolean", [.bool(false), .bool(true)]),
        ("smallint", [.integer(-32_768), .integer(0), .integer(32_767)]),
        ("integer", [.integer(Int64(Int32.min)), .integer(-1), .integer(Int64(Int32.max))]),
        ("bigint", [.integer(.min), .integer(-1), .integer(0), .integer(.max)]),
        (
            "real",
            [
                .real(0), .real(-0.0), .real(.leastNonzeroMagnitude), .real(.infinity),
                .real(-.greatestFiniteMagnitude), .real(0.1),
            ]
        ),
        (
            "double precision",
            [
                .double(0), .double(-0.0), .double(.leastNonzeroMagnitude), .double(-.infinity),
                .double(.greatestFiniteMagnitude), .double(0.1), .double(.ulpOfOne),
                // A date, in seconds since 2001.
                .double(785_980_800.123_456_7), .double(-63_114_076_800),
            ]
        ),
        (
            "numeric",
            [
                .numeric("0"), .numeric("1"), .numeric("-1"), .numeric("0.1"), .numeric("10000"),
                .numeric(nines), .numeric("-0.\(nines)"), .numeric("0.0000000000001"),
                .numeric("12345678.00012345"), .numeric("1" + String(repeating: "0", count: 127)),
                .numeric("-0." + String(repeating: "0", count: 126) + "1"),
            ]
        ),
        (
            "text",
            [
                .text(""), .text("a"), .text("é日🏳️‍🌈\u{1}\u{7f}\n\\'\""), .text("\u{10FFFF}"),
                .text(String(repeating: "x", count: 3_000_000)),
            ]
        ),
        (
            "bytea",
            [
                .bytes([]), .bytes([0]), .bytes(Array(0...255)),
                .bytes(Array(repeating: 255, count: 99_999)),
            ]
        ),
        (
            "uuid",
            [
                .uuid(Array(repeating: 0, count: 16)), .uuid(Array(repeating: 255, count: 16)),
                .uuid(Array(1...16)),
            ]
        ),
        (
            "json",
            [
                .json("null"), .json(" {\"b\": 1.50, \"a\" : [], \"b\":\"\\u0000\"} "),
                .json("123456789012345678901234567890.5e300"),
            ]
        ),
        ("timestamptz", [.timestamp(0), .timestamp(.min), .timestamp(.max), .timestamp(-1)]),
    ]

    @Test("A value at the extreme of any type has the same bits after a column of its type")
    func columns() throws {
        let connection = try PostgresServer.connection()
        for (index, (column, values)) in Self.extremes.enumerated() {
            let table = "extreme_\(index)"
            try connection.run("CREATE TEMPORARY TABLE \(table) (value \(column), number bigint)")
            for (number, value) in values.enumerated() {
                try connection.run(
                    "INSERT INTO \(table) VALUES ($1, $2)", value, .integer(Int64(number)))
            }
            try connection.run("INSERT INTO \(table) VALUES ($1, 99)", .null(values[0].type))
            let rows = try connection.run("SELECT value FROM \(table) ORDER BY number").rows
            #expect(rows.dropLast().map { bits($0[0]) } == values.map(bits), "\(column)")
            #expect(rows.last?[0].isNull == true, "\(column)")
        }
    }

    @Test("A value of any type that PostgreSQL returns as it is has the same bits")
    func echoes() throws {
        let connection = try PostgresServer.connection()
        for (_, values) in Self.extremes {
            for value in values {
                let rows = try connection.run("SELECT $1, $2", value, .null(value.type))
                #expect(bits(rows.rows[0][0]) == bits(value))
                #expect(rows.rows[0][1] == .null(value.type))
                #expect(rows.columns == [value.type, value.type])
            }
        }
    }

    @Test("Random numbers have the same bits after PostgreSQL, whose text is that of the decimals")
    func randomNumbers() throws {
        var generator = SeededGenerator.fromEnvironment("numbers for PostgreSQL")
        let connection = try PostgresServer.connection()
        for _ in 0..<RandomTesting.iterations() {
            let decimal = Self.decimal(using: &generator)
            let values: [PostgresValue] = [
                .integer(Int64(bitPattern: generator.next())),
                .double(Double(bitPattern: generator.next())),
                .real(Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))),
                .numeric(decimal),
            ]
            let statement = "SELECT $1, $2, $3, $4, $4::text"
            let row = try connection.run(
                PostgresStatement(statement, values), deadline: .soon
            ).rows[0]
            #expect(row.prefix(4).map(bits) == values.map(bits), "seed \(generator.seed)")
            #expect(row[4] == .text(decimal), "seed \(generator.seed)")
        }
    }

    /// A canonical number of at most 38 digits.
    private static func decimal(using generator: inout SeededGenerator) -> String {
        let digits = (0..<Int.random(in: 1...38, using: &generator)).map { _ in
            Int.random(in: 0...9, using: &generator)
        }
        let split = Int.random(in: 0...digits.count, using: &generator)
        let whole = digits[..<split].drop { $0 == 0 }.map(String.init).joined()
        var fraction = digits[split...]
        while fraction.last == 0 { fraction.removeLast() }
        let number =
            (whole.isEmpty ? "0" : whole)
            + (fraction.isEmpty ? "" : "." + fraction.map(String.init).joined())
        return number != "0" && Bool.random(using: &generator) ? "-" + number : number
    }

    @Test("A parameter with a narrower column gets its type, or is out of range")
    func narrowing() throws {
        let connection = try PostgresServer.connection()
        try connection.run("CREATE TEMPORARY TABLE narrow (small smallint, document jsonb)")
        try connection.run(
            "INSERT INTO narrow VALUES ($1, $2)", .integer(7), .json("{\"b\":1,\"a\":2}"))
        let row = try connection.run("SELECT small, document FROM narrow").rows[0]
        #expect(row == [.integer(7), .json("{\"a\": 2, \"b\": 1}")])
        let error = #expect(throws: PostgresError.self) {
            try connection.run("INSERT INTO narrow (small) VALUES ($1)", .integer(32_768))
        }
        #expect(error?.condition == .outOfRange)
    }

    @Test("A list of integers is one parameter, also without elements")
    func lists() throws {
        let connection = try PostgresServer.connection()
        let text = "SELECT count(*) FROM generate_series(1, 10) AS n WHERE n = ANY ($1)"
        #expect(try connection.run(text, .integers([])).rows == [[.integer(0)]])
        #expect(try connection.run(text, .integers([3, 3, .max, 9, .min])).rows == [[.integer(2)]])
    }

    @Test("A text with U+0000, a wrong UUID and a decimal that is no number are typed errors")
    func invalidValues() throws {
        let connection = try PostgresServer.connection()
        let cases: [(PostgresValue, PostgresError.Condition)] = [
            (.text("a\u{0}b"), .invalidText), (.uuid([1]), .malformedValue),
            (.numeric("1e5"), .malformedValue), (.json("{"), .statement),
        ]
        for (value, condition) in cases {
            let error = #expect(throws: PostgresError.self) {
                try connection.run("SELECT $1", value)
            }
            #expect(error?.condition == condition, "\(value)")
        }
        #expect(try connection.run("SELECT 1::bigint").rows == [[.integer(1)]])
    }

    @Test("A number without digits, or a type that is not read, is an error of its statement")
    func unreadable() throws {
        let connection = try PostgresServer.connection()
        for text in ["SELECT 'NaN'::numeric", "SELECT '{1}'::integer[]", "SELECT point(1, 2)"] {
            let error = #expect(throws: PostgresError.self) { try connection.run(text) }
            #expect(error?.condition == .unexpectedReply, "\(text)")
            #expect(try connection.run("SELECT true").rows == [[.bool(true)]])
        }
    }

    /// The value with its bits, because zeros of both signs are equal, and NaN is not.
    private func bits(_ value: PostgresValue) -> String {
        switch value {
        case .real(let float): "real \(float.bitPattern)"
        case .double(let double): "double \(double.bitPattern)"
        default: "\(value)"
        }
    }
}
#endif
