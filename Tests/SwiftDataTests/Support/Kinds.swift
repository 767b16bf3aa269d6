import Foundation
import SwiftData

/// Models with a property of every kind.
enum Mood: Codable { case calm, busy }

struct Place: Codable, Hashable {
    var city: String
    var rank: Int
}

@Model final class Everything {
    var flag: Bool
    var count: Int
    var small: Int16
    var ratio: Double
    var single: Float
    var text: String
    var note: String?
    var day: Date
    var bytes: Data
    @Attribute(.unique) var uuid: UUID
    var link: URL
    var price: Decimal
    var genre: Genre
    var mood: Mood = Mood.calm
    var place: Place
    var places: [Place]
    var table: [String: Int]
    var required: Target
    var optional: Target?
    var many: [Target]
    var maybe: [Part]?

    init(text: String, required: Target) {
        flag = true
        count = 1
        small = 2
        ratio = 0.5
        single = 0.25
        self.text = text
        day = Date(timeIntervalSinceReferenceDate: 0)
        bytes = Data([1])
        uuid = UUID()
        link = URL(filePath: "/a")
        price = Decimal(string: "1.10") ?? 0
        genre = .news
        place = Place(city: "Rome", rank: 1)
        places = []
        table = [:]
        self.required = required
        many = []
        maybe = []
    }
}

@Model final class Target {
    var name: String
    @Relationship(inverse: \Everything.required) var requiredBy: [Everything] = []
    @Relationship(inverse: \Everything.optional) var optionalOf: [Everything] = []
    @Relationship(inverse: \Everything.many) var manyOf: [Everything] = []

    init(name: String) { self.name = name }
}

@Model final class Part {
    var name: String
    var whole: Everything?

    init(name: String) { self.name = name }
}

func makeKinds() throws -> ModelContainer {
    try ModelContainer(
        for: Everything.self, Target.self, Part.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

extension Everything {
    /// Reads every property.
    func readAll() -> String {
        "\(flag)\(count)\(small)\(ratio)\(single)\(text)\(note ?? "")\(day)\(bytes)\(uuid)\(link)"
            + "\(price)\(genre)\(mood)\(place)\(places)\(table)\(required.name)"
            + "\(optional?.name ?? "")\(many.map(\.name))\((maybe ?? []).map(\.name))"
            + "\(persistentModelID)\(isDeleted)\(hasChanges)\(id)"
    }

    /// Writes every property.
    func writeAll(_ target: Target) {
        flag.toggle()
        count += 1
        small += 1
        ratio += 1
        single += 1
        text += "."
        note = "n"
        day += 1
        bytes.append(2)
        uuid = UUID()
        link = URL(filePath: "/b")
        price += 1
        genre = .essay
        mood = .busy
        place.rank += 1
        places.append(place)
        table["a", default: 0] += 1
        required = target
        optional = target
        many.append(target)
        maybe = (maybe ?? []) + [Part(name: "p")]
    }
}
