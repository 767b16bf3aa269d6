import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("Lists that models keep")
struct ListLifetimeTests {
    /// Edits lists in a context of its own, and returns whether the context has ended.
    private func isReleased(
        _ body: (ModelContext, Article) throws -> Void
    ) throws -> Bool {
        weak var ended: ModelContext?
        do {
            let context = ModelContext(try makeContainer())
            ended = context
            let article = Article(title: "a")
            context.insert(article)
            try body(context, article)
        }
        return ended == nil
    }

    @Test("a context with unsaved edits of a list ends with its last model")
    func unsaved() throws {
        let isOver = try isReleased { _, article in
            for _ in 0..<50 { article.notes.append(Note(text: "")) }
            #expect(article.notes.count == 50)
        }
        #expect(isOver)
    }

    @Test("a context ends although both sides of a many-to-many relationship were edited")
    func manyToMany() throws {
        let isOver = try isReleased { _, article in
            for _ in 0..<50 { article.tags.append(Tag(name: "")) }
            let tag = article.tags[0]
            for _ in 0..<50 { tag.articles.append(Article(title: "")) }
            for other in tag.articles { other.tags.append(Tag(name: "")) }
            for tag in article.tags { tag.articles.append(Article(title: "")) }
        }
        #expect(isOver)
    }

    @Test("a context ends although models were related before they were inserted")
    func uninserted() throws {
        let isOver = try isReleased { context, _ in
            let (article, tag) = (Article(title: "b"), Tag(name: "t"))
            article.tags.append(tag)
            tag.articles.append(article)
            context.insert(article)
        }
        #expect(isOver)
    }

    @Test("a context ends although a list contains its owner, or members that contain it")
    func selfReference() throws {
        weak var ended: ModelContext?
        do {
            let context = ModelContext(
                try ModelContainer(
                    for: Node.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
            ended = context
            let (one, two) = (Node(), Node())
            context.insert(one)
            one.friends.append(two)
            one.friends.append(one)
            two.friends.append(one)
            one.children.append(two)
            #expect(one.friends.count == 2)
            #expect(two.friends.count == 1)
        }
        #expect(ended == nil)
    }

    @Test("models keep a bounded number of lists")
    func bound() throws {
        let context = ModelContext(try makeContainer())
        let owners = (0..<600).map { Article(title: "\($0)") }
        for owner in owners {
            context.insert(owner)
            owner.notes.append(Note(text: ""))
        }
        #expect(context.objects.keptLists.count <= 256)
        #expect(owners.allSatisfy { $0.notes.count == 1 })
    }

    @Test("random edits of lists have the result that arrays have")
    func random() throws {
        var generator = SeededGenerator.fromEnvironment("edits of lists")
        let context = ModelContext(try makeContainer())
        let owners = (0..<3).map { Article(title: "\($0)") }
        var lists: [[Note]] = [[], [], []]
        for owner in owners { context.insert(owner) }
        func take(_ note: Note, except owner: Int) {
            for index in lists.indices where index != owner {
                lists[index].removeAll { $0 === note }
            }
        }
        for _ in 0..<1_500 {
            let owner = Int.random(in: 0..<3, using: &generator)
            let count = lists[owner].count
            let index = count == 0 ? 0 : Int.random(in: 0..<count, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<5:
                let new = (0..<Int.random(in: 1..<4, using: &generator)).map { Note(text: "\($0)") }
                lists[owner].insert(contentsOf: new, at: index)
                owners[owner].notes.insert(contentsOf: new, at: index)
            case 5 where count > 0:
                lists[owner].remove(at: index)
                owners[owner].notes.remove(at: index)
            case 6 where count > 1:
                lists[owner].swapAt(0, index)
                owners[owner].notes.swapAt(0, index)
            case 7 where count > 0:
                // A note moves to another list by an edit.
                let note = lists[owner][index]
                let other = (owner + 1) % 3
                lists[other].append(note)
                take(note, except: other)
                owners[other].notes.append(note)
            case 8 where count > 0:
                // A note moves to another list by its own property.
                let note = lists[owner][index]
                let other = (owner + 2) % 3
                lists[other].append(note)
                take(note, except: other)
                note.article = owners[other]
            case 9 where count > 0:
                lists[owner][index].article = nil
                lists[owner].remove(at: index)
            case 10 where index % 7 == 0:
                lists[owner].reverse()
                owners[owner].notes.reverse()
            case 11 where index % 5 == 0: try context.save()
            default: break
            }
            for (owner, list) in zip(owners, lists) {
                guard owner.notes.map(ObjectIdentifier.init) == list.map(ObjectIdentifier.init)
                else {
                    Issue.record("LARDER_SEED=\(generator.seed)")
                    return
                }
            }
        }
        for (owner, list) in zip(owners, lists) {
            #expect(list.allSatisfy { $0.article === owner })
        }
    }
}
