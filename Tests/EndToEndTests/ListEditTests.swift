import LarderClient
import Synchronization
import TestSupport
import Testing

@Suite("Concurrent edits of a list")
struct ListEditTests {
    private static let schema = """
        { "version": "1.0.0",
          "entities": [
            { "name": "Playlist", "attributes": [],
              "relationships": [
                { "name": "songs", "destination": "Song", "toMany": true, "ordered": true,
                  "inverse": "playlist" },
                { "name": "fans", "destination": "Fan", "toMany": true, "ordered": true,
                  "inverse": "playlists" } ] },
            { "name": "Song", "attributes": [],
              "relationships": [
                { "name": "playlist", "destination": "Playlist", "inverse": "songs" } ] },
            { "name": "Fan", "attributes": [],
              "relationships": [
                { "name": "playlists", "destination": "Playlist", "toMany": true,
                  "ordered": true, "inverse": "fans" } ] } ] }
        """

    /// One client's objects in the shared list, in the order of its own edits, without the objects
    /// of other clients between them.
    private struct Editor {
        let client: StoreClient
        let list: PersistentIdentifier
        let property: String
        let entityName: String
        var random: SeededGenerator
        var own: [PersistentIdentifier] = []

        mutating func step() throws {
            let index = Int.random(in: 0...own.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0 where !own.isEmpty:
                let removed = own.remove(at: index % own.count)
                _ = try client.update(list, edits: [.remove([removed], from: property)])
            case 1...3 where own.count > 1:
                let moved = own.remove(at: index % own.count)
                let target = Int.random(in: 0...own.count, using: &random)
                _ = try client.update(
                    list, edits: [.move([moved], in: property, to: position(target))])
                own.insert(moved, at: target)
            default:
                let new = PersistentIdentifier(temporary: "new", entityName: entityName)
                let result = try client.save(
                    ChangeSet([
                        .insert(new, values: [:]),
                        .update(
                            list, ifVersion: nil, values: [:],
                            edits: [.add([new], to: property, at: position(index))]),
                    ]))
                own.insert(result.inserted[0], at: index)
            }
        }

        /// A position next to an own object that gives an object this index among the own ones.
        private mutating func position(_ index: Int) -> RelationshipPosition {
            if index == 0, Bool.random(using: &random) { return .first }
            if index == own.count, Bool.random(using: &random) || own.isEmpty { return .last }
            if index < own.count, index == 0 || Bool.random(using: &random) {
                return .before(own[index])
            }
            return .after(own[index - 1])
        }
    }

    @Test(
        "concurrent edits of a list are all kept, each client's in its order",
        arguments: [("songs", "Song"), ("fans", "Fan")])
    func concurrency(property: String, entityName: String) throws {
        let daemon = try TestDaemon(schema: Self.schema)
        let client = try daemon.connect()
        let list = try client.insert("Playlist", [:])
        let seed = SeededGenerator.fromEnvironment("edits by several clients").seed
        let results = Results()
        inThreads(3) { number in
            var editor = Editor(
                client: try daemon.connect(), list: list, property: property,
                entityName: entityName, random: SeededGenerator(seed: seed &+ UInt64(number)))
            for _ in 0..<150 { try editor.step() }
            results.append(editor.own)
        }
        guard case .objects(let found)? = try client.object(for: list)?[property] else {
            Issue.record("the list cannot be read")
            return
        }
        #expect(results.all.count == 3)
        for own in results.all {
            #expect(found.filter(Set(own).contains) == own, "seed \(seed)")
        }
        #expect(Set(found) == Set(results.all.joined()), "seed \(seed)")
        #expect(found.count == results.all.reduce(0) { $0 + $1.count })
        #expect(try client.check().findings == [])
        // Every edit updated the list once: none was lost, and none had a conflict.
        #expect(try client.object(for: list)?.version == 1 + 3 * 150)
    }
}

/// The lists of several threads.
private final class Results: Sendable {
    private let lists = Mutex<[[PersistentIdentifier]]>([])

    var all: [[PersistentIdentifier]] { lists.withLock { $0 } }

    func append(_ list: [PersistentIdentifier]) { lists.withLock { $0.append(list) } }
}
