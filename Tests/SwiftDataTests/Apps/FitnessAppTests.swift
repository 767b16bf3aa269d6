import Foundation
import SwiftData
import Testing

// Workouts with exercises and sets, and routes. The second version stores distances in meters,
// moves the heart rates of a workout into a model, and adds records and a class of workouts.

enum FitnessEffort: Codable, Hashable {
    case easy
    case zone(Int)
    case interval(work: TimeInterval, rest: TimeInterval, rounds: Int)
}

struct FitnessDistance: Codable, Hashable, Comparable {
    var meters: Double

    var kilometers: Double { meters / 1_000 }

    static func < (left: Self, right: Self) -> Bool { left.meters < right.meters }
}

enum FitnessV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Workout.self, Exercise.self, WorkoutSet.self]
    }

    @Model final class Workout {
        var date: Date
        var name: String
        var miles: Double
        var duration: TimeInterval
        var heartRates: [Int] = []
        var effort: FitnessEffort = FitnessEffort.easy
        @Relationship(deleteRule: .cascade, inverse: \WorkoutSet.workout) var sets: [WorkoutSet]

        init(date: Date, name: String, miles: Double, duration: TimeInterval) {
            self.date = date
            self.name = name
            self.miles = miles
            self.duration = duration
            sets = []
        }
    }

    @Model final class Exercise {
        @Attribute(.unique) var name: String
        var muscles: [String]
        @Relationship(deleteRule: .deny, inverse: \WorkoutSet.exercise) var sets: [WorkoutSet] = []

        init(name: String, muscles: [String]) {
            self.name = name
            self.muscles = muscles
        }
    }

    @Model final class WorkoutSet {
        var index: Int
        var repetitions: Int
        var weight: Double?
        var exercise: Exercise
        var workout: Workout?

        init(index: Int, repetitions: Int, weight: Double?, exercise: Exercise) {
            self.index = index
            self.repetitions = repetitions
            self.weight = weight
            self.exercise = exercise
        }
    }
}

enum FitnessV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [
            Workout.self, Race.self, Exercise.self, WorkoutSet.self, HeartRecord.self, Goal.self,
        ]
    }

    @Model class Workout {
        #Index<Workout>([\.date])

        var date: Date
        var name: String
        @Attribute(originalName: "miles") var meters: Double
        var duration: TimeInterval
        var effort: FitnessEffort = FitnessEffort.easy
        @Relationship(deleteRule: .cascade, inverse: \WorkoutSet.workout) var sets: [WorkoutSet]
        @Relationship(deleteRule: .cascade, inverse: \HeartRecord.workout) var heart: HeartRecord?
        @Relationship(inverse: \Goal.workouts) var goals: [Goal] = []

        init(date: Date, name: String, meters: Double = 0, duration: TimeInterval = 0) {
            self.date = date
            self.name = name
            self.meters = meters
            self.duration = duration
            sets = []
        }

        var distance: FitnessDistance { FitnessDistance(meters: meters) }
        var pace: TimeInterval? { meters > 0 ? duration / distance.kilometers : nil }
    }

    @Model final class Race: Workout {
        var bib: Int
        var place: Int?

        init(date: Date, name: String, meters: Double, duration: TimeInterval, bib: Int) {
            self.bib = bib
            super.init(date: date, name: name, meters: meters, duration: duration)
        }

        override var pace: TimeInterval? { super.pace.map { $0.rounded() } }
    }

    @Model final class Exercise {
        @Attribute(.unique) var name: String
        var muscles: [String]
        var uuid: UUID = UUID()
        @Relationship(deleteRule: .deny, inverse: \WorkoutSet.exercise) var sets: [WorkoutSet] = []

        init(name: String, muscles: [String]) {
            self.name = name
            self.muscles = muscles
        }
    }

    @Model final class WorkoutSet {
        var index: Int
        var repetitions: Int
        var weight: Double?
        var isWarmup: Bool = false
        var exercise: Exercise
        var workout: Workout?

        init(index: Int, repetitions: Int, weight: Double?, exercise: Exercise) {
            self.index = index
            self.repetitions = repetitions
            self.weight = weight
            self.exercise = exercise
        }

        var volume: Double { Double(repetitions) * (weight ?? 0) }
    }

    @Model final class HeartRecord {
        var rates: [Int]
        var maximum: Int
        var workout: Workout?

        init(rates: [Int]) {
            self.rates = rates
            maximum = rates.max() ?? 0
        }
    }

    @Model final class Goal {
        var name: String
        var deadline: Date = Date.distantFuture
        var workouts: [Workout] = []

        init(name: String) { self.name = name }
    }
}

