import Foundation
import SwiftData
import Testing

// A calendar: events with rules of recurrence, attendees and alarms. The second version adds what
// the exchange with other calendars needs, and attachments.

enum CalendarRecurrence: Codable, Hashable {
    case never
    case daily(interval: Int)
    case weekly(days: [Int], until: Date?)
    case yearly(month: Int, day: Int)
}

struct CalendarAttendee: Codable, Hashable, Identifiable {
    enum Reply: String, Codable { case accepted, declined, pending }

    var id: String { email }
    var email: String
    var reply: Reply = .pending
}

struct CalendarColor: Codable, Hashable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
}

enum CalendarV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Agenda.self, Event.self, Alarm.self] }

    @Model final class Agenda {
        var name: String
        var color: CalendarColor
        @Relationship(deleteRule: .cascade, inverse: \Event.agenda) var events: [Event]? = []

        init(name: String, color: CalendarColor) {
            self.name = name
            self.color = color
        }
    }

    @Model final class Event {
        var title: String
        var start: Date
        var end: Date
        var isAllDay: Bool = false
        var recurrence: CalendarRecurrence = CalendarRecurrence.never
        var attendees: [CalendarAttendee] = []
        var location: String?
        var colorName: String = "blue"
        var agenda: Agenda?
        @Relationship(deleteRule: .cascade, inverse: \Alarm.event) var alarms: [Alarm]? = []

        init(title: String, start: Date, end: Date) {
            self.title = title
            self.start = start
            self.end = end
        }
    }

    @Model final class Alarm {
        var offset: TimeInterval
        var event: Event?

        init(offset: TimeInterval) { self.offset = offset }
    }
}

enum CalendarV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Agenda.self, Event.self, Alarm.self, Attachment.self]
    }

    @Model final class Agenda {
        var name: String
        var color: CalendarColor
        var isVisible: Bool = true
        var timeZone: TimeZone = TimeZone.gmt
        @Relationship(deleteRule: .cascade, inverse: \Event.agenda) var events: [Event]? = []

        init(name: String, color: CalendarColor) {
            self.name = name
            self.color = color
        }
    }

    @Model final class Event {
        #Unique<Event>([\.uid])
        #Index<Event>([\.start, \.end])

        var uid: UUID = UUID()
        @Attribute(originalName: "title") var summary: String
        var start: Date
        var end: Date
        var isAllDay: Bool = false
        var recurrence: CalendarRecurrence = CalendarRecurrence.never
        var attendees: [CalendarAttendee] = []
        var location: String?
        var created: Date = Date.now
        var sequence: Int = 0
        var exceptions: [Date] = []
        var reminders: [String: TimeInterval] = [:]
        var agenda: Agenda?
        @Relationship(deleteRule: .cascade, inverse: \Alarm.event) var alarms: [Alarm]? = []
        @Relationship(deleteRule: .cascade, inverse: \Attachment.event)
        var attachments: [Attachment]? = []

        init(summary: String, start: Date, end: Date) {
            self.summary = summary
            self.start = start
            self.end = end
        }
    }

    @Model final class Alarm {
        var offset: TimeInterval
        var sound: String? = "chime"
        var event: Event?

        init(offset: TimeInterval) { self.offset = offset }
    }

    @Model final class Attachment {
        var url: URL
        @Attribute(.externalStorage) var data: Data?
        var event: Event?

        init(url: URL, data: Data?) {
            self.url = url
            self.data = data
        }
    }
}

enum CalendarPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [CalendarV1.self, CalendarV2.self] }
    static var stages: [MigrationStage] {
        [MigrationStage.lightweight(fromVersion: CalendarV1.self, toVersion: CalendarV2.self)]
    }
}

extension CalendarV2.Event {
    var interval: DateInterval { DateInterval(start: start, end: end) }

