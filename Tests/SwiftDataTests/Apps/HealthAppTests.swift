import Foundation
import SwiftData
import Testing

// Measurements of a body in many units. The second version stores all of them in metric units, for
// which it converts the values, and adds summaries of days.

enum HealthKind: String, Codable, CaseIterable {
    case weight, height, pulse, steps
}

struct HealthRange: Codable, Hashable {
    var low: Double
    var high: Double

    func contains(_ value: Double) -> Bool { (low...high).contains(value) }
}

enum HealthV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Sample.self, Device.self] }

    @Model final class Sample {
        @Attribute(.unique, .preserveValueOnDeletion) var uuid: UUID
        var kindName: String
        var value: Double
        var unit: String
        var recordedAt: Date
        var metadata: [String: String] = [:]
        var device: Device

        init(kind: HealthKind, value: Double, unit: String, recordedAt: Date, device: Device) {
            uuid = UUID()
            kindName = kind.rawValue
            self.value = value
            self.unit = unit
            self.recordedAt = recordedAt
            self.device = device
        }
    }

    @Model final class Device {
        var name: String
        var firmware: [Int]
        @Relationship(deleteRule: .cascade, inverse: \Sample.device) var samples: [Sample]?

        init(name: String, firmware: [Int]) {
            self.name = name
            self.firmware = firmware
        }
    }
}

enum HealthV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Sample.self, Device.self, Summary.self] }

    @Model final class Sample {
        #Index<Sample>([\.recordedAt], [\.kindName, \.recordedAt])

        @Attribute(.unique, .preserveValueOnDeletion) var uuid: UUID
        @Attribute(.preserveValueOnDeletion) var kindName: String
        @Attribute(originalName: "value") var quantity: Double
        var recordedAt: Date
        var modifiedAt: Date = Date.now
        var metadata: [String: String] = [:]
        var device: Device
        var summary: Summary?
        @Attribute(.ephemeral) var isUploading: Bool = false

        init(kind: HealthKind, quantity: Double, recordedAt: Date, device: Device) {
            uuid = UUID()
            kindName = kind.rawValue
            self.quantity = quantity
            self.recordedAt = recordedAt
            self.device = device
        }

        /// The kind, which predicates cannot use.
        var kind: HealthKind {
            get { HealthKind(rawValue: kindName) ?? .steps }
            set { kindName = newValue.rawValue }
        }
    }

    @Model final class Device {
        var name: String
        var firmware: [Int]
        var token: String = UUID().uuidString
        @Relationship(deleteRule: .cascade, inverse: \Sample.device) var samples: [Sample]?

        init(name: String, firmware: [Int] = [1]) {
            self.name = name
            self.firmware = firmware
        }
    }

    @Model final class Summary {
        #Unique<Summary>([\.day, \.kindName])

        var day: Date
        var kindName: String
        var average: Double
        var range: HealthRange
        @Relationship(inverse: \Sample.summary) var samples: [Sample]

        init(day: Date, kindName: String, samples: [Sample]) {
            let values = samples.map(\.quantity)
            self.day = day
            self.kindName = kindName
            average = values.reduce(0, +) / Double(max(values.count, 1))
            range = HealthRange(low: values.min() ?? 0, high: values.max() ?? 0)
            self.samples = samples
        }
    }
}

enum HealthPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [HealthV1.self, HealthV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: HealthV1.self, toVersion: HealthV2.self,
                willMigrate: { context in
                    let metric = ["kg", "cm", "bpm", "count"]
                    let imperial = FetchDescriptor<HealthV1.Sample>(
                        predicate: #Predicate { !metric.contains($0.unit) })
                    try context.enumerate(imperial, batchSize: 100, allowEscapingMutations: true) {
                        sample in
                        switch sample.unit {
                        case "lb":
                            sample.value *= 0.45359237
                            sample.unit = "kg"
                        case "in":
                            sample.value *= 2.54
                            sample.unit = "cm"
                        default: context.delete(sample)
                        }
                    }
                    try context.save()
                },
                didMigrate: { context in
                    try summarize(in: context)
                    try context.save()
                })
        ]
    }

    private static func summarize(in context: ModelContext) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let samples = try context.fetch(FetchDescriptor<HealthV2.Sample>())
        for (kind, samples) in Dictionary(grouping: samples, by: \.kindName) {
            let days = Dictionary(grouping: samples) { calendar.startOfDay(for: $0.recordedAt) }
            for (day, samples) in days {
                context.insert(HealthV2.Summary(day: day, kindName: kind, samples: samples))
            }
        }
    }
}