/// The version between the two, which has the old and the new form of heart rates.
enum FitnessTransition: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 5, 0)
    static var models: [any PersistentModel.Type] {
        [Workout.self, Exercise.self, WorkoutSet.self, HeartRecord.self]
    }

    @Model final class Workout {
        var date: Date
        var name: String
        var miles: Double
        var duration: TimeInterval
        var heartRates: [Int] = []
        var effort: FitnessEffort = FitnessEffort.easy
        @Relationship(deleteRule: .cascade, inverse: \WorkoutSet.workout) var sets: [WorkoutSet]
        @Relationship(deleteRule: .cascade, inverse: \HeartRecord.workout) var heart: HeartRecord?

        init() {
            (date, name, miles, duration, sets) = (.now, "", 0, 0, [])
        }
    }

    @Model final class Exercise {
        @Attribute(.unique) var name: String
        var muscles: [String]
        @Relationship(deleteRule: .deny, inverse: \WorkoutSet.exercise) var sets: [WorkoutSet] = []

        init(name: String) {
            self.name = name
            muscles = []
        }
    }

    @Model final class WorkoutSet {
        var index: Int
        var repetitions: Int
        var weight: Double?
        var exercise: Exercise
        var workout: Workout?

        init(exercise: Exercise) {
            (index, repetitions) = (0, 0)
            self.exercise = exercise
        }
    }

    @Model final class HeartRecord {
        var rates: [Int]
        var maximum: Int
        var workout: Workout?

        init(rates: [Int]) {
            self.rates = rates
            maximum = rates.max() ?? 0
        }
    }
}

enum FitnessPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        [FitnessV1.self, FitnessTransition.self, FitnessV2.self]
    }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: FitnessV1.self, toVersion: FitnessTransition.self, willMigrate: nil,
                didMigrate: { context in
                    let workouts = FetchDescriptor<FitnessTransition.Workout>()
                    try context.enumerate(
                        workouts, batchSize: 20, allowEscapingMutations: true
                    ) { workout in
                        if !workout.heartRates.isEmpty {
                            workout.heart = FitnessTransition.HeartRecord(rates: workout.heartRates)
                        }
                    }
                    try context.save()
                }),
            .custom(
                fromVersion: FitnessTransition.self, toVersion: FitnessV2.self, willMigrate: nil,
                didMigrate: { context in
                    for workout in try context.fetch(FetchDescriptor<FitnessV2.Workout>()) {
                        workout.meters *= 1_609.344
                    }
                    try context.save()
                }),
        ]
    }
}

extension FitnessV2.Workout {
    static func month(of date: Date, calendar: Calendar) -> FetchDescriptor<FitnessV2.Workout> {
        guard let month = calendar.dateInterval(of: .month, for: date) else { return .init() }
        let (start, end) = (month.start, month.end)
        return FetchDescriptor(
            predicate: #Predicate { start <= $0.date && $0.date < end },
            sortBy: [.init(\.date, order: .reverse)])
    }
}

/// The import of workouts from a watch, in the background.
@ModelActor actor FitnessImporter {
    func add(_ races: [(name: String, meters: Double)], start: Date) throws -> Int {
        try modelContext.transaction {
            for (number, race) in races.enumerated() {
                let race = FitnessV2.Race(
                    date: start.addingTimeInterval(Double(number)), name: race.name,
                    meters: race.meters, duration: race.meters / 3, bib: number)
                race.place = number % 2 == 0 ? number : nil
                modelContext.insert(race)
            }
        }
        return try modelContext.fetchCount(FetchDescriptor<FitnessV2.Race>())
    }
}

@Suite("An app for fitness")
struct FitnessAppTests {
    private let store: AppStore

    /// The store of the first version: 80 workouts of 5 sets, with 8 exercises.
    init() throws {
        store = try AppStore()
        try store.launch(FitnessV1.self) { context in
            let exercises = (0..<8).map { number in
                FitnessV1.Exercise(
                    name: "Exercise \(number)", muscles: number % 2 == 0 ? ["arm", "leg"] : [])
            }
            for number in 0..<80 {
                let workout = FitnessV1.Workout(
                    date: AppStore.day(number, hour: 18), name: "Workout \(number)",
                    miles: Double(number % 8) / 2, duration: 1_800)
                workout.heartRates = rates(number)
                workout.effort = effort(number)
                workout.sets = (0..<5).map { index in
                    FitnessV1.WorkoutSet(
                        index: index, repetitions: 5 + index, weight: index == 0 ? nil : 40.5,
                        exercise: exercises[(number + index) % 8])
                }
                context.insert(workout)
            }
            try context.save()
            #expect(exercises[3].sets.count == 50)
        }
    }

    private func rates(_ number: Int) -> [Int] {
        number % 4 == 3 ? [] : (0..<20).map { 100 + number + $0 }
    }

    private func effort(_ number: Int) -> FitnessEffort {
        switch number % 3 {
        case 0: .easy
        case 1: .zone(number % 5)
        default: .interval(work: 30, rest: Double(number), rounds: 8)
        }
    }

