/// Records how changes are undone. Foundation on Linux does not have it, so this module does, and
/// `SwiftData` and `CoreData` export it.
///
/// A context whose `undoManager` it is registers its changes with it.
public final class UndoManager {
    private typealias Action = () -> Void
    private var undoStack: [[Action]] = []
    private var redoStack: [[Action]] = []
    private var group: [Action] = []
    private var disableCount = 0
    /// The functions that register the changes of each context that has not registered them yet.
    private var sources: [ObjectIdentifier: () -> Void] = [:]

    public init() {}

    public private(set) var isUndoing = false
    public private(set) var isRedoing = false
    public private(set) var groupingLevel = 0

    public var canUndo: Bool {
        registerPendingChanges()
        return !undoStack.isEmpty || !group.isEmpty
    }

    public var canRedo: Bool {
        registerPendingChanges()
        return !redoStack.isEmpty
    }

    public var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Until as many calls of ``enableUndoRegistration()``, nothing is registered.
    public func disableUndoRegistration() {
        registerPendingChanges()
        disableCount += 1
    }

    public func enableUndoRegistration() {
        registerPendingChanges()
        disableCount = max(0, disableCount - 1)
    }

    /// Registers how a change of a target is undone. While an undo runs, it is how that is redone.
    public func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        guard isUndoRegistrationEnabled else { return }
        group.append { [weak target] in if let target { handler(target) } }
        if groupingLevel == 0 { closeGroup() }
    }

    /// Begins a group of changes that are undone together.
    public func beginUndoGrouping() {
        registerPendingChanges()
        groupingLevel += 1
    }

    public func endUndoGrouping() {
        registerPendingChanges()
        groupingLevel = max(0, groupingLevel - 1)
        if groupingLevel == 0 { closeGroup() }
    }

    /// Undoes the last group of changes.
    public func undo() {
        registerPendingChanges()
        guard let actions = undoStack.popLast() else { return }
        isUndoing = true
        run(actions)
        isUndoing = false
    }

    /// Does the last group of changes that was undone again.
    public func redo() {
        registerPendingChanges()
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

    // MARK: - Contexts

    package func addSource(_ source: AnyObject, _ register: @escaping () -> Void) {
        sources[ObjectIdentifier(source)] = register
    }

    package func removeSource(_ source: AnyObject) { sources[ObjectIdentifier(source)] = nil }

    private func registerPendingChanges() {
        for register in sources.values { register() }
    }

    // MARK: -

    private func run(_ actions: [Action]) {
        groupingLevel += 1
        for action in actions.reversed() { action() }
        groupingLevel -= 1
        if groupingLevel == 0 { closeGroup() }
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