    static func overlapping(_ interval: DateInterval) -> FetchDescriptor<CalendarV2.Event> {
        let (first, last) = (interval.start, interval.end)
        return FetchDescriptor(
            predicate: #Predicate { event in
                event.start < last && event.end > first && event.agenda?.isVisible != false
            },
            sortBy: [SortDescriptor(\.start), SortDescriptor(\.agenda?.name)])
    }

    /// The starts of the event in an interval.
    func occurrences(in interval: DateInterval, calendar: Calendar) -> [Date] {
        switch recurrence {
        case .never: return interval.contains(start) ? [start] : []
        case .daily(let days):
            return steps(of: days, until: interval.end, calendar)
                .filter { interval.contains($0) }
        case .weekly(let days, let until):
            return steps(of: 1, until: min(interval.end, until ?? .distantFuture), calendar)
                .filter {
                    interval.contains($0) && days.contains(calendar.component(.weekday, from: $0))
                }
        case .yearly(let month, let day):
            return steps(of: 1, until: interval.end, calendar).filter {
                let components = calendar.dateComponents([.month, .day], from: $0)
                return interval.contains($0) && components.month == month && components.day == day
            }
        }
    }

    private func steps(of days: Int, until end: Date, _ calendar: Calendar) -> [Date] {
        var dates: [Date] = []
        var date = start
        while date <= end, let next = calendar.date(byAdding: .day, value: days, to: date) {
            if !exceptions.contains(date) { dates.append(date) }
            date = next
        }
        return dates
    }
}

@Suite("An app for calendars")
struct CalendarAppTests {
    private let store: AppStore
    private var calendar = Calendar(identifier: .gregorian)

