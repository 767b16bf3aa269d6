import Foundation
import SwiftData
import Testing

@Suite("Identifiers, as documented")
struct IdentifierConformanceTests {
    private struct Parts: Decodable {
        struct Implementation: Decodable {
            let primaryKey: String
            let uriRepresentation: String
            let isTemporary: Bool
            let storeIdentifier: String?
            let entityName: String
        }
        let implementation: Implementation
    }

    private func parts(_ identifier: PersistentIdentifier) throws -> Parts.Implementation {
        try JSONDecoder().decode(Parts.self, from: JSONEncoder().encode(identifier)).implementation
    }

    private func saved() throws -> (ModelContext, Article) {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "a")
        context.insert(article)
        try context.save()
        return (context, article)
    }

    @Test("the JSON of a saved model has the parts of its URI, and the key p and a number")
    func permanent() throws {
        let (_, article) = try saved()
        let identifier = article.persistentModelID
        let parts = try parts(identifier)
        let store = try #require(identifier.storeIdentifier)
        #expect(UUID(uuidString: store) != nil)
        #expect(parts.storeIdentifier == store)
        #expect(parts.entityName == "Article")
        #expect(!parts.isTemporary)
        #expect(parts.primaryKey.wholeMatch(of: /p[1-9][0-9]*/) != nil)
        #expect(parts.uriRepresentation == "x-coredata://\(store)/Article/\(parts.primaryKey)")
    }

    @Test("the JSON of an unsaved model has no store, and the key t, a UUID and a number")
    func temporary() throws {
        let parts = try parts(Article(title: "a").persistentModelID)
        #expect(parts.storeIdentifier == nil)
        #expect(parts.isTemporary)
        let key = try #require(parts.primaryKey.wholeMatch(of: /t([0-9A-F-]{36})([0-9]+)/))
        #expect(UUID(uuidString: String(key.1)) != nil)
        #expect(parts.uriRepresentation == "x-coredata:///Article/\(parts.primaryKey)")
    }

    @Test("the JSON of an identifier with sorted keys is the same each time")
    func stable() throws {
        let (context, article) = try saved()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(article.persistentModelID)
        let same = try #require(
            try ModelContext(context.container).fetch(FetchDescriptor<Article>()).first)
        #expect(try encoder.encode(same.persistentModelID) == data)
        let text = data.base64EncodedString()
        let decoded = try JSONDecoder().decode(
            PersistentIdentifier.self, from: try #require(Data(base64Encoded: text)))
        #expect(decoded == article.persistentModelID)
        let found = try ModelContext(context.container).fetch(
            FetchDescriptor<Article>(predicate: #Predicate { $0.persistentModelID == decoded }))
        #expect(found.map(\.title) == ["a"])
    }

    @Test("an identifier is read from a URI by the JSON that has it")
    func ofURI() throws {
        let (_, article) = try saved()
        let parts = try parts(article.persistentModelID)
        let json = """
            {"implementation":{"primaryKey":"\(parts.primaryKey)",
            "uriRepresentation":"\(parts.uriRepresentation)","isTemporary":false,
            "storeIdentifier":"\(parts.storeIdentifier ?? "")","entityName":"Article"}}
            """
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: Data(json.utf8))
        #expect(decoded == article.persistentModelID)
        let foreign = json.replacing("p1", with: "p0")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PersistentIdentifier.self, from: Data(foreign.utf8))
        }
    }

    @Test("identifiers can be compared and hashed, and have an ID of their own")
    func comparison() throws {
        let context = ModelContext(try makeContainer())
        let articles = (0..<3).map { Article(title: "\($0)") }
        for article in articles { context.insert(article) }
        try context.save()
        let identifiers = articles.map(\.persistentModelID)
        #expect(identifiers.sorted() == identifiers)
        #expect(identifiers[0] < identifiers[1])
        let ids: Set<PersistentIdentifier.ID> = Set(identifiers.map(\.id))
        #expect(ids.count == 3)
        #expect(identifiers.allSatisfy { !$0.isTemporary && $0.entityName == "Article" })
    }

    @Test("an identifier is made of a store, an entity and a primary key of any documented type")
    func factory() throws {
        func make<Key: Comparable & CustomStringConvertible & Codable & Hashable>(
            _ key: Key
        ) throws -> PersistentIdentifier {
            try PersistentIdentifier.identifier(for: "store", entityName: "Note", primaryKey: key)
        }
        let all = [
            try make("a"), try make(Int64(7)), try make(UInt64(8)), try make(1.5), try make(UUID()),
        ]
        #expect(Set(all).count == 5)
        #expect(try make("a") == all[0])
        #expect(all.allSatisfy { $0.entityName == "Note" && !$0.isTemporary })
        #expect(Set(all.map(\.storeIdentifier)).count == 1)
        #expect(throws: (any Error).self) {
            try PersistentIdentifier.identifier(for: "s", entityName: "a/b", primaryKey: 1)
        }
    }
}
