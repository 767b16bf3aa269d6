import Foundation
import SwiftData
import Testing

@Suite("Faults of a store that a program writes itself are errors for the caller")
struct StoreFaultTests {
    private let configuration = DictionaryConfiguration()
    private var shelf: Cupboard { configuration.shelf }
    private let all = FetchDescriptor<Film>()

    private struct Closed: Error, Equatable {}

    private func filled() throws -> ModelContext {
        let container = try ModelContainer(
            for: Schema([Studio.self, Film.self]), configurations: [configuration])
        let context = ModelContext(container)
        let studio = Studio(name: "S")
        for title in ["a", "b"] { context.insert(Film(title: title, studio: studio)) }
        try context.save()
        return ModelContext(container)
    }

    private func failure(_ body: () throws -> Any) -> String {
        do {
            _ = try body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test("an error of a custom store is thrown unchanged, from fetch and from save")
    func ownErrors() throws {
        let context = try filled()
        shelf.failure = Closed()
        #expect(throws: Closed()) { try context.fetch(all) }
        context.insert(Film(title: "c"))
        #expect(throws: Closed()) { try context.save() }
        #expect(context.insertedModelsArray.count == 1)
        shelf.failure = DataStoreError.unsupportedFeature
        #expect(throws: DataStoreError.unsupportedFeature) { try context.save() }
        shelf.failure = nil
        try context.save()
        #expect(try context.fetchCount(all) == 3)
    }

    @Test("a snapshot of an entity that was not fetched is an error for the caller")
    func entities() throws {
        let context = try filled()
        let name = configuration.name
        for (entityName, sentence) in [
            ("Ghost", "returned a Ghost for a fetch of Film"),
            ("Studio", "returned a Studio for a fetch of Film"),
        ] {
            let identifier = try PersistentIdentifier.identifier(
                for: name, entityName: entityName, primaryKey: 1)
            shelf.alter = {
                $0.map { $0.copy(persistentIdentifier: identifier, remappedIdentifiers: nil) }
            }
            #expect(failure { try context.fetch(all) }.contains(sentence))
            #expect(failure { try context.fetchIdentifiers(all) }.contains(sentence))
        }
    }

    @Test("a fetched identifier of another store, or a temporary one, is an error for the caller")
    func foreignIdentifiers() throws {
        let context = try filled()
        let foreign = try PersistentIdentifier.identifier(
            for: "another", entityName: "Film", primaryKey: 1)
        for identifier in [foreign, Film(title: "new").persistentModelID] {
            shelf.alter = {
                $0.map { $0.copy(persistentIdentifier: identifier, remappedIdentifiers: nil) }
            }
            #expect(failure { try context.fetch(all) }.contains("not its own"))
            #expect(failure { try context.fetchIdentifiers(all) }.contains("not its own"))
        }
    }

    @Test("a relationship to another store or a wrong entity is an error for the caller")
    func foreignLinks() throws {
        let context = try filled()
        for (store, entityName) in [("another", "Studio"), (configuration.name, "Film")] {
            let target = try PersistentIdentifier.identifier(
                for: store, entityName: entityName, primaryKey: 1)
            shelf.alter = {
                $0.map { snapshot in
                    var copy = snapshot
                    copy.studio = target
                    return copy
                }
            }
            #expect(failure { try context.fetch(all) }.contains("in studio, which is no Studio"))
        }
    }

    @Test("an identifier that is twice in a result is an error for the caller")
    func doubles() throws {
        let context = try filled()
        shelf.alter = { $0 + $0.prefix(1) }
        #expect(failure { try context.fetch(all) }.contains("twice in one result"))
        #expect(failure { try context.fetchIdentifiers(all) }.contains("twice in one result"))
    }

    @Test("a snapshot without a required value is an error for the caller")
    func missingValues() throws {
        let context = try filled()
        shelf.alter = {
            $0.map { snapshot in
                var copy = snapshot
                copy.title = nil
                return copy
            }
        }
        #expect(failure { try context.fetch(all) }.contains("Film that has no value for title"))
    }

    @Test("a snapshot with a value of another type is an error for the caller")
    func wrongTypes() throws {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "larder-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let container = try ModelContainer(
            for: Schema([Gadget.self]), configurations: [JSONStoreConfiguration(file)])
        let context = ModelContext(container)
        context.insert(Gadget(name: "g"))
        try context.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        for (wrong, sentence) in [
            (#""name":7"#, "value of another type for name"),
            (#""name":{"object":1}"#, ""), (#""name":[1]"#, ""),
            (#""other":"g""#, "no value for name"),
        ] {
            let changed = text.replacingOccurrences(of: #""name":"g""#, with: wrong)
            #expect(changed != text)
            try changed.write(to: file, atomically: true, encoding: .utf8)
            let fresh = ModelContext(container)
            let message = failure { try fresh.fetch(FetchDescriptor<Gadget>()) }
            #expect(message != "no error")
            #expect(sentence.isEmpty || message.contains(sentence), "\(message)")
        }
    }

    @Test("a negative count of a custom store is an error for the caller")
    func negativeCount() throws {
        let context = try filled()
        shelf.miscount = -10
        #expect(failure { try context.fetchCount(all) }.contains("-8 objects"))
    }

    @Test(
        "a save without usable identifiers for new objects is an error, and is not repeated",
        arguments: ["none", "foreign", "double", "other entity", "temporary"])
    func unusableIdentifiers(_ fault: String) throws {
        let context = try filled()
        let foreign = try PersistentIdentifier.identifier(
            for: "another", entityName: "Film", primaryKey: 1)
        let other = try PersistentIdentifier.identifier(
            for: configuration.name, entityName: "Studio", primaryKey: 9)
        let own = try PersistentIdentifier.identifier(
            for: configuration.name, entityName: "Film", primaryKey: 9)
        shelf.alterIdentifiers = { remapped in
            switch fault {
            case "foreign": remapped.mapValues { _ in foreign }
            case "double": remapped.mapValues { _ in own }
            case "other entity": remapped.mapValues { _ in other }
            case "temporary": Dictionary(uniqueKeysWithValues: remapped.keys.map { ($0, $0) })
            default: [:]
            }
        }
        context.insert(Film(title: "c"))
        context.insert(Film(title: "d"))
        #expect(failure { try context.save() }.contains("no identifier of its own"))
        #expect(shelf.rows.count == 5)
        #expect(context.hasChanges)
        // The store is mended, but it has saved these objects.
        shelf.alterIdentifiers = { $0 }
        #expect(failure { try context.save() }.contains("not saved again"))
        #expect(shelf.rows.count == 5)
        context.rollback()
        context.insert(Film(title: "e"))
        try context.save()
        #expect(try context.fetchCount(all) == 5)
    }
}
