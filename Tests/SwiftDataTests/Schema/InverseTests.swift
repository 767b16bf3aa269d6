import SwiftData
import Testing

@Suite("The inverse of a relationship is named or inferred")
struct InverseTests {
    private func inverses(_ types: any PersistentModel.Type...) -> [String: String] {
        Schema(types).entities.reduce(into: [:]) { inverses, entity in
            for relationship in entity.relationships {
                inverses["\(entity.name).\(relationship.name)"] =
                    relationship.inverseName ?? "none"
            }
        }
    }

    @Test("an inverse that one side of a relationship names is that of both")
    func named() {
        #expect(
            inverses(Resolved.Book.self) == [
                "Book.author": "books", "Book.editor": "none", "Person.books": "author",
            ])
        #expect(
            inverses(Node.self) == [
                "Node.parent": "children", "Node.children": "parent", "Node.friends": "none",
            ])
    }

    @Test("two relationships that are the only ones between their models are inverses")
    func inferred() {
        let inverses = inverses(Pair.Left.self)
        #expect(inverses == ["Left.rights": "left", "Right.left": "rights"])
    }

    @Test("relationships whose inverse is ambiguous have none")
    func ambiguous() {
        #expect(
            inverses(Ambiguous.Book.self) == [
                "Book.author": "none", "Book.editor": "none", "Person.books": "none",
            ])
        #expect(
            inverses(Season.Match.self) == [
                "Match.home": "none", "Match.away": "none", "Team.matches": "none",
            ])
    }

    @Test("the first of two relationships that name one inverse has it")
    func contradictory() {
        #expect(
            inverses(Contradictory.Book.self) == [
                "Book.author": "written", "Person.written": "author", "Person.edited": "none",
            ])
        #expect(
            inverses(Garden.Yard.self) == [
                "Bush.yard": "all", "Yard.all": "yard", "Yard.best": "none",
            ])
    }

    @Test("an inverse that names back has precedence over one that does not")
    func mutual() {
        #expect(
            inverses(Mutual.Person.self) == [
                "Book.author": "written", "Person.read": "none", "Person.written": "author",
            ])
    }

    @Test("an inverse that a superclass declares is that of a list of the subclass")
    func inherited() throws {
        #expect(inverses(Kennel.House.self)["House.dogs"] == "none")
        let container = try container(Kennel.House.self)
        let context = ModelContext(container)
        let house = Kennel.House()
        context.insert(house)
        house.dogs = [Kennel.Hound()]
        try context.save()
        let read = try ModelContext(container).fetch(FetchDescriptor<Kennel.House>()).first
        #expect(read?.dogs.count == 1)
    }

    @Test("the schema says what it assumes of inverses")
    func assumptions() {
        #expect(
            Schema(Contradictory.Book.self).assumptions == [
                """
                Person.edited has no inverse, because Book.author is that of Person.written; name \
                another one with @Relationship(inverse:), or none
                """
            ])
        let text = Schema(Ambiguous.Book.self).assumptions.joined(separator: "\n")
        #expect(text.contains("Person.books has no inverse, because it may be Book.author or"))
        #expect(text.contains("name it with @Relationship(inverse:) on one side"))
        #expect(Schema(Resolved.Book.self).assumptions == [])
    }

    private func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test("two relationships that name one inverse keep their models")
    func contradictoryValues() throws {
        let container = try container(Contradictory.Book.self)
        let context = ModelContext(container)
        let person = Contradictory.Person()
        let books = (0..<3).map { _ in Contradictory.Book() }
        context.insert(person)
        person.written = [books[0]]
        person.edited = [books[1], books[2]]
        try context.save()
        let read = try ModelContext(container).fetch(FetchDescriptor<Contradictory.Person>()).first
        #expect(read?.written.count == 1)
        #expect(read?.edited.count == 2)
        #expect(read?.written.first?.author === read)
    }

    @Test("relationships whose inverse is ambiguous keep their models")
    func ambiguousValues() throws {
        let container = try container(Season.Match.self)
        let context = ModelContext(container)
        let (home, away) = (Season.Team(), Season.Team())
        let match = Season.Match()
        context.insert(match)
        match.home = home
        match.away = away
        home.matches = [match]
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.fetch(FetchDescriptor<Season.Match>()).first)
        #expect(read.home?.matches.first === read)
        #expect(read.away != nil && read.away?.matches.isEmpty == true)
        // A deleted model is in no relationship, with an inverse or without one.
        other.delete(read)
        try other.save()
        #expect(
            try ModelContext(container).fetch(FetchDescriptor<Season.Team>())
                .allSatisfy(\.matches.isEmpty))
    }

    @Test("a container with a wrong schema is a typed error with all problems")
    func typed() {
        #expect {
            try ModelContainer(
                for: Second.Twin.self, UniqueEphemeral.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        } throws: { error in
            error as? SwiftDataError == .loadIssueModelContainer
                && "\(error)".contains("Twin") && "\(error)".contains("UniqueEphemeral.code")
        }
    }
}

/// A list and two relationships to one model.
enum Season {
    @Model final class Match {
        var home: Team?
        var away: Team?

        init() {}
    }

    @Model final class Team {
        var matches: [Match] = []

        init() {}
    }
}

/// A list and a relationship to one model that name one inverse.
enum Garden {
    @Model final class Yard {
        @Relationship(inverse: \Bush.yard) var all: [Bush] = []
        @Relationship(inverse: \Bush.yard) var best: Bush?

        init() {}
    }

    @Model final class Bush {
        var yard: Yard?

        init() {}
    }
}

/// Both sides name an inverse, and a third relationship names one of them.
enum Mutual {
    @Model final class Person {
        @Relationship(inverse: \Book.author) var read: [Book] = []
        var written: [Book] = []

        init() {}
    }

    @Model final class Book {
        @Relationship(inverse: \Person.written) var author: Person?

        init() {}
    }
}

/// A list of models of a subclass that names a property of the superclass.
enum Kennel {
    @Model final class House {
        @Relationship(inverse: \Hound.house) var dogs: [Hound] = []

        init() {}
    }

    @Model class Beast {
        var house: House?

        init() {}
    }

    @Model final class Hound: Beast {
        override init() { super.init() }
    }
}

enum Pair {
    @Model final class Left {
        var rights: [Right] = []

        init() {}
    }

    @Model final class Right {
        var left: Left

        init(left: Left) { self.left = left }
    }
}
