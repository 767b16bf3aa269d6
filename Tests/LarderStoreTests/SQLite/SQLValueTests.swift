import FoundationEssentials
import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a stored value")
struct SQLValueTests {
    @Test("a string is stored in form NFC")
    func normalization() throws {
        #expect(
            try SQLValue(storing: .string("e\u{301}"), as: .string) == .text("\u{e9}"))
        guard case .text(let text) = try SQLValue(storing: .string("A\u{30a}"), as: .string)
        else {
            Issue.record("a string is stored as text")
            return
        }
        #expect(Array(text.utf8) == [0xC3, 0x85])
    }

    @Test("a date is stored as seconds since 2001, and a UUID as its bytes")
    func dateAndUUID() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0.25)
        #expect(try SQLValue(storing: .date(date), as: .date) == .real(0.25))
        let uuid = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F"))
        #expect(try SQLValue(storing: .uuid(uuid), as: .uuid) == .blob(Array(0...15)))
    }

    @Test("an integer is stored as a double or decimal only if it is the same number")
    func integers() throws {
        #expect(try SQLValue(storing: .int(3), as: .double) == .real(3))
        #expect(try SQLValue(storing: .int(-3), as: .decimal) == .text("-3"))
        #expect(throws: LarderError.self) {
            try SQLValue(storing: .int((1 << 53) + 1), as: .double)
        }
    }

    @Test("the error for a value of a wrong type names the property and both types")
    func sentence() {
        let error = #expect(throws: LarderError.self) {
            try SQLValue(storing: .string("x"), as: .int64, named: "Article.wordCount")
        }
        #expect(error?.code == .wrongType)
        #expect(error?.message == "Article.wordCount takes an int64, not a string")
    }

    @Test(
        "a value out of range, NaN, or of another type is not stored",
        arguments: [
            (Value.int(32_768), AttributeType.int16), (.int(-32_769), .int16),
            (.int(1 << 31), .int32), (.double(.nan), .double), (.float(.nan), .float),
            (.double(1e300), .float), (.decimal(.nan), .decimal),
            (.bool(true), .int64), (.int(1), .bool), (.string("1"), .uuid),
            (.objects([]), .data),
        ])
    func refused(value: Value, type: AttributeType) {
        let error = #expect(throws: LarderError.self) { try SQLValue(storing: value, as: type) }
        #expect(error?.code == .wrongType)
    }

    @Test("a date that is not a number or infinite is not stored")
    func dateNotANumber() {
        for seconds in [Double.nan, .infinity] {
            // Such a date cannot be printed, so it is not an argument of the test.
            let isStored =
                (try? SQLValue(
                    storing: .date(Date(timeIntervalSinceReferenceDate: seconds)), as: .date))
                != nil
            #expect(!isStored)
        }
    }
}
