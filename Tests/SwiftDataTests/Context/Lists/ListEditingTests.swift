import Foundation
import Observation
import SwiftData
import Synchronization
import TestSupport
import Testing

@Suite("Lists of models that a program edits in place")
struct ListEditingTests {
    private let context: ModelContext
    private let owner = Article(title: "owner")

    /// A saved article with the notes 0 to 39.
    init() throws {
        context = ModelContext(try makeContainer())
        context.insert(owner)
        owner.notes = (0..<40).map { Note(text: "\($0)") }
        try context.save()
    }

    private var texts: [String] { owner.notes.map(\.text) }

    /// The texts in another context after a save, in any order.
    private func saved() throws -> Set<String> {
        try context.save()
        let other = ModelContext(context.container)
        let articles = try other.fetch(
            FetchDescriptor<Article>(predicate: #Predicate { $0.title == "owner" }))
        let notes = try #require(articles.first).notes
        #expect(notes.allSatisfy { $0.article === articles.first })
        return Set(notes.map(\.text))
    }

    @Test("a list is what an edit has made of it, and the other side follows")
    func edits() throws {
        let first = owner.notes[0]
        owner.notes.swapAt(1, 38)
        owner.notes.remove(at: 0)
        owner.notes.insert(Note(text: "new"), at: 20)
        owner.notes[5] = Note(text: "five")
        owner.notes.removeAll { $0.text.hasSuffix("7") }
        owner.notes.reverse()
        #expect(first.article == nil)
        #expect(owner.notes.allSatisfy { $0.article === owner })
        var expected = (0..<40).map { "\($0)" }
        expected.swapAt(1, 38)
        expected.remove(at: 0)
        expected.insert("new", at: 20)
        expected[5] = "five"
        expected.removeAll { $0.hasSuffix("7") }
        expected.reverse()
        #expect(texts == expected)
        #expect(try saved() == Set(expected))
    }

    @Test("a model that is appended twice is in the list once, where it was first")
    func duplicates() throws {
        let note = owner.notes[3]
        owner.notes.append(note)
        #expect(texts == (0..<40).map { "\($0)" })
        owner.notes.append(Note(text: "40"))
        owner.notes += [note, owner.notes[40]]
        #expect(texts == (0..<41).map { "\($0)" })
        #expect(try saved().count == 41)
    }

    @Test("a list that a program holds does not change with the model's")
    func copies() {
        let before = owner.notes
        owner.notes.append(Note(text: "40"))
        owner.notes[0].article = nil
        #expect(before.map(\.text) == (0..<40).map { "\($0)" })
        #expect(texts == (1...40).map { "\($0)" })
    }

    @Test("an edit that throws keeps what it has changed, as an edit of an array")
    func failure() throws {
        struct Failure: Error {}
        func append(to notes: inout [Note]) throws {
            notes.append(Note(text: "40"))
            throw Failure()
        }
        #expect(throws: Failure.self) { try append(to: &owner.notes) }
        #expect(owner.notes.last?.text == "40")
        #expect(owner.notes.last?.article === owner)
    }

    @Test("changes of the list during an edit are replaced by the edit's result")
    func nested() throws {
        owner.notes.removeAll { note in
            if note.text == "1" { owner.notes.append(Note(text: "lost")) }
            if note.text == "2" { note.article = nil }
            return note.text == "3"
        }
        #expect(texts == (0..<40).filter { $0 != 3 }.map { "\($0)" })
        #expect(owner.notes.allSatisfy { $0.article === owner })
        #expect(try saved().count == 39)
    }

    @Test("a list leaves out a model that is deleted, during edits and after a rollback")
    func deletion() throws {
        let (second, last) = (owner.notes[1], owner.notes[39])
        context.delete(second)
        owner.notes.append(Note(text: "40"))
        context.delete(last)
        owner.notes.append(Note(text: "41"))
        let expected = (0..<42).filter { $0 != 1 && $0 != 39 }.map { "\($0)" }
        #expect(texts == expected)
        owner.notes[38].article = nil
        #expect(!texts.contains("40"))
        context.rollback()
        #expect(Set(texts) == Set((0..<40).map { "\($0)" }))
        #expect(second.article === owner)
    }

    @Test("an unsaved member that is deleted leaves the list while it is edited")
    func unsavedDeletion() throws {
        let notes = (40..<80).map { Note(text: "\($0)") }
        for note in notes { owner.notes.append(note) }
        for note in notes { context.delete(note) }
        owner.notes.append(Note(text: "80"))
        #expect(texts == (Array(0..<40) + [80]).map { "\($0)" })
        #expect(try saved().count == 41)
    }

    @Test("an edit of a list notifies the observers of the list and of the other side")
    func observation() {
        let calls = Mutex<[String]>([])
        func observe(_ name: String, _ read: () -> Void) {
            withObservationTracking(read) { calls.withLock { $0.append(name) } }
        }
        let new = Note(text: "40")
        let first = owner.notes[0]
        observe("list") { _ = owner.notes }
        observe("new") { _ = new.article }
        owner.notes.append(new)
        #expect(calls.withLock { $0 } == ["list", "new"])
        observe("list") { _ = owner.notes }
        observe("first") { _ = first.article }
        owner.notes.remove(at: 0)
        #expect(calls.withLock { $0 } == ["list", "new", "list", "first"])
    }

    @Test("edits of a list are undone and redone in their order")
    func undo() throws {
        let manager = UndoManager()
        context.undoManager = manager
        var states = [texts]
        let edits: [(inout [Note]) -> Void] = [
            { $0.append(Note(text: "40")) },
            { $0.insert(Note(text: "first"), at: 0) },
            { _ = $0.remove(at: 7) },
            { $0.swapAt(3, 30) },
            { $0.removeAll() },
            { $0 = [Note(text: "only")] },
        ]
        for edit in edits {
            edit(&owner.notes)
            context.processPendingChanges()
            states.append(texts)
        }
        for _ in 0..<2 {
            for state in states.dropLast().reversed() {
                manager.undo()
                #expect(texts == state)
            }
            for state in states.dropFirst() {
                manager.redo()
                #expect(texts == state)
            }
        }
        #expect(owner.notes.allSatisfy { $0.article === owner })
        for _ in edits { manager.undo() }
        #expect(texts == states[0])
        #expect(!context.hasChanges)
    }

    @Test("changes of the other side are undone together with edits of the list")
    func undoOtherSide() throws {
        let manager = UndoManager()
        context.undoManager = manager
        let other = Article(title: "other")
        context.insert(other)
        context.processPendingChanges()
        for note in owner.notes.prefix(5) { note.article = other }
        owner.notes.insert(other.notes[2], at: 1)
        other.notes.append(owner.notes[9])
        let (after, otherAfter) = (texts, other.notes.map(\.text))
        manager.undo()
        #expect(texts == (0..<40).map { "\($0)" })
        #expect(other.notes.isEmpty)
        manager.redo()
        #expect(texts == after)
        #expect(other.notes.map(\.text) == otherAfter)
    }
}
