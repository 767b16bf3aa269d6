import Foundation
import SwiftData
import Testing

@Suite("Undo of the changes of a context")
struct UndoTests {
    private func context() throws -> (ModelContext, UndoManager) {
        let context = ModelContext(try makeContainer())
        let manager = UndoManager()
        context.undoManager = manager
        return (context, manager)
    }

    private func stored(_ context: ModelContext) throws -> [String] {
        try ModelContext(context.container)
            .fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)])).map(\.title)
    }

    @Test("a context has no undo manager, and can be given one")
    func standard() throws {
        let context = ModelContext(try makeContainer())
        #expect(context.undoManager == nil)
        let manager = UndoManager()
        context.undoManager = manager
        #expect(context.undoManager === manager)
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
    }

    @Test("the change of a property is undone and redone, and observed")
    func property() throws {
        let (context, manager) = try context()
        let article = Article(title: "a", words: 1)
        context.insert(article)
        try context.save()
        manager.removeAllActions()
        article.title = "b"
        article.title = "c"
        article.source = Source(site: "s", rank: 1)
        #expect(manager.canUndo)
        let flag = Flag()
        withObservationTracking {
            _ = article.title
        } onChange: {
            flag.isSet = true
        }
        manager.undo()
        #expect(article.title == "a")
        #expect(article.source == nil)
        #expect(flag.isSet)
        #expect(!context.hasChanges, "the model is as the store has it")
        #expect(!manager.canUndo)
        #expect(manager.canRedo)
        manager.redo()
        #expect(article.title == "c")
        #expect(article.source == Source(site: "s", rank: 1))
        #expect(context.hasChanges)
        #expect(manager.canUndo)
        try context.save()
        #expect(try stored(context) == ["c"])
    }

    @Test("changes are undone together until processPendingChanges or a save")
    func groups() throws {
        let (context, manager) = try context()
        let article = Article(title: "a")
        context.insert(article)
        try context.save()
        article.words = 1
        article.title = "b"
        context.processPendingChanges()
        article.words = 2
        try context.save()
        article.words = 3
        manager.undo()
        #expect(article.words == 2)
        manager.undo()
        #expect(article.words == 1)
        manager.undo()
        #expect(article.words == 0)
        #expect(article.title == "a")
        manager.undo()
        #expect(article.modelContext == nil || article.isDeleted)
        #expect(!manager.canUndo)
        for _ in 0..<4 { manager.redo() }
        #expect(article.words == 3)
        #expect(article.title == "b")
    }

    @Test("an insert is undone before and after its save, and redone as the same model")
    func insert() throws {
        for isSaved in [false, true] {
            let (context, manager) = try context()
            let article = Article(title: "a", category: Category(name: "c"))
            article.tags = [Tag(name: "t")]
            context.insert(article)
            if isSaved { try context.save() }
            manager.undo()
            #expect(try context.fetchCount(FetchDescriptor<Article>()) == 0)
            #expect(try context.fetchCount(FetchDescriptor<Tag>()) == 0)
            try context.save()
            #expect(try stored(context) == [])
            manager.redo()
            #expect(try context.fetch(FetchDescriptor<Article>()).first === article)
            #expect(article.category?.name == "c")
            #expect(article.tags.map(\.name) == ["t"])
            #expect(article.tags.first?.articles == [article])
            try context.save()
            let read = try ModelContext(context.container).fetch(FetchDescriptor<Article>())
            #expect(read.map(\.title) == ["a"])
            #expect(read.first?.category?.name == "c")
            #expect(read.first?.tags.map(\.name) == ["t"])
        }
    }

    @Test("a deletion is undone before and after its save, with the objects that it cascades to")
    func delete() throws {
        for isSaved in [false, true] {
            let (context, manager) = try context()
            let article = Article(title: "a", category: Category(name: "c"))
            article.notes = [Note(text: "n")]
            article.tags = [Tag(name: "t")]
            context.insert(article)
            try context.save()
            let tag = try #require(article.tags.first)
            context.delete(article)
            if isSaved { try context.save() } else { context.processPendingChanges() }
            #expect(tag.articles.isEmpty)
            manager.undo()
            #expect(!article.isDeleted)
            #expect(article.modelContext === context)
            #expect(article.category?.name == "c")
            #expect(article.notes.map(\.text) == ["n"])
            #expect(tag.articles == [article])
            try context.save()
            let read = try #require(
                try ModelContext(context.container).fetch(FetchDescriptor<Article>()).first)
            #expect(read.title == "a")
            #expect(read.category?.name == "c")
            #expect(read.notes.map(\.text) == ["n"])
            #expect(read.tags.map(\.name) == ["t"])
            manager.redo()
            #expect(article.isDeleted)
            try context.save()
            #expect(try stored(context) == [])
            #expect(
                try ModelContext(context.container).fetchCount(FetchDescriptor<Note>()) == 0)
        }
    }

    @Test("a change of a relationship is undone on both sides, before and after its save")
    func relationships() throws {
        for isSaved in [false, true] {
            let (context, manager) = try context()
            let (one, two) = (Category(name: "1"), Category(name: "2"))
            let article = Article(title: "a", category: one)
            let tags = ["x", "y"].map { Tag(name: $0) }
            article.tags = [tags[0]]
            for model in tags { context.insert(model) }
            context.insert(article)
            context.insert(two)
            try context.save()
            article.category = two
            article.tags = [tags[1]]
            if isSaved { try context.save() }
            manager.undo()
            #expect(article.category === one)
            #expect(one.articles == [article])
            #expect(two.articles.isEmpty)
            #expect(article.tags == [tags[0]])
            #expect(tags[1].articles.isEmpty)
            #expect(context.hasChanges == isSaved)
            try context.save()
            let read = try #require(
                try ModelContext(context.container).fetch(FetchDescriptor<Article>()).first)
            #expect(read.category?.name == "1")
            #expect(read.tags.map(\.name) == ["x"])
            manager.redo()
            #expect(two.articles == [article])
            #expect(tags[0].articles.isEmpty)
            try context.save()
            #expect(
                try ModelContext(context.container).fetch(FetchDescriptor<Article>()).first?
                    .category?.name == "2")
        }
    }

    @Test("undo restores a model that was released")
    func released() throws {
        let (context, manager) = try context()
        context.insert(Article(title: "a", words: 5))
        try context.save()
        manager.removeAllActions()
        try context.delete(model: Article.self)
        try context.save()
        manager.undo()
        try context.save()
        let read = try ModelContext(context.container).fetch(FetchDescriptor<Article>())
        #expect(read.map(\.title) == ["a"])
        #expect(read.map(\.words) == [5])
    }

    @Test("an undo group that the program opens is undone as one")
    func ownGroup() throws {
        let (context, manager) = try context()
        let article = Article(title: "a")
        context.insert(article)
        context.processPendingChanges()
        manager.beginUndoGrouping()
        article.words = 1
        context.processPendingChanges()
        article.words = 2
        manager.endUndoGrouping()
        manager.undo()
        #expect(article.words == 0)
        #expect(article.modelContext === context)
        manager.redo()
        #expect(article.words == 2)
    }

    @Test("a rollback empties the undo stack")
    func rollback() throws {
        let (context, manager) = try context()
        let article = Article(title: "a")
        context.insert(article)
        try context.save()
        article.title = "b"
        context.processPendingChanges()
        article.title = "c"
        context.rollback()
        #expect(!manager.canUndo)
        #expect(!manager.canRedo)
        #expect(article.title == "a")
    }

    @Test("a new change removes the changes that can be redone")
    func newChange() throws {
        let (context, manager) = try context()
        let article = Article(title: "a")
        context.insert(article)
        try context.save()
        article.words = 1
        manager.undo()
        #expect(manager.canRedo)
        article.words = 7
        #expect(!manager.canRedo)
        manager.redo()
        #expect(article.words == 7)
    }

    @Test("nothing is registered without an undo manager, and while registration is disabled")
    func disabled() throws {
        let (context, manager) = try context()
        let article = Article(title: "a")
        manager.disableUndoRegistration()
        context.insert(article)
        #expect(!manager.isUndoRegistrationEnabled)
        manager.enableUndoRegistration()
        #expect(!manager.canUndo)
        article.words = 1
        context.undoManager = nil
        article.words = 2
        manager.undo()
        #expect(article.words == 2)
    }

    @Test("an undo manager does not retain a context")
    func ownership() throws {
        let manager = UndoManager()
        weak var ended: ModelContext?
        do {
            let context = ModelContext(try makeContainer())
            context.undoManager = manager
            context.insert(Article(title: "a"))
            context.processPendingChanges()
            #expect(manager.canUndo)
            ended = context
        }
        #expect(ended == nil)
        manager.undo()
        #expect(!manager.canRedo)
    }
}
