import Foundation
import SwiftData
import Testing

/// A value that refuses to be encoded, and names its date in the error.
struct Deadline: Codable, Hashable {
    var date = Date(timeIntervalSinceReferenceDate: 0)
    var isRefused = false

    func encode(to encoder: any Encoder) throws {
        if isRefused {
            throw EncodingError.invalidValue(
                date, EncodingError.Context(codingPath: [], debugDescription: "no such day"))
        }
        var container = encoder.singleValueContainer()
        try container.encode(date.timeIntervalSinceReferenceDate)
    }

    init(date: Date, isRefused: Bool) {
        self.date = date
        self.isRefused = isRefused
    }

    init(from decoder: any Decoder) throws {
        let seconds = try decoder.singleValueContainer().decode(Double.self)
        date = Date(timeIntervalSinceReferenceDate: seconds)
    }
}

@Model final class Job {
    var deadline: Deadline

    init(deadline: Deadline) { self.deadline = deadline }
}

/// Foundation's description of a date ends the process if the date is NaN.
@Suite("Dates that are NaN")
struct DateDescriptionTests {
    private let nan = Date(timeIntervalSinceReferenceDate: .nan)

    @Test("a value with a date that is NaN is an error of the save if it cannot be encoded")
    func encoding() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Job.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let job = Job(deadline: Deadline(date: nan, isRefused: true))
        context.insert(job)
        job.deadline = Deadline(date: nan, isRefused: true)
        do {
            try context.save()
            Issue.record("the value was saved")
        } catch {
            #expect("\(error)".contains("Job.deadline: the value cannot be encoded"), "\(error)")
            #expect("\(error)".contains("no such day"))
        }
    }

    @Test("a date that is NaN is the primary key of an identifier, as others are")
    func primaryKeys() throws {
        func identifier(_ date: Date) throws -> PersistentIdentifier {
            try PersistentIdentifier.identifier(
                for: "a", entityName: "Article", primaryKey: date)
        }
        #expect(try identifier(nan) == identifier(nan))
        let other = Date(timeIntervalSinceReferenceDate: 0)
        #expect(try identifier(nan) != identifier(other))
    }
}
