import CoreData
import Testing

@Suite("Undoing changes of a context")
struct UndoTests {
    @Test("changes are undone and done again, also after a save")
    func changes() throws {
        let context = try Library.filled()
        let manager = UndoManager()
        context.undoManager = manager
        #expect(context.undoManager === manager && !manager.canUndo)
        let ann = try context.article("Ann")
        ann.title = "first"
        context.processPendingChanges()
        ann.title = "second"
        try context.save()
        context.undo()
        #expect(ann.title == "first" && context.hasChanges)
        context.undo()
        #expect(ann.title == "Ann")
        context.redo()
        #expect(ann.title == "first")
        try context.save()
        #expect(try context.titles(NSPredicate(format: "title == 'first'")) == ["first"])
    }

    @Test("insertions, deletions and relationships are undone")
    func objects() throws {
        let context = try Library.filled()
        context.undo()
        context.undoManager = UndoManager()
        let (ann, fox) = (try context.article("Ann"), try context.article("fox"))
        fox.category = ann.category
        context.processPendingChanges()
        context.delete(ann)
        _ = Article(context: context)
        context.undo()
        #expect(!ann.isDeleted && context.insertedObjects.isEmpty)
        context.undo()
        #expect(fox.category == nil)
        context.rollback()
        #expect(context.undoManager?.canUndo == false && context.undoManager?.canRedo == false)
        context.undoManager = nil
        ann.title = "x"
        context.undo()
        #expect(ann.title == "x")
    }
}