    /// The store of the first version: 3 calendars with 120 events in 60 days.
    init() throws {
        store = try AppStore()
        calendar.timeZone = .gmt
        try store.launch(CalendarV1.self) { context in
            let agendas = ["Home", "Work", "Club"].enumerated().map { number, name in
                CalendarV1.Agenda(
                    name: name, color: CalendarColor(red: 255, green: UInt8(number), blue: 0))
            }
            agendas.forEach(context.insert)
            for number in 0..<120 {
                let start = AppStore.day(number / 2, hour: number % 2 * 6 + 9)
                let event = CalendarV1.Event(
                    title: "Event \(number)", start: start,
                    end: start.addingTimeInterval(number % 30 == 0 ? 90_000 : 3_600))
                event.isAllDay = number % 30 == 0
                event.recurrence = recurrence(number)
                event.attendees = attendees(number)
                event.location = number % 4 == 1 ? "Room \(number % 8)" : nil
                event.agenda = agendas[number % 3]
                if number % 5 == 0 {
                    event.alarms = [CalendarV1.Alarm(offset: -600), CalendarV1.Alarm(offset: -60)]
                }
            }
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<CalendarV1.Alarm>()) == 48)
        }
    }

    private func recurrence(_ number: Int) -> CalendarRecurrence {
        switch number % 12 {
        case 1: .daily(interval: 2)
        case 4: .weekly(days: [2, 4], until: number < 60 ? AppStore.day(30) : nil)
        case 7: .yearly(month: 3, day: number % 28 + 1)
        default: .never
        }
    }

    private func attendees(_ number: Int) -> [CalendarAttendee] {
        (0..<number % 4).map { index in
            CalendarAttendee(
                email: "a\(index)@example.org", reply: index == 0 ? .accepted : .pending)
        }
    }

    @Test("the events of a calendar keep recurrence and attendees after a migration")
    func values() throws {
        let identifiers = try store.launch(CalendarV2.self, CalendarPlan.self) { context in
            let events = try context.fetch(
                FetchDescriptor<CalendarV2.Event>(sortBy: [SortDescriptor(\.start)]))
            #expect(events.count == 120)
            for (number, event) in events.enumerated() {
                #expect(event.summary == "Event \(number)")
                #expect(event.recurrence == recurrence(number))
                #expect(event.attendees == attendees(number))
                #expect(event.location == (number % 4 == 1 ? "Room \(number % 8)" : nil))
                #expect(event.isAllDay == (event.interval.duration > 3_600))
                #expect(event.sequence == 0 && event.exceptions == [] && event.reminders == [:])
                #expect(event.agenda?.name == ["Home", "Work", "Club"][number % 3])
                #expect(event.attachments == [])
                let alarms = (event.alarms ?? []).map(\.offset).sorted()
                #expect(alarms == (number % 5 == 0 ? [-600, -60] : []))
                // A new optional attribute gets its default, as a required one does.
                #expect((event.alarms ?? []).allSatisfy { $0.sound == "chime" })
            }
            let agendas = try context.fetch(
                FetchDescriptor<CalendarV2.Agenda>(sortBy: [SortDescriptor(\.name)]))
            #expect(agendas.map(\.color.green) == [2, 0, 1])
            #expect(agendas.allSatisfy { $0.timeZone == .gmt && $0.isVisible })
            return events.map(\.uid)
        }
        #expect(Set(identifiers).count == 120)
        try store.launch(CalendarV2.self, CalendarPlan.self) { context in
            let events = try context.fetch(
                FetchDescriptor<CalendarV2.Event>(sortBy: [SortDescriptor(\.start)]))
            #expect(events.map(\.uid) == identifiers)
        }
        try store.expectCurrent(CalendarV2.self, CalendarPlan.self)
    }

    @Test("the calendar finds the events and occurrences of a week")
    func queries() throws {
        let calendar = calendar
        try store.launch(CalendarV2.self, CalendarPlan.self) { context in
            let week = DateInterval(start: AppStore.day(15), end: AppStore.day(22))
            let events = try context.fetch(CalendarV2.Event.overlapping(week))
            #expect(events.first?.summary == "Event 30" && events.count == 14)
            let next = DateInterval(start: AppStore.day(16), end: AppStore.day(17))
            let day = try context.fetch(CalendarV2.Event.overlapping(next))
            #expect(day.map(\.summary) == ["Event 30", "Event 32", "Event 33"])
            let club = try #require(
                try context.fetch(
                    FetchDescriptor<CalendarV2.Agenda>(predicate: #Predicate { $0.name == "Club" })
                ).first)
            club.isVisible = false
            #expect(
                try context.fetch(CalendarV2.Event.overlapping(next)).map(\.summary) == [
                    "Event 30", "Event 33",
                ])
            let all = try context.fetch(FetchDescriptor<CalendarV2.Event>())
            let every = try #require(all.first { $0.summary == "Event 1" })
            #expect(every.occurrences(in: week, calendar: calendar).count == 3)
            every.exceptions = [AppStore.day(16, hour: 15)]
            #expect(every.occurrences(in: week, calendar: calendar).count == 2)
            let weekly = try #require(all.first { $0.summary == "Event 4" })
            #expect(
                weekly.occurrences(in: week, calendar: calendar) == [
                    AppStore.day(17, hour: 9), AppStore.day(19, hour: 9),
                ])
            let now = AppStore.day(10)
            let due = #Predicate<CalendarV2.Event> { event in
                event.start > now && event.alarms?.contains { $0.offset < -100 } ?? false
                    && event.location == nil
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: due)) == 15)
            let rooms = #Predicate<CalendarV2.Event> { event in
                event.location.flatMap { $0.starts(with: "Room") } == true
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: rooms)) == 30)
        }
    }

    @Test("a calendar that is deleted deletes its events, alarms and attachments")
    func deletions() throws {
        try store.launch(CalendarV2.self, CalendarPlan.self) { context in
            let agendas = try context.fetch(
                FetchDescriptor<CalendarV2.Agenda>(sortBy: [SortDescriptor(\.name)]))
            for (number, event) in (agendas[1].events ?? []).enumerated() {
                let url = URL(filePath: "/tmp/\(number).pdf")
                event.attachments?.append(
                    CalendarV2.Attachment(url: url, data: Data(repeating: 7, count: 5_000)))
                event.sequence += 1
            }
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<CalendarV2.Attachment>()) == 40)
            let copy = CalendarV2.Event(
                summary: "Copy", start: AppStore.day(90), end: AppStore.day(91))
            copy.uid = try #require(agendas[0].events?.first).uid
            copy.agenda = agendas[0]
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<CalendarV2.Event>()) == 120)
            #expect(agendas[0].events?.contains { $0.summary == "Copy" } == true)
            context.delete(agendas[1])
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<CalendarV2.Event>()) == 80)
            #expect(try context.fetchCount(FetchDescriptor<CalendarV2.Attachment>()) == 0)
            #expect(try context.fetchCount(FetchDescriptor<CalendarV2.Alarm>()) == 32)
        }
        try store.expectCurrent(CalendarV2.self, CalendarPlan.self)
    }
}
