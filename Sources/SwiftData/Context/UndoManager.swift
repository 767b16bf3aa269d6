/// Records how changes are undone. Foundation on Linux does not have it, so this module does.
///
/// A context does not register its changes with it: `rollback()` discards all unsaved changes.
public final class UndoManager {
    private typealias Action = () -> Void
    private var undoStack: [[Action]] = []
    private var redoStack: [[Action]] = []
    private var group: [Action] = []
    private var isUndoing = false
    private var isRedoing = false

    public init() {}

    public var canUndo: Bool { !undoStack.isEmpty || !group.isEmpty }
    public var canRedo: Bool { !redoStack.isEmpty }
    public private(set) var groupingLevel = 0

    /// Registers how a change of a target is undone. While an undo runs, it is how that is redone.
    public func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        group.append { [weak target] in if let target { handler(target) } }
        if groupingLevel == 0 { closeGroup() }
    }

    public func beginUndoGrouping() { groupingLevel += 1 }

    public func endUndoGrouping() {
        groupingLevel = max(0, groupingLevel - 1)
        if groupingLevel == 0 { closeGroup() }
    }

    public func undo() {
        guard let actions = undoStack.popLast() else { return }
        isUndoing = true
        run(actions)
        isUndoing = false
    }

    public func redo() {
        guard let actions = redoStack.popLast() else { return }
        isRedoing = true
        run(actions)
        isRedoing = false
    }

    public func removeAllActions() {
        undoStack = []
        redoStack = []
        group = []
    }

    private func run(_ actions: [Action]) {
        beginUndoGrouping()
        for action in actions.reversed() { action() }
        endUndoGrouping()
    }

    private func closeGroup() {
        guard !group.isEmpty else { return }
        if isUndoing {
            redoStack.append(group)
        } else {
            undoStack.append(group)
            if !isRedoing { redoStack = [] }
        }
        group = []
    }
}
