import Foundation
import SwiftData
import Testing

@Suite("Models work in the forms that programs declare them")
struct ModelShapeTests {
    private func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test("every type of an attribute is read as it was saved")
    func attributes() throws {
        let container = try container(Shapes.Everything.self)
        let model = Shapes.Everything()
        model.status = .sent
        model.level = .high
        model.address.street = "A"
        model.place = Shapes.Address(city: "B", built: Date(timeIntervalSinceReferenceDate: 1))
        model.byStatus = [.sent: 2]
        model.implicit = 3
        model.twice = 10
        model.default = false
        model.cache = [1]
        let context = ModelContext(container)
        context.insert(model)
        try context.save()
        let read = try #require(
            try ModelContext(container).fetch(FetchDescriptor<Shapes.Everything>()).first)
        #expect(read !== model)
        #expect(read.text == "text")
        #expect(read.int == 5)
        #expect(read.small == 8)
        #expect(read.unsigned == .max)
        #expect(read.decimal == 0)
        #expect(read.date == model.date)
        #expect(read.distant == .distantPast)
        #expect(read.uuid == model.uuid)
        #expect(read.url == model.url)
        #expect(read.status == .sent)
        #expect(read.level == .high)
        #expect(read.address == Shapes.Address(street: "A", city: "Bonn"))
        #expect(read.place == model.place)
        #expect(read.numbers == [1, 2, 3])
        #expect(read.counts == ["a": 1])
        #expect(read.byStatus == [.sent: 2])
        #expect(read.optional == nil)
        #expect(read.implicit == 3)
        #expect(read.generic == 2)
        #expect(read.default == false)
        #expect(read.readOnly == 0.25)
        #expect(read.cache == nil)
    }

    @Test("relationships of a model may have any initial value")
    func relationships() throws {
        let diary = Shapes.Diary()
        #expect(diary.pages?.isEmpty == true)
        let page = Shapes.Page(text: "a")
        diary.all = [page]
        #expect(diary.all.map(\.text) == ["a"])
        #expect(diary.cover == nil)
    }

    @Test("a model may have its own identifier, equality and order")
    func own() {
        let (one, two) = (Shapes.Own.make(rank: 1), Shapes.Own.make(rank: 2))
        #expect(one < two)
        #expect(one != two)
        #expect(Set([one, two, one]).count == 2)
        #expect(Shapes.hiddenNames().count == 1)
    }

    @Test("a model may be Codable by its own functions")
    func coded() throws {
        let data = try JSONEncoder().encode(Shapes.Coded(x: 3))
        #expect(try JSONDecoder().decode(Shapes.Coded.self, from: data).x == 3)
    }

    @Test("the levels of a model's class hierarchy are one object")
    func hierarchy() throws {
        let container = try container(Puppy.self)
        let context = ModelContext(container)
        let puppy = Puppy(name: "Rex", weeks: 6)
        #expect(puppy.weeks == 6)
        #expect(puppy.name == "Rex")
        #expect(puppy.isGood)
        puppy.toys.append("bone")
        let keeper = Keeper(name: "Ann")
        puppy.owner = keeper
        context.insert(puppy)
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.fetch(FetchDescriptor<Puppy>()).first)
        #expect(read.weeks == 6)
        #expect(read.name == "Rex")
        #expect(read.legs == 4)
        #expect(read.isGood)
        #expect(read.toys == ["ball", "bone"])
        #expect(read.owner?.name == "Ann")
        #expect(read.owner?.animals?.first === read)
        #expect(read.sound() == "woof")
        let animals = try other.fetch(FetchDescriptor<Animal>())
        #expect(animals.count == 1)
        #expect(animals.first is Puppy)
        let good = FetchDescriptor<Dog>(predicate: #Predicate { $0.isGood && $0.name == "Rex" })
        #expect(try other.fetchCount(good) == 1)
    }

    @Test("observers of inherited and own properties of a model see their changes")
    func observation() {
        let dog = Dog(name: "Rex")
        let seen = Counter()
        withObservationTracking {
            _ = dog.name
        } onChange: {
            seen.increment()
        }
        dog.name = "Max"
        withObservationTracking {
            _ = dog.isGood
        } onChange: {
            seen.increment()
        }
        dog.isGood = false
        #expect(seen.count == 2)
    }

    @Test("a transformable attribute is read as it was saved")
    func transformable() throws {
        let container = try container(Painted.self)
        let context = ModelContext(container)
        let painted = Painted()
        painted.other = Tint(red: 4)
        context.insert(painted)
        try context.save()
        let read = try ModelContext(container).fetch(FetchDescriptor<Painted>()).first
        #expect(read?.tint == Tint(red: 1))
        #expect(read?.other == Tint(red: 4))
    }

    @Test("a model's protocol may refine PersistentModel")
    func refined() {
        #expect(ShapesV1.Item(title: "a").shout() == "A")
    }

    @Test("model actors may be public, generic, and have other initializers")
    func actors() async throws {
        let container = try container(ShapesV1.Item.self)
        let handler = ShapeHandler(modelContainer: container)
        let identifier = try await handler.insert("a")
        #expect(await handler.title(of: identifier) == "a")
        let generic = GenericHandler<ShapesV1.Item>(modelContainer: container)
        #expect(try await generic.count() == 1)
        let main = await MainHandler(modelContainer: container, mainActor: true)
        #expect(main.modelContainer === container)
    }
}

private final class Counter: @unchecked Sendable {
    // Used by one test on one thread.
    private(set) var count = 0

    func increment() { count += 1 }
}