extension HealthV2.Sample {
    static func descriptor(
        of kind: HealthKind, in days: Range<Date>
    ) -> FetchDescriptor<HealthV2.Sample> {
        let name = kind.rawValue
        return FetchDescriptor(
            predicate: #Predicate { $0.kindName == name && days.contains($0.recordedAt) },
            sortBy: [SortDescriptor(\.recordedAt), SortDescriptor(\.quantity)])
    }
}

/// The part of the app that uploads what was changed since the last time.
@ModelActor actor HealthUploader {
    private var token: DefaultHistoryToken?

    /// The kinds of the samples that were inserted and deleted.
    func changes() throws -> (inserted: [String], deleted: [String]) {
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        if let token { descriptor.predicate = #Predicate { $0.token > token } }
        var (inserted, deleted): ([String], [String]) = ([], [])
        for transaction in try modelContext.fetchHistory(descriptor) {
            token = transaction.token
            for change in transaction.changes {
                switch change {
                case .insert(_ as DefaultHistoryInsert<HealthV2.Sample>):
                    let identifier = change.changedPersistentIdentifier
                    let sample = self[identifier, as: HealthV2.Sample.self]
                    if let sample { inserted.append(sample.kindName) }
                case .delete(let delete as DefaultHistoryDelete<HealthV2.Sample>):
                    if let kind = delete.tombstone[\.kindName] as? String { deleted.append(kind) }
                default: break
                }
            }
        }
        return (inserted, deleted)
    }
}

@Suite("An app for health")
struct HealthAppTests {
    private let store: AppStore

    /// The store of the first version: 30 days with 4 samples of each kind, from two devices, of
    /// which one uses other units, and a sample whose unit nobody knows.
    init() throws {
        store = try AppStore()
        try store.launch(HealthV1.self) { context in
            let scale = HealthV1.Device(name: "Scale", firmware: [1, 2, 3])
            let watch = HealthV1.Device(name: "Watch", firmware: [])
            context.insert(scale)
            context.insert(watch)
            for number in 0..<480 {
                let kind = HealthKind.allCases[number % 4]
                let (value, unit) = measure(kind, number)
                let sample = HealthV1.Sample(
                    kind: kind, value: value, unit: unit,
                    recordedAt: AppStore.day(number / 16, hour: number % 16),
                    device: number % 4 < 2 ? scale : watch)
                sample.metadata = number % 9 == 0 ? ["mood": "good", "n": "\(number)"] : [:]
                context.insert(sample)
            }
            context.insert(
                HealthV1.Sample(
                    kind: .weight, value: 12, unit: "stone", recordedAt: AppStore.start,
                    device: scale))
            try context.save()
            #expect(scale.samples?.count == 241)
        }
    }

    private func measure(_ kind: HealthKind, _ number: Int) -> (Double, String) {
        switch kind {
        case .weight: number % 8 == 0 ? (150 + Double(number % 16), "lb") : (70.5, "kg")
        case .height: number % 8 == 1 ? (70, "in") : (178, "cm")
        case .pulse: (Double(60 + number % 30), "bpm")
        case .steps: (Double(number * 10), "count")
        }
    }

    @Test("the samples of a body are converted to metric units by a migration")
    func units() throws {
        let factors = ["lb": 0.45359237, "in": 2.54]
        try store.launch(HealthV2.self, HealthPlan.self) { context in
            let samples = try context.fetch(
                FetchDescriptor<HealthV2.Sample>(sortBy: [SortDescriptor(\.recordedAt)]))
            #expect(samples.count == 480)
            for (number, sample) in samples.enumerated() {
                let (value, unit) = measure(sample.kind, number)
                let factor = factors[unit] ?? 1
                #expect(sample.kind == HealthKind.allCases[number % 4])
                #expect(sample.quantity == value * factor)
                #expect(sample.metadata["n"] == (number % 9 == 0 ? "\(number)" : nil))
                #expect(sample.device.name == (number % 4 < 2 ? "Scale" : "Watch"))
                #expect(!sample.isUploading)
            }
            let devices = try context.fetch(
                FetchDescriptor<HealthV2.Device>(sortBy: [SortDescriptor(\.name)]))
            #expect(devices.map(\.firmware) == [[1, 2, 3], []])
            #expect(devices.map { $0.samples?.count } == [240, 240])
            #expect(Set(devices.map(\.token.count)) == [36])
            #expect(devices[0].token != devices[1].token)
            // A value that the migration would convert again is kept.
            samples[0].quantity = 150
            try context.save()
        }
        try store.expectCurrent(HealthV2.self, HealthPlan.self)
        try store.launch(HealthV2.self, HealthPlan.self) { context in
            var first = HealthV2.Sample.descriptor(
                of: .weight, in: AppStore.day(0)..<AppStore.day(1))
            first.fetchLimit = 1
            let quantities = try context.fetch(first).map(\.quantity)
            #expect(quantities == [150])
        }
    }

    @Test("the summaries of a body have one range for each day and kind")
    func summaries() throws {
        try store.launch(HealthV2.self, HealthPlan.self) { context in
            #expect(try context.fetchCount(FetchDescriptor<HealthV2.Summary>()) == 120)
            let limit = 4_700.0
            let active = try context.fetch(
                FetchDescriptor<HealthV2.Summary>(
                    predicate: #Predicate { summary in
                        summary.kindName == "steps" && summary.range.high > limit
                    }))
            #expect(active.map(\.day) == [AppStore.day(29)])
            #expect(active.map(\.average) == [4_730])
            #expect(active.first?.range == HealthRange(low: 4_670, high: 4_790))
            #expect(active.first?.range.contains(4_700) == true)
            let fromWatch = #Predicate<HealthV2.Summary> { summary in
                summary.samples.contains { $0.device.name == "Watch" }
                    && summary.samples.allSatisfy { $0.quantity < 80 }
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: fromWatch)) == 8)
            let samples = try #require(active.first).samples
            context.insert(
                HealthV2.Summary(day: AppStore.day(29), kindName: "steps", samples: [samples[0]]))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<HealthV2.Summary>()) == 120)
            #expect(active[0].samples.count == 1)
            #expect(samples[1].summary == nil)
        }
        try store.expectCurrent(HealthV2.self, HealthPlan.self)
    }

    @Test("the uploader of a body's samples finds what was inserted and deleted in the history")
    func history() async throws {
        let container = try store.open(HealthV2.self, HealthPlan.self)
        let context = ModelContext(container)
        context.author = "app"
        let uploader = HealthUploader(modelContainer: container)
        #expect(try await uploader.changes().inserted.count == 480)
        let watch = try #require(
            try context.fetch(
                FetchDescriptor<HealthV2.Device>(predicate: #Predicate { $0.name == "Watch" })
            ).first)
        let sample = HealthV2.Sample(
            kind: .pulse, quantity: 55, recordedAt: AppStore.day(40), device: watch)
        sample.isUploading = true
        context.insert(sample)
        try context.save()
        #expect(try await uploader.changes() == (["pulse"], []))
        let day = AppStore.day(1)
        try context.delete(
            model: HealthV2.Sample.self,
            where: #Predicate { $0.recordedAt < day && $0.device.name == "Watch" })
        try context.save()
        let deleted = try await uploader.changes().deleted
        #expect(deleted.filter { $0 == "pulse" }.count == 4)
        #expect(deleted.filter { $0 == "steps" }.count == 4)
        #expect(try await uploader.changes() == ([], []))
        #expect(try context.fetchCount(FetchDescriptor<HealthV2.Sample>()) == 473)
        #expect(watch.samples?.count == 233)
        context.delete(watch)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<HealthV2.Sample>()) == 240)
    }
}
