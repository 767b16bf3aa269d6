import SwiftData
import Testing

@Suite("The undo manager, which Foundation does not have here")
struct UndoManagerTests {
    private final class Counter { var value = 0 }

    private func set(_ counter: Counter, to value: Int, _ manager: UndoManager) {
        let former = counter.value
        manager.registerUndo(withTarget: counter) { self.set($0, to: former, manager) }
        counter.value = value
    }

    @Test("the undo manager undoes and redoes what is registered, groups as a whole")
    func undo() {
        let manager = UndoManager()
        let counter = Counter()
        #expect(!manager.canUndo)
        set(counter, to: 1, manager)
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 1)
        set(counter, to: 2, manager)
        set(counter, to: 3, manager)
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 0)
        #expect(manager.canUndo && !manager.canRedo)
        manager.undo()
        #expect(counter.value == 1)
        #expect(manager.canRedo)
        manager.redo()
        #expect(counter.value == 3)
        manager.undo()
        manager.undo()
        #expect(counter.value == 0)
        #expect(!manager.canUndo)
        manager.undo()
        manager.redo()
        #expect(counter.value == 1)
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo)
    }

    @Test("the undo manager reports that it is undoing or redoing")
    func phases() {
        let manager = UndoManager()
        let counter = Counter()
        var phases: [[Bool]] = []
        func register() {
            manager.registerUndo(withTarget: counter) { _ in
                phases.append([manager.isUndoing, manager.isRedoing])
                register()
            }
        }
        register()
        manager.undo()
        manager.redo()
        #expect(phases == [[true, false], [false, true]])
        #expect(!manager.isUndoing && !manager.isRedoing)
    }

    @Test("a rollback of a context discards the changes from its undo manager")
    func context() throws {
        let context = ModelContext(try makeContainer())
        #expect(context.undoManager == nil)
        let manager = UndoManager()
        context.undoManager = manager
        #expect(context.undoManager === manager)
        context.insert(Tag(name: "t"))
        #expect(manager.canUndo)
        context.rollback()
        #expect(!context.hasChanges)
    }
}
