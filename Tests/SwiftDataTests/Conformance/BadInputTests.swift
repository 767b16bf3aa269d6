import Foundation
import Glibc
import SwiftData
import TestSupport
import Testing

@Suite("Bad input is a typed error with a sentence that says what is wrong")
struct BadInputTests {
    /// The text of the error that a closure throws, which must be of a case.
    private func text(
        _ expected: SwiftDataError, _ body: () throws -> Void
    ) throws -> String {
        let error = #expect(throws: SwiftDataError.self, performing: body)
        #expect(error == expected)
        return "\(try #require(error))"
    }

    // MARK: - Predicates

    @Test("a predicate that cannot be translated is an error that names the part")
    func predicates() throws {
        let context = ModelContext(try makeKinds())
        func text(_ predicate: Predicate<Everything>) throws -> String {
            try self.text(.unsupportedPredicate) {
                _ = try context.fetch(FetchDescriptor(predicate: predicate))
            }
        }
        #expect(
            try text(#Predicate { $0.text == "a" && $0.place.hashValue == 1 }).contains("Place"))
        #expect(try text(#Predicate { $0.loud == "A" }).contains("Everything"))
        #expect(try text(#Predicate { $0.optional?.loud == "A" }).contains("Target"))
        #expect(try text(#Predicate { $0.text.hashValue == 1 }).contains("String"))
    }

    @Test("a requirement of a protocol that the class computes is refused in a predicate")
    func requirements() throws {
        let context = ModelContext(try makeContainer())
        context.insert(Article(title: "a", words: 3))
        // The key path of another protocol's requirement may be equal to one of these.
        func count<Model: PersistentModel & Titled>(_: Model.Type) throws -> Int {
            let stored = FetchDescriptor<Model>(predicate: #Predicate { $0.words == 3 })
            return try context.fetchCount(stored)
        }
        #expect(try count(Article.self) == 1)
        func fetch<Model: PersistentModel & Measured>(_: Model.Type) throws -> (Int, Int) {
            let stored = FetchDescriptor<Model>(predicate: #Predicate { $0.words == 3 })
            let computed = FetchDescriptor<Model>(predicate: #Predicate { $0.length == 3 })
            let sorted = FetchDescriptor<Model>(sortBy: [SortDescriptor(\.length)])
            #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(computed) }
            #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
                try context.fetch(sorted)
            }
            return (try context.fetchCount(stored), try context.fetch(stored).count)
        }
        #expect(try fetch(Article.self) == (1, 1))
    }

    // MARK: - Schemas

    @Test("a schema that does not match the store is an error that names what does not")
    func schemas() throws {
        let folder = try StoreFileTests.Folder()
        let configuration = ModelConfiguration(url: folder.url.appending(path: "a.store"))
        func open<Model: PersistentModel>(_: Model.Type) throws -> ModelContext {
            ModelContext(try ModelContainer(for: Model.self, configurations: configuration))
        }
        var first: ModelContext? = try open(Mismatch.Old.Record.self)
        first?.insert(Mismatch.Old.Record(name: "a"))
        try first?.save()
        // Once while the first container serves the file, and once without it.
        for _ in 0..<2 {
            let text = try text(.loadIssueModelContainer) { _ = try open(Mismatch.New.Record.self) }
            #expect(text.contains("Record.size"), "\(text)")
            #expect(text.contains("a.store"))
            first = nil
        }
        let again = try open(Mismatch.Old.Record.self)
        #expect(try again.fetch(FetchDescriptor<Mismatch.Old.Record>()).map(\.name) == ["a"])
    }

    @Test("a model that is not in the schema is an error of the next save, and of a fetch of it")
    func foreignModel() throws {
        let context = ModelContext(try makeContainer())
        let node = Node()
        context.insert(node)
        #expect(node.modelContext == nil)
        #expect(context.hasChanges)
        #expect(context.insertedModelsArray.isEmpty)
        #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor<Node>()) }
        #expect(throws: (any Error).self) { try context.fetchCount(FetchDescriptor<Node>()) }
        let error = #expect(throws: (any Error).self) { try context.save() }
        #expect("\(error as Any)".contains("Node: it was not inserted"), "\(error as Any)")
        try context.save()
        #expect(!context.hasChanges)
    }

    /// A subclass of a model without the macro, whose own property no store has.
    final class Unmarked: Mismatch.Base {
        var lost = 1
    }

    @Test("an instance of a subclass that is not a model is an error of the next save")
    func unmarkedSubclass() throws {
        let container = try ModelContainer(
            for: Mismatch.Base.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Unmarked(name: "a"))
        context.insert(Mismatch.Base(name: "b"))
        let error = #expect(throws: (any Error).self) { try context.save() }
        #expect("\(error as Any)".contains("Unmarked: it was not inserted"), "\(error as Any)")
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Mismatch.Base>()).map(\.name) == ["b"])
    }

    // MARK: - Files and sockets

    /// Unchecked: it is used on the thread of the test.
    private struct Victim: @unchecked Sendable { let process: StoreProcess }

    @Test("opening a store that another user owns is refused", .enabled(if: getuid() == 0))
    func otherUser() throws {
        let folder = try StoreFileTests.Folder()
        let url = folder.url.appending(path: "a.store")
        func open() throws -> ModelContainer {
            try ModelContainer(for: Single.self, configurations: ModelConfiguration(url: url))
        }
        _ = try open()
        #expect(chown(url.path, 12_345, 12_345) == 0)
        let text = try text(.loadIssueModelContainer) { _ = try open() }
        #expect(text.contains(url.path))
        #expect(text.contains("user"), "\(text)")
    }

    @Test("a save during which the store's owner is killed is made once, by this process")
    func killedOwner() throws {
        let folder = try StoreFileTests.Folder()
        let url = folder.url.appending(path: "a.store")
        let victim = Victim(process: try StoreProcess(opening: url.path))
        let context = ModelContext(
            try ModelContainer(for: Entry.self, configurations: ModelConfiguration(url: url)))
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.willSave, object: context, queue: nil
        ) { _ in victim.process.kill() }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.insert(Entry(name: "a"))
        try context.save()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Entry>()) == 1)
    }

    @Test(
        "a save during which the server's socket is lost is an error, and the changes are kept",
        .timeLimit(.minutes(30)))
    func killedServer() throws {
        let folder = try StoreFileTests.Folder()
        let path = folder.url.appending(path: "a.store").path
        let socket = folder.url.appending(path: "a.socket")
        _ = try ModelContainer(
            for: Entry.self, configurations: ModelConfiguration(url: URL(filePath: path)))
        let daemon = try StoreProcess(
            "larderd", ["--store", path, "--socket", socket.path], reading: true)
        while try !daemon.line().contains("serving") {}
        let victim = Victim(process: daemon)
        let context = ModelContext(
            try ModelContainer(for: Entry.self, configurations: ModelConfiguration(url: socket)))
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.willSave, object: context, queue: nil
        ) { _ in victim.process.kill() }
        let entry = Entry(name: "a")
        context.insert(entry)
        let error = #expect(throws: (any Error).self) { try context.save() }
        NotificationCenter.default.removeObserver(observer)
        #expect("\(try #require(error))".contains("connect"), "\(String(describing: error))")
        #expect(context.hasChanges)
        #expect(entry.persistentModelID.isTemporary)
        let next = try StoreProcess(
            "larderd", ["--store", path, "--socket", socket.path], reading: true)
        while try !next.line().contains("serving") {}
        try context.save()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Entry>()) == 1)
    }
}

/// A protocol of articles and other things.
private protocol Measured {
    var words: Int { get }
    var length: Int { get }
}

extension Article: Measured {
    fileprivate var length: Int { words * 2 }
}

extension Everything {
    fileprivate var loud: String { text.uppercased() }
}

extension Target {
    fileprivate var loud: String { name.uppercased() }
}

/// Two forms of one model, of which neither follows from the other.
enum Mismatch {
    enum Old {
        @Model final class Record {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    enum New {
        @Model final class Record {
            var name: Date
            var size: Int
            init(name: Date) {
                self.name = name
                size = 1
            }
        }
    }

    @Model class Base {
        var name: String
        init(name: String) { self.name = name }
    }
}
