import Foundation
import SwiftData
import Testing

@Suite("The cost of changes of long lists")
struct ListCostTests {
    /// A way to change a list many times.
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (ModelContext, _ owner: Article, _ count: Int) throws -> Void
    }

    static let changes = [
        Change(testDescription: "append") { _, owner, count in
            for _ in 0..<count { owner.notes.append(Note(text: "")) }
        },
        Change(testDescription: "append to a saved model") { context, owner, count in
            try context.save()
            for _ in 0..<count { owner.notes.append(Note(text: "")) }
            try context.save()
        },
        Change(testDescription: "append, undo and redo") { context, owner, count in
            let manager = UndoManager()
            context.undoManager = manager
            for _ in 0..<count { owner.notes.append(Note(text: "")) }
            manager.undo()
            #expect(owner.notes.isEmpty)
            manager.redo()
        },
        Change(testDescription: "append until the count is reached") { _, owner, count in
            while owner.notes.count < count { owner.notes.append(Note(text: "")) }
        },
        Change(testDescription: "append what the list does not contain") { _, owner, count in
            for note in (0..<count).map({ Note(text: "\($0)") })
            where !owner.notes.contains(where: { $0 === note }) { owner.notes.append(note) }
        },
        Change(testDescription: "+=") { _, owner, count in
            for _ in 0..<count / 10 { owner.notes += (0..<10).map { Note(text: "\($0)") } }
        },
        Change(testDescription: "insert at the beginning") { _, owner, count in
            for _ in 0..<count { owner.notes.insert(Note(text: ""), at: 0) }
        },
        Change(testDescription: "remove from the beginning") { _, owner, count in
            owner.notes = (0..<count).map { Note(text: "\($0)") }
            for _ in 0..<count { owner.notes.remove(at: 0) }
        },
        Change(testDescription: "assign a list with one more model") { _, owner, count in
            for _ in 0..<count { owner.notes = owner.notes + [Note(text: "")] }
        },
        Change(testDescription: "append to the list of a many-to-many relationship") {
            _, owner, count in
            for _ in 0..<count { owner.tags.append(Tag(name: "")) }
        },
        Change(testDescription: "append the owner to many lists") { _, owner, count in
            for tag in (0..<count).map({ Tag(name: "\($0)") }) { tag.articles.append(owner) }
        },
        Change(testDescription: "set the other side, and read the count") { _, owner, count in
            for number in 1...count {
                Note(text: "").article = owner
                #expect(owner.notes.count == number)
            }
        },
        Change(testDescription: "set the other side to another model") { context, owner, count in
            let other = Article(title: "other")
            context.insert(other)
            owner.notes = (0..<count).map { Note(text: "\($0)") }
            for note in owner.notes.reversed() { note.article = other }
            #expect(other.notes.count == count)
        },
        Change(testDescription: "append to many lists alternately") { context, owner, count in
            let owners = (0..<5).map { Article(title: "\($0)") } + [owner]
            for owner in owners { context.insert(owner) }
            for number in 0..<count {
                owners[number % 6].notes.append(Note(text: ""))
                owners[number % 6].tags.append(Tag(name: ""))
            }
        },
        Change(testDescription: "append to both sides of a many-to-many relationship") {
            context, owner, count in
            let other = Article(title: "other")
            context.insert(other)
            for _ in 0..<count {
                let tag = Tag(name: "")
                owner.tags.append(tag)
                tag.articles.append(other)
            }
        },
        Change(testDescription: "append before the model is inserted") { context, _, count in
            let owner = Article(title: "")
            for _ in 0..<count { owner.notes.append(Note(text: "")) }
            context.insert(owner)
        },
        Change(testDescription: "read by index") { context, owner, count in
            owner.notes = (0..<count).map { Note(text: "\($0)") }
            try context.save()
            for index in 0..<count { #expect(owner.notes[index].text == "\(index)") }
        },
        Change(testDescription: "delete all members") { context, owner, count in
            owner.notes = (0..<count).map { Note(text: "\($0)") }
            try context.save()
            for note in owner.notes { context.delete(note) }
            try context.save()
            #expect(owner.notes.isEmpty)
        },
    ]

    /// The number of members that a context looks at one after the other.
    private func steps(_ change: Change, _ count: Int) throws -> Int {
        let context = ModelContext(try makeContainer())
        let owner = Article(title: "owner")
        context.insert(owner)
        try change.make(context, owner, count)
        return context.objects.listStepCount
    }

    @Test("twice as many changes of a list look at twice as many members", arguments: changes)
    func growth(_ change: Change) throws {
        let (some, twice) = (try steps(change, 100), try steps(change, 200))
        #expect(twice < some * 5 / 2, "\(some) and \(twice)")
        #expect(twice < 200 * 20)
    }

    @Test("an append to a list moves its array only if the array grows", arguments: [true, false])
    func copies(isInserted: Bool) throws {
        let context = ModelContext(try makeContainer())
        let owner = Article(title: "owner")
        if isInserted { context.insert(owner) }
        var addresses: [Int] = []
        for _ in 0..<1_000 {
            owner.notes.append(Note(text: ""))
            let address = owner.notes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
            if addresses.last != address { addresses.append(address) }
        }
        // An array that grows is moved when its size has doubled.
        #expect(addresses.count < 20)
    }
}
