import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@Suite("Dates as text")
struct DateTextTests {
    @Test("the text of a date in whole seconds agrees with the standard library's ISO 8601 style")
    func agreesWithStyle() throws {
        var generator = SeededGenerator.fromEnvironment("date style")
        // From 1600, since the standard library's calendar is Julian before 1582, to 9999.
        for _ in 0..<RandomTesting.iterations() {
            let seconds = Int.random(in: -12_600_000_000..<252_423_993_600, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: Double(seconds))
            #expect(date.text == date.formatted(.iso8601))
            #expect(Date(text: date.text) == date)
        }
    }

    @Test("every finite date is read back from its text")
    func roundTrip() throws {
        var generator = SeededGenerator.fromEnvironment("dates")
        var samples: [Double] = [
            0, -0.5, 0.5, -1, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, -1e-20, 1e-7, 0.1,
            -0.1, 252_423_993_600,
            252_423_993_599.999_97, -63_145_267_200, -63_145_267_200.000_01, 1e15, 1e16, -1e300,
            .greatestFiniteMagnitude,
        ]
        for _ in 0..<RandomTesting.iterations() {
            samples.append(Double.random(in: -1e11...1e11, using: &generator))
            samples.append(Double.random(in: -1e3...1e3, using: &generator))
            let any = Double(bitPattern: generator.next())
            if any.isFinite { samples.append(any) }
        }
        for seconds in samples {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let again = Date(text: date.text)
            #expect(again?.timeIntervalSinceReferenceDate == seconds, "\(date.text)")
        }
    }

    @Test("the text of an infinite date is not parsed as a date")
    func notFinite() {
        for seconds in [Double.infinity, -.infinity, .nan] {
            let text = Date(timeIntervalSinceReferenceDate: seconds).text
            #expect(Date(text: text) == nil)
        }
    }
}
