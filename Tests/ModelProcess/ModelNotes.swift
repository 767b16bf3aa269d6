import Foundation
import LarderModel
import SwiftData

@Model final class Note {
    var name: String
    var pages: Int = 0

    init(name: String) { self.name = name }
}

/// The notes in SwiftData's words.
final class ModelNotes: Notes {
    let announced = Counter(ModelContainer.remoteChange)
    private let container: ModelContainer
    private let context: ModelContext
    private var kept: [Note] = []

    init(at url: URL) throws {
        container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url))
        context = ModelContext(container)
        context.autosaveEnabled = false
        context.author = "swiftdata"
        context.followsChanges = true
    }

    private func fetch(_ name: String) throws -> Note {
        let named = #Predicate<Note> { $0.name == name }
        guard let note = try context.fetch(FetchDescriptor(predicate: named)).first else {
            throw UnknownNote(name: name)
        }
        return note
    }

    func insert(_ name: String) throws -> String {
        let note = Note(name: name)
        context.insert(note)
        try context.save()
        return note.persistentModelID.uriRepresentation
    }

    func set(_ name: String, _ pages: Int) throws {
        try fetch(name).pages = pages
        try context.save()
    }

    func delete(_ name: String) throws {
        context.delete(try fetch(name))
        try context.save()
    }

    func list() throws -> String {
        try context.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.name)]))
            .map { "\($0.name):\($0.pages)" }.joined(separator: " ")
    }

    func hold() throws -> Int {
        kept = try context.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.name)]))
        return kept.count
    }

    func held() -> String {
        // The context merges what was committed in a call of its methods.
        context.processPendingChanges()
        return kept.map { $0.modelContext == nil ? "gone" : "\($0.name):\($0.pages)" }
            .joined(separator: " ")
    }

    func title(at uri: URL) throws -> String? {
        let identifier = try PersistentIdentifier(uriRepresentation: uri.absoluteString)
        let note: Note? = try context.existingModel(for: identifier)
        return note?.name
    }

    func history() throws -> String {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map { saved in
            let kinds = saved.changes.map { change in
                switch change {
                case .insert: "insert"
                case .update: "update"
                case .delete: "delete"
                }
            }
            return "\(saved.author ?? "nobody"):\(kinds.joined(separator: "+"))"
        }.joined(separator: " ")
    }
}
