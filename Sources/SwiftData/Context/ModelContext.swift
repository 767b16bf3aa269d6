public import Foundation
internal import LarderModel
public import LarderObjects

/// The models that one thread or actor works with, and their changes until they are saved.
///
/// A context has one instance per identifier. It keeps its container. A fetch refreshes the models
/// that it finds and that have no changes; other models stay as they are.
public class ModelContext: Equatable, SendableMetatype {
    public static let willSave = Notification.Name("NSModelContextWillSave")
    public static let didSave = Notification.Name("NSModelContextDidSave")

    /// The keys of what ``didSave`` has in its `userInfo`.
    public enum NotificationKey: String {
        case queryGeneration, invalidatedAllIdentifiers
        case insertedIdentifiers = "inserted"
        case updatedIdentifiers = "updated"
        case deletedIdentifiers = "deleted"
        case historyTokens
    }

    let core: ContainerCore
    package let objects: ObjectContext
    /// Saves the context after each turn of the main actor; nil for other contexts.
    var autosaver: Autosaver?
    let home = ContextHome()
    let listeners = ChangeListeners()

    /// Whether the context is that of the main actor.
    package var isMain: Bool { autosaver != nil }

    /// Whether changes are saved by themselves after each turn of the main actor. Only the main
    /// context does so by default.
    public var autosaveEnabled = false {
        didSet { if autosaveEnabled { modelDidChange() } }
    }

    /// Records how the changes of the context are undone, if there is one.
    ///
    /// The changes until ``processPendingChanges()``, a save, or a call of the undo manager are
    /// undone together, also after they were saved. Undoing is a change of the context.
    public var undoManager: UndoManager? {
        get { objects.undoManager }
        set { objects.undoManager = newValue }
    }

    public convenience init(_ container: ModelContainer) { self.init(container.core) }

    init(_ core: ContainerCore) {
        self.core = core
        let editingState = EditingState()
        self.editingState = editingState
        objects = ObjectContext(core.model(for: editingState))
        objects.owner = self
        objects.log = core.log
        objects.didUndo = { [weak self] in self?.modelDidChange() }
    }

    public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }

    public var container: ModelContainer { core.container }

    /// Who makes the changes of the context, for the history.
    public var author: String? {
        get { editingState.author }
        set { editingState.author = newValue }
    }

    public var editingState: EditingState

    // MARK: - Changes

    public var hasChanges: Bool { objects.hasChanges }

    public var insertedModelsArray: [any PersistentModel] { models(objects.insertedObjects) }
    public var changedModelsArray: [any PersistentModel] { models(objects.updatedObjects) }
    public var deletedModelsArray: [any PersistentModel] { models(objects.deletedObjects) }

    func models(_ objects: [StoredObject]) -> [any PersistentModel] {
        objects.compactMap { self.objects.instance(of: $0) as? any PersistentModel }
    }

    /// Inserts a model, and the models without a context that are related to it.
    ///
    /// If the schema of the container does not have the class of one of them, none is inserted, and
    /// the next save is an error.
    public func insert<T: PersistentModel>(_ model: T) {
        do throws(LarderError) {
            if try !objects.insert(model) {
                core.log("a \(T.entityName) belongs to another context; it is not inserted")
            }
        } catch {
            let name = String(reflecting: type(of: model))
            core.log("\(name) is not inserted: \(error.message)")
            objects.refuse("\(name): it was not inserted, because \(error.message)")
        }
        modelDidChange()
    }

    /// Marks a model to be deleted by the next save.
    public func delete<T: PersistentModel>(_ model: T) {
        objects.delete(model._$object)
        modelDidChange()
    }

    /// Marks the models that match to be deleted by the next save, pending ones included.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        var fetch = try objectFetch(FetchDescriptor<T>(predicate: predicate))
        fetch.includesSubentities = includeSubclasses
        try SwiftDataError.translating { () throws(LarderError) in try objects.delete(fetch) }
        modelDidChange()
    }

    /// Discards all changes, and what the undo manager has recorded.
    public func rollback() {
        objects.rollback()
        undoManager?.removeAllActions()
        objects.announceChanges()
        listeners.call()
    }

    /// Applies what is pending: what others have deleted, and what they have changed if the context
    /// follows them. The undo manager records the changes since the last call.
    public func processPendingChanges() {
        objects.applyCommitsOfOthers()
        objects.registerUndo()
        objects.announceChanges()
    }

    /// Runs a closure and saves the changes.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    /// Called after each change of a model.
    @usableFromInline
    package func modelDidChange() {
        listeners.call()
        guard autosaveEnabled else { return }
        autosaver?.schedule(self)
    }

    func setRelated(
        _ owners: [any ObjectOwner], of object: StoredObject, _ slot: Int
    ) {
        insertNew(owners)
        objects.setRelated(owners.map(\._$object), of: object, slot)
    }

    /// Inserts the models that have no context. A deleted model stays deleted.
    func insertNew(_ owners: [any ObjectOwner]) {
        for owner in owners {
            owner._$unite()
            if owner._$object.status == .unmanaged, let model = owner as? any PersistentModel {
                insert(model)
            }
        }
    }
}

// A context belongs to one thread or actor, so passing it to another one is an error.
@available(*, unavailable)
extension ModelContext: @unchecked Sendable {}

/// Who edits: a context, and the author that the history records.
public struct EditingState: Identifiable, Sendable {
    public let id: UUID
    public var author: String?

    init() {
        id = UUID()
    }
}
