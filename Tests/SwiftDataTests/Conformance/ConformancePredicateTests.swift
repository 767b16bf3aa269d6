import Foundation
import SwiftData
import Testing

@Suite("Predicates over models, in the store and with pending changes")
struct ConformancePredicateTests {
    /// The texts of the models that match, which must be the same before and after the save.
    private func matching(_ predicate: Predicate<Everything>) throws -> [String] {
        let context = ModelContext(try makeKinds())
        let red = Target(name: "Red")
        let blue = Target(name: "Blue")
        for (index, text) in ["Ada", "bob", "Éva"].enumerated() {
            let model = Everything(text: text, required: index == 0 ? red : blue)
            model.count = index
            model.price = Decimal(index) + (Decimal(string: "0.1") ?? 0)
            model.day = Date(timeIntervalSinceReferenceDate: Double(index))
            model.genre = index == 1 ? .essay : .news
            model.place = Place(city: index == 2 ? "Oslo" : "Rome", rank: index)
            model.note = index == 0 ? nil : "n\(index)"
            if index > 0 { model.optional = red }
            model.many = index == 2 ? [red, blue] : index == 1 ? [red] : []
            model.maybe = index == 1 ? [Part(name: "p")] : nil
            context.insert(model)
        }
        let descriptor = FetchDescriptor(predicate: predicate)
        let before = try context.fetch(descriptor).map(\.text)
        #expect(try context.fetchCount(descriptor) == before.count)
        try context.save()
        #expect(try context.fetch(descriptor).map(\.text) == before)
        return before
    }

    @Test("predicates over to-many relationships select the right models, pending or saved")
    func toMany() throws {
        #expect(
            try matching(#Predicate { $0.many.contains { $0.name == "Blue" } }) == ["Éva"])
        #expect(
            try matching(
                #Predicate { $0.many.contains { $0.manyOf.contains { $0.text == "bob" } } })
                == ["bob", "Éva"])
        #expect(
            try matching(#Predicate { $0.many.filter { $0.name == "Red" }.count == 1 })
                == ["bob", "Éva"])
        #expect(try matching(#Predicate { $0.many.count == 2 }) == ["Éva"])
        #expect(
            try matching(#Predicate { $0.many.allSatisfy { $0.name == "Red" } })
                == ["Ada", "bob"])
        #expect(try matching(#Predicate { $0.many.isEmpty }) == ["Ada"])
        #expect(
            try matching(#Predicate { $0.maybe?.contains { $0.name == "p" } ?? false })
                == ["bob"])
    }

    @Test("predicates over members of structures select the right models, pending or saved")
    func structures() throws {
        #expect(try matching(#Predicate { $0.place.city == "Rome" }) == ["Ada", "bob"])
        #expect(
            try matching(#Predicate { $0.place.rank > 0 && $0.place.city != "Rome" }) == ["Éva"])
        #expect(
            try matching(#Predicate { $0.place.city.localizedStandardContains("OSL") })
                == ["Éva"])
        let place = Place(city: "Rome", rank: 1)
        #expect(try matching(#Predicate { $0.place == place }) == ["bob"])
        #expect(try matching(#Predicate { $0.place != place }) == ["Ada", "Éva"])
        let places = [place, Place(city: "Oslo", rank: 2)]
        #expect(try matching(#Predicate { places.contains($0.place) }) == ["bob", "Éva"])
        #expect(try matching(#Predicate { $0.places == places }) == [])
    }

    @Test("predicates over an optional structure can use a default for nil")
    func optionalStructure() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Visit.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        for place in [nil, Place(city: "Oslo", rank: 7), Place(city: "Rome", rank: 1)] {
            context.insert(Visit(place: place))
        }
        func cities(_ predicate: Predicate<Visit>) throws -> [String?] {
            try context.fetch(FetchDescriptor(predicate: predicate)).map(\.place?.city)
        }
        for _ in 0..<2 {
            #expect(try cities(#Predicate { $0.place?.rank ?? 0 > 2 }) == ["Oslo"])
            #expect(try cities(#Predicate { ($0.place?.rank ?? 9) > 2 }) == [nil, "Oslo"])
            #expect(
                try cities(#Predicate { ($0.place?.city ?? "Rome") == "Rome" }) == [nil, "Rome"])
            #expect(try cities(#Predicate { $0.place?.city == "Oslo" }) == ["Oslo"])
            #expect(try cities(#Predicate { $0.place == nil }) == [nil])
            try context.save()
        }
    }

    @Test("models are ordered by members that are dates, and by strings for people")
    func orderByMembers() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Visit.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        for (hotel, day) in [("Ritz", -1.0), ("inn 9", 2.5), ("Inn 10", 2.0)] {
            let begin = Date(timeIntervalSinceReferenceDate: day)
            context.insert(Visit(place: nil, stay: Stay(hotel: hotel, begin: begin)))
        }
        context.insert(Visit(place: nil))
        func hotels(_ sort: SortDescriptor<Visit>) throws -> [String?] {
            try context.fetch(FetchDescriptor(sortBy: [sort])).map(\.stay?.hotel)
        }
        for _ in 0..<2 {
            #expect(try hotels(SortDescriptor(\.stay?.begin)) == [nil, "Ritz", "Inn 10", "inn 9"])
            #expect(
                try hotels(SortDescriptor(\.stay?.hotel, comparator: .localizedStandard))
                    == [nil, "inn 9", "Inn 10", "Ritz"])
            try context.save()
        }
    }