    @Test("the workouts of an app get meters and heart records in two stages")
    func stages() throws {
        try store.launch(FitnessV2.self, FitnessPlan.self) { context in
            let workouts = try context.fetch(
                FetchDescriptor<FitnessV2.Workout>(sortBy: [SortDescriptor(\.date)]))
            #expect(workouts.count == 80)
            for (number, workout) in workouts.enumerated() {
                #expect(workout.name == "Workout \(number)" && workout.effort == effort(number))
                #expect(workout.meters == Double(number % 8) / 2 * 1_609.344)
                #expect((workout.pace == nil) == (number % 8 == 0))
                #expect(workout.heart?.rates == (number % 4 == 3 ? nil : rates(number)))
                #expect(workout.heart?.maximum == rates(number).max())
                #expect(workout.goals.isEmpty && workout is FitnessV2.Race == false)
                let sets = workout.sets.sorted { $0.index < $1.index }
                #expect(sets.map(\.repetitions) == [5, 6, 7, 8, 9])
                #expect(sets.map(\.weight) == [nil, 40.5, 40.5, 40.5, 40.5])
                #expect(
                    sets.map(\.exercise.name) == (0..<5).map { "Exercise \((number + $0) % 8)" })
                #expect(sets.allSatisfy { !$0.isWarmup })
            }
            let exercises = try context.fetch(FetchDescriptor<FitnessV2.Exercise>())
            #expect(Set(exercises.map(\.uuid)).count == 8)
            #expect(exercises.filter { $0.muscles == ["arm", "leg"] }.count == 4)
            context.delete(exercises[0])
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            context.delete(workouts[0])
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<FitnessV2.WorkoutSet>()) == 395)
            #expect(try context.fetchCount(FetchDescriptor<FitnessV2.HeartRecord>()) == 59)
        }
        try store.expectCurrent(FitnessV2.self, FitnessPlan.self)
    }

    @Test("the app for workouts finds them by month, exercise, heart rate and class")
    func queries() async throws {
        let container = try store.open(FitnessV2.self, FitnessPlan.self)
        let importer = FitnessImporter(modelContainer: container)
        let races = [(name: "Night run", meters: 10_000.0), (name: "Half", meters: 21_097.5)]
        #expect(try await importer.add(races, start: AppStore.day(70)) == 2)
        let context = ModelContext(container)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let may = FitnessV2.Workout.month(of: AppStore.day(63), calendar: calendar)
        let workouts = try context.fetch(may)
        #expect(workouts.count == 21)
        #expect((workouts.first { $0 is FitnessV2.Race } as? FitnessV2.Race)?.bib == 1)
        #expect(workouts.first { $0.name == "Half" }?.pace == 333)
        func count(_ predicate: Predicate<FitnessV2.Workout>) throws -> Int {
            try context.fetchCount(FetchDescriptor(predicate: predicate))
        }
        #expect(try count(#Predicate { $0.heart.flatMap { $0.maximum > 150 } ?? false }) == 36)
        #expect(try count(#Predicate { $0.heart == nil }) == 22)
        let name = "Exercise 0"
        #expect(
            try count(
                #Predicate { workout in
                    workout.sets.contains { $0.exercise.name == name && ($0.weight ?? 0) > 40 }
                }) == 40)
        #expect(try count(#Predicate { ($0 as? FitnessV2.Race)?.place == nil }) == 81)
        let heavy = FetchDescriptor<FitnessV2.WorkoutSet>(
            predicate: #Predicate { $0.weight != nil && $0.repetitions > 8 },
            sortBy: [
                SortDescriptor(\.exercise.name), SortDescriptor(\.workout?.date, order: .reverse),
            ])
        let sets = try context.fetch(heavy)
        #expect(sets.count == 80)
        #expect(sets.first?.workout?.name == "Workout 76" && sets.first?.volume == 364.5)
        var volume = 0.0
        try context.enumerate(heavy, batchSize: 16) { volume += $0.volume }
        #expect(volume == 80 * 364.5)
    }

    @Test("the goals of workouts are undone and redone with their links")
    func undo() throws {
        try store.launch(FitnessV2.self, FitnessPlan.self) { context in
            let manager = UndoManager()
            context.undoManager = manager
            let workouts = try context.fetch(
                FetchDescriptor<FitnessV2.Workout>(sortBy: [SortDescriptor(\.date)]))
            let goal = FitnessV2.Goal(name: "Marathon")
            context.insert(goal)
            context.processPendingChanges()
            goal.workouts = Array(workouts.prefix(10))
            context.processPendingChanges()
            workouts[0].goals.removeAll()
            workouts[1].heart = nil
            #expect(goal.workouts.count == 9)
            manager.undo()
            #expect(goal.workouts.count == 10 && workouts[1].heart?.maximum == 120)
            manager.undo()
            #expect(goal.workouts.isEmpty && workouts[0].goals.isEmpty)
            manager.redo()
            try context.save()
        }
        try store.launch(FitnessV2.self, FitnessPlan.self) { context in
            let goals = #Predicate<FitnessV2.Goal> { goal in
                goal.workouts.filter { $0.meters > 1_000 }.count == 6
            }
            let goal = try #require(try context.fetch(FetchDescriptor(predicate: goals)).first)
            #expect(goal.deadline == .distantFuture && goal.workouts.count == 10)
        }
        try store.expectCurrent(FitnessV2.self, FitnessPlan.self)
    }
}
