import FoundationEssentials
import LarderModel
import Testing

@Suite("Descriptions of values with dates")
struct SafeDescriptionTests {
    private struct Refused: Error {
        let dates: [String: Date?]
    }

    private final class Holder {
        let date: Date
        init(_ date: Date) { self.date = date }
    }

    private indirect enum Nested {
        case end(Date)
        case inner(Nested)
    }

    private let nan = Date(timeIntervalSinceReferenceDate: .nan)
    private let date = Date(timeIntervalSinceReferenceDate: 0)

    /// Values with the date, whose descriptions by Foundation end the process if it is NaN.
    private func values(_ date: Date) -> [(value: Any, name: String)] {
        [
            (date, ""), (date as Date? as Any, ""), ([date], "Array<Date>"),
            (["a": (1, date)], "Dictionary<String, (Int, Date)>"),
            (Refused(dates: ["a": date]), "Refused"),
            (Nested.inner(.inner(.end(date))), "Nested"),
            (
                EncodingError.invalidValue(
                    date, EncodingError.Context(codingPath: [], debugDescription: "too late")),
                "too late"
            ),
        ]
    }

    @Test("a date that is NaN is described by its text, or by the type of the value that has it")
    func nanDates() {
        for (value, name) in values(nan) {
            let text = String(safelyDescribing: value)
            #expect(text.contains(name.isEmpty ? "nan" : name), "\(text)")
        }
    }

    @Test("other values are described as they describe themselves")
    func others() {
        for number in [0, -1e300, .infinity, -.infinity, 1e17] as [Double] {
            let date = Date(timeIntervalSinceReferenceDate: number)
            for (value, _) in values(date) where !(value is Refused) {
                #expect(String(safelyDescribing: value) == "\(value)")
            }
        }
        for value in ["a", 1, [1, 2], Optional("b") as Any, Value.int(1), UUID()] as [Any] {
            #expect(String(safelyDescribing: value) == "\(value)")
        }
        #expect(String(safelyDescribing: Holder(nan)).contains("Holder"))
    }

    @Test("a value that is nested without a visible end is described by its type")
    func depth() {
        var nested = Nested.end(date)
        for _ in 0..<100 { nested = .inner(nested) }
        #expect(String(safelyDescribing: nested).contains("Nested"))
    }

    @Test("each value is described with its case, and a date in ISO 8601 or by its distance")
    func cases() throws {
        let object = PersistentIdentifier(temporary: "a", entityName: "Item")
        let described: [(Value, String)] = [
            (.null, "null"), (.bool(true), "bool(true)"), (.int(1), "int(1)"),
            (.float(0.5), "float(0.5)"), (.double(1e300), "double(1e+300)"),
            (.decimal(2), "decimal(2)"), (.string("a\n"), #"string("a\n")"#),
            (.date(date), "date(2001-01-01T00:00:00Z)"),
            (.date(nan), "date(2001-01-01T00:00:00Z+nans)"),
            (.json("{}"), #"json("{}")"#), (.object(object), "object(\(object))"),
            (.objects([object]), "objects([\(object)])"), (.data(Data([1])), "data(1 bytes)"),
        ]
        for (value, text) in described {
            #expect("\(value)" == text)
            #expect("\([value])" == "[\(text)]")
        }
    }
}