    @Test("a computed member of a structure in a predicate is an error that names the type")
    func computedMember() throws {
        let error = #expect(throws: SwiftDataError.self) {
            _ = try matching(#Predicate { $0.place.hashValue == 1 })
        }
        #expect(error == .unsupportedPredicate)
        #expect("\(try #require(error))".contains("Place"))
    }

    @Test("predicates over to-one relationships and optionals select the right models")
    func optionals() throws {
        #expect(try matching(#Predicate { $0.required.name == "Red" }) == ["Ada"])
        #expect(try matching(#Predicate { $0.optional?.name == "Red" }) == ["bob", "Éva"])
        #expect(try matching(#Predicate { $0.optional == nil }) == ["Ada"])
        #expect(try matching(#Predicate { $0.note == nil }) == ["Ada"])
        #expect(
            try matching(
                #Predicate { model in
                    if let note = model.note { note.starts(with: "n2") } else { false }
                }) == ["Éva"])
        #expect(
            try matching(#Predicate { $0.note.flatMap { $0.contains("1") } == true }) == ["bob"])
        #expect(try matching(#Predicate { ($0.note ?? "x") == "x" }) == ["Ada"])
    }

    @Test(
        "predicates with captured enums, decimals, dates, sets and ranges select the right models")
    func captured() throws {
        let genre = Genre.essay
        #expect(try matching(#Predicate { $0.genre == genre }) == ["bob"])
        let raw = "essay"
        #expect(try matching(#Predicate { $0.genre.rawValue == raw }) == ["bob"])
        let price = try #require(Decimal(string: "1.1"))
        #expect(try matching(#Predicate { $0.price >= price }) == ["bob", "Éva"])
        let day = Date(timeIntervalSinceReferenceDate: 1)
        #expect(try matching(#Predicate { $0.day < day }) == ["Ada"])
        let counts: Set = [0, 2]
        #expect(try matching(#Predicate { counts.contains($0.count) }) == ["Ada", "Éva"])
        #expect(try matching(#Predicate { (1...2).contains($0.count) }) == ["bob", "Éva"])
        #expect(try matching(#Predicate { $0.count * 2 + 1 == 3 }) == ["bob"])
        #expect(try matching(.true).count == 3)
        #expect(try matching(.false).isEmpty)
    }

    @Test("predicates that compare strings without case or by language select the right models")
    func strings() throws {
        #expect(
            try matching(#Predicate { $0.text.localizedStandardContains("ev") }) == ["Éva"])
        let same = ComparisonResult.orderedSame
        #expect(
            try matching(#Predicate { $0.text.caseInsensitiveCompare("BOB") == same })
                == ["bob"])
        #expect(
            try matching(#Predicate { $0.text.localizedCompare("bob") == same })
                == ["bob"])
        #expect(try matching(#Predicate { $0.text.starts(with: "A") }) == ["Ada"])
    }

    @Test("predicates over identifiers select the right models, temporary and permanent")
    func identifiers() throws {
        let context = ModelContext(try makeKinds())
        let model = Everything(text: "a", required: Target(name: "t"))
        context.insert(model)
        context.insert(Everything(text: "b", required: Target(name: "u")))
        func count(_ predicate: Predicate<Everything>) throws -> Int {
            try context.fetchCount(FetchDescriptor(predicate: predicate))
        }
        for _ in 0..<2 {
            let (id, target) = (model.persistentModelID, model.required.persistentModelID)
            #expect(try count(#Predicate { $0.persistentModelID == id }) == 1)
            #expect(try count(#Predicate { $0.id == id }) == 1)
            #expect(try count(#Predicate { $0.required.persistentModelID == target }) == 1)
            let some: Set = [id]
            #expect(try count(#Predicate { some.contains($0.persistentModelID) }) == 1)
            try context.save()
        }
    }

    @Test("a predicate that cannot be translated is an error with a message")
    func unsupported() throws {
        let context = ModelContext(try makeContainer())
        let descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.isShown })
        #expect(throws: (any Error).self) { try context.fetch(descriptor) }
        do {
            _ = try context.fetch(descriptor)
        } catch let error {
            #expect(SwiftDataError.unsupportedPredicate ~= error, "\(error)")
        }
    }
}

/// Code that is generic over what models have in common.
protocol Titled {
    var title: String { get }
    var words: Int { get }
}

extension Article: Titled {}

@Suite("Key paths of requirements of protocols")
struct RequirementTests {
    private func fetch<Model: PersistentModel & Titled>(
        _ type: Model.Type, titled title: String, _ context: ModelContext
    ) throws -> [Model] {
        try context.fetch(
            FetchDescriptor<Model>(
                predicate: #Predicate { $0.title == title }, sortBy: [SortDescriptor(\.words)]))
    }

    @Test("the key path of a protocol's requirement is that of the class's property")
    func requirements() throws {
        let context = ModelContext(try makeContainer())
        context.insert(Article(title: "a", words: 2))
        context.insert(Article(title: "a", words: 1))
        context.insert(Article(title: "b"))
        #expect(try fetch(Article.self, titled: "a", context).map(\.words) == [1, 2])
        try context.save()
        #expect(try fetch(Article.self, titled: "a", context).map(\.words) == [1, 2])
    }
}

@Model
private final class Visit {
    var place: Place?
    var stay: Stay?

    init(place: Place?, stay: Stay? = nil) {
        self.place = place
        self.stay = stay
    }
}

private struct Stay: Codable, Hashable {
    var hotel: String
    var begin: Date
}
