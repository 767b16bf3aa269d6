import Foundation
import SwiftData
import Testing

@Suite("An ephemeral attribute is not in the store")
struct EphemeralTests {
    private let folder: StoreFileTests.Folder
    private var configuration: ModelConfiguration {
        ModelConfiguration(url: folder.url.appending(path: "ephemeral.store"))
    }

    init() throws { folder = try StoreFileTests.Folder() }

    private func context() throws -> ModelContext {
        ModelContext(try ModelContainer(for: Session.self, configurations: configuration))
    }

    @Test("an ephemeral value is the default value in another context")
    func defaultValue() throws {
        do {
            let context = try context()
            let session = Session(name: "a")
            context.insert(session)
            session.progress = 5
            session.token = "secret"
            session.steps = [1, 2]
            session.stage = .running
            try context.save()
            #expect(session.progress == 5 && session.token == "secret")
        }
        let read = try #require(try context().fetch(FetchDescriptor<Session>()).first)
        #expect(read.name == "a")
        #expect(read.progress == 1)
        #expect(read.token == nil)
        #expect(read.steps == [7])
        #expect(read.stage == .waiting)
        #expect(read.required == "")
    }

    @Test("no file of the store has an ephemeral value")
    func files() throws {
        let context = try context()
        let session = Session(name: "the plain name")
        context.insert(session)
        session.token = "the secret token"
        try context.save()
        session.token = "the second secret token"
        session.name = "the second plain name"
        try context.save()
        var contents = Data()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            contents += (try? Data(contentsOf: folder.url.appending(path: name))) ?? Data()
        }
        #expect(contents.firstRange(of: Data("the second plain name".utf8)) != nil)
        #expect(contents.firstRange(of: Data("secret token".utf8)) == nil)
    }

    @Test("a change of an ephemeral value is a change of the context")
    func changes() throws {
        let context = try context()
        let session = Session(name: "a")
        context.insert(session)
        try context.save()
        #expect(!context.hasChanges)
        session.progress = 3
        #expect(context.hasChanges && session.hasChanges)
        #expect(context.changedModelsArray.count == 1)
        context.rollback()
        #expect(session.progress == 1)
        session.progress = 4
        try context.save()
        #expect(!context.hasChanges && session.progress == 4)
    }

    @Test("an ephemeral value stays while its instance lives, whatever is read meanwhile")
    func refresh() throws {
        let context = try context()
        let session = Session(name: "a")
        context.insert(session)
        try context.save()
        session.progress = 3
        session.name = "b"
        try context.save()
        let other = ModelContext(context.container)
        try #require(try other.fetch(FetchDescriptor<Session>()).first).name = "c"
        try other.save()
        #expect(try context.fetch(FetchDescriptor<Session>()).first?.name == "c")
        #expect(session.progress == 3)
    }

    @Test("a predicate and an order cannot name an ephemeral attribute")
    func queries() throws {
        let context = try context()
        let filtered = FetchDescriptor<Session>(predicate: #Predicate { $0.progress > 1 })
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(filtered) }
        let sorted = FetchDescriptor<Session>(sortBy: [SortDescriptor(\.progress)])
        #expect(throws: (any Error).self) { try context.fetch(sorted) }
    }

    @Test("an ephemeral attribute cannot be unique, because the store does not have it")
    func unique() {
        #expect {
            try ModelContainer(
                for: UniqueEphemeral.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        } throws: { error in
            "\(error)".contains("UniqueEphemeral.code is ephemeral, so it cannot be unique")
        }
    }

    @Test("values that a store has are removed when their attribute becomes ephemeral")
    func migration() throws {
        do {
            let context = ModelContext(
                try ModelContainer(for: Former.Session.self, configurations: configuration))
            context.insert(Former.Session(name: "a", token: "the secret token"))
            try context.save()
        }
        let read = try #require(try context().fetch(FetchDescriptor<Session>()).first)
        #expect(read.name == "a")
        #expect(read.token == nil)
    }

    @Test("an ephemeral value of an inherited property is the default value")
    func inherited() throws {
        let container = try ModelContainer(
            for: LongSession.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let session = LongSession(name: "a")
        context.insert(session)
        session.progress = 9
        session.pause = 8
        session.length = 7
        try context.save()
        let read = try ModelContext(container).fetch(FetchDescriptor<LongSession>()).first
        #expect(read?.progress == 1 && read?.pause == 2 && read?.length == 7)
    }
}

enum Stage: Codable { case waiting, running }

@Model class Session {
    @Attribute(.ephemeral) var progress: Int = 1
    var name: String
    @Attribute(.ephemeral) var token: String?
    @Attribute(.ephemeral) var steps: [Int] = [7]
    @Attribute(.ephemeral) var stage = Stage.waiting
    @Attribute(.ephemeral) var required: String

    init(name: String) {
        self.name = name
        required = "initial"
    }
}

@Model final class LongSession: Session {
    @Attribute(.ephemeral) var pause = 2
    var length = 3

    override init(name: String) { super.init(name: name) }
}

enum Former {
    @Model final class Session {
        var name: String
        var token: String?

        init(name: String, token: String?) {
            self.name = name
            self.token = token
        }
    }
}

@Model final class UniqueEphemeral {
    @Attribute(.unique, .ephemeral) var code = 1

    init() {}
}
