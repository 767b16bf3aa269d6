import TestSupport
import Testing

@testable import LarderPostgres

@Suite("The binary form of PostgreSQL's values")
struct PostgresValueTests {
    private static let values: [PostgresValue] = [
        .bool(true), .integer(.min), .real(-0.0), .double(.infinity), .numeric("-12.5"),
        .text("é"), .bytes([0, 255]), .uuid(Array(1...16)), .json("{}"), .timestamp(-1),
    ]

    @Test("A value comes back from its bytes")
    func roundTrip() throws {
        for value in Self.values {
            let bytes = try #require(try value.encoded())
            #expect(try PostgresValue(bytes.span, of: value.type) == value)
        }
        #expect(try PostgresValue.null(.text).encoded() == nil)
    }

    @Test("Bytes of any kind are a value of their type or an error, and never trap")
    func damaged() throws {
        var generator = SeededGenerator.fromEnvironment("damaged values of PostgreSQL")
        let others: [PostgresType] = [
            .integer, .smallint, .jsonb, .varchar, .void, .bigints, PostgresType(rawValue: 0),
        ]
        let types = Self.values.map(\.type) + others
        var readCount = 0
        for _ in 0..<RandomTesting.iterations(3_000) {
            let value = Self.values.randomElement(using: &generator) ?? .bool(true)
            let bytes = Fuzzing.mutated(
                try value.encoded() ?? [], donor: Array(0...99), using: &generator)
            for type in types {
                guard let read = try? PostgresValue(bytes.span, of: type) else { continue }
                readCount += 1
                if case .numeric(let text) = read {
                    #expect(NumericText.encoded(text) != nil, "seed \(generator.seed)")
                }
            }
        }
        #expect(readCount > 0)
    }

    @Test("A text that is not UTF-8, and a type that is not read, are errors of the reply")
    func unreadable() {
        let cases: [([UInt8], PostgresType)] = [
            ([0xff], .text), ([1, 0xff], .jsonb), ([2], .jsonb), ([0], .bigints),
        ]
        for (bytes, type) in cases {
            let error = #expect(throws: PostgresError.self) {
                try PostgresValue(bytes.span, of: type)
            }
            #expect(error?.condition == .unexpectedReply)
        }
    }
}
