internal import CoreDataPredicates
public import Foundation
internal import LarderModel
public import LarderObjects
internal import Synchronization

/// The objects that one queue works with, and their changes until they are saved.
///
/// Sendable unchecked: a program uses a context on its queue, by ``perform(_:)``; the objects and
/// their changes are under a lock of their own.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    /// The queue of a context.
    public enum ConcurrencyType: UInt, Sendable {
        case privateQueueConcurrencyType = 1
        case mainQueueConcurrencyType = 2

        public static let privateQueue = Self.privateQueueConcurrencyType
        public static let mainQueue = Self.mainQueueConcurrencyType
    }

    public let concurrencyType: ConcurrencyType
    /// The name of the context, for a program to read.
    open var name: String?
    /// Who makes the changes, for the history.
    open var transactionAuthor: String?
    open var userInfo: [AnyHashable: Any] = [:]
    /// It has no effect: an object that others have deleted always says that it is deleted.
    open var shouldDeleteInaccessibleFaults = true
    /// The rule of a save for changes by others.
    open var mergePolicy = NSMergePolicy.error

    /// The stores; those of the parent, if there is one. Set it before the context is used.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { parentContext.map(\.persistentStoreCoordinator) ?? coordinator }
        set { coordinator = newValue }
    }

    /// The context whose objects this one shows, with its pending changes, and to which it saves.
    /// Set it before the context is used. A parent whose own ancestors lead back to the context,
    /// and one with too many ancestors, is not set, and makes the next save an error.
    open var parent: NSManagedObjectContext? {
        get { parentContext }
        set { setParent(newValue) }
    }

    private var coordinator: NSPersistentStoreCoordinator?
    private var parentContext: NSManagedObjectContext?
    /// Whether the objects are those of a context of another module, directly or by the parent.
    private var showsOthers = false

    /// The context of another module that has the objects; nil if this one has them itself.
    let owner: (any ManagedContextOwner)?
    private var made: ObjectContext?
    /// The objects that show those of another module, by these.
    private var shown: [ObjectIdentifier: WeakObject] = [:]
    let contextQueue: ContextQueue

    /// The controllers to tell what changes. Under the lock of the objects.
    var controllers: [WeakResults] = []
    /// Whether pending changes will be processed when the queue is free.
    let isScheduled = Atomic(false)
    /// Whether changes are being announced. Under the lock of the objects.
    var isAnnouncing = false

    private struct WeakObject { weak var object: NSManagedObject? }
    private static let ancestorsMax = 16

    /// - Parameter ct: The queue on which ``perform(_:)`` runs closures.
    public init(concurrencyType ct: ConcurrencyType) {
        concurrencyType = ct
        owner = nil
        contextQueue = ContextQueue(isMain: ct == .mainQueueConcurrencyType)
    }

    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type) }

    /// A context that shows the objects of one of another module.
    package init(
        _ owner: any ManagedContextOwner, _ objects: ObjectContext,
        _ coordinator: NSPersistentStoreCoordinator, isMain: Bool
    ) {
        concurrencyType = isMain ? .mainQueueConcurrencyType : .privateQueueConcurrencyType
        self.owner = owner
        made = objects
        showsOthers = true
        self.coordinator = coordinator
        contextQueue = ContextQueue(isMain: isMain)
        super.init()
        objects.announceChanges = { [weak self] in self?.announceChanges() }
        objects.recordChanges { [weak self] in self?.scheduleProcessing() }
    }

    deinit { if owner != nil { made?.stopRecordingChanges() } }

    private func setParent(_ new: NSManagedObjectContext?) {
        var ancestor = new
        for _ in 0..<Self.ancestorsMax where ancestor !== self { ancestor = ancestor?.parent }
        guard ancestor == nil else {
            let reason =
                ancestor === self ? "is one of its own ancestors" : "has too many ancestors"
            objects.refuse("the parent of the context \(reason)")
            return
        }
        parentContext = new
        showsOthers = owner != nil || new?.showsOthers == true
    }

    /// The objects. Stores that were added since then are those of other objects.
    package var objects: ObjectContext {
        if let made, owner != nil { return made }
        let parent = parentContext?.objects
        let model = parent?.model ?? persistentStoreCoordinator?.objectModel ?? .empty
        if let made, made.parent === parent, parent != nil || made.model === model { return made }
        let new = ObjectContext(model, parent: parent)
        new.owner = self
        new.log = Log.write
        new.followsCommits = automaticallyMergesChangesFromParent
        new.undoManager = made?.undoManager
        new.announceChanges = { [weak self] in self?.announceChanges() }
        new.recordChanges { [weak self] in self?.scheduleProcessing() }
        made = new
        return new
    }

    var compiledModel: CompiledModel? {
        try? persistentStoreCoordinator?.managedObjectModel.compile()
    }

    /// The entity of a class; one without properties if the model has none.
    func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
        persistentStoreCoordinator?.managedObjectModel.entity(of: type)
            ?? NSEntityDescription(unknown: "\(type)")
    }

    // MARK: - Instances

    /// The instance for an object of the context.
    package func managedObject(_ stored: StoredObject) -> NSManagedObject {
        objects.locked {
            guard !showsOthers else { return shownObject(stored) }
            let isNew = stored.owner == nil
            guard let object = objects.instance(of: stored) as? NSManagedObject else {
                return NSManagedObject(stored, entity: description(of: stored), in: self)
            }
            if isNew, stored.status == .saved { object.awakeFromFetch() }
            return object
        }
    }

    private func shownObject(_ stored: StoredObject) -> NSManagedObject {
        if let known = shown[ObjectIdentifier(stored)]?.object, known._$object === stored {
            return known
        }
        let new = NSManagedObject(stored, entity: description(of: stored), in: self)
        show(new)
        return new
    }

    private func show(_ object: NSManagedObject) {
        if shown.count > 256, shown.count.nonzeroBitCount == 1 {
            shown = shown.filter { $0.value.object != nil }
        }
        shown[ObjectIdentifier(object._$object)] = WeakObject(object: object)
    }

    private func description(of stored: StoredObject) -> NSEntityDescription {
        let name = stored.identifier(entityName: "").entityName
        return compiledModel?.descriptions[name] ?? NSEntityDescription(unknown: name)
    }

    func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID {
        NSManagedObjectID(identifier, compiledModel?.descriptions[identifier.entityName])
    }

    /// The value as a program has it, with objects of the context.
    func anyValue(_ value: Value) -> Any? {
        switch value {
        case .object(let identifier): (try? objects.object(for: identifier)).map(managedObject)
        case .objects(let identifiers):
            NSSet(array: identifiers.compactMap { try? objects.object(for: $0) }.map(managedObject))
        default: value.anyValue
        }
    }

    // MARK: - Changes

    /// Whether there are changes that are not saved.
    open var hasChanges: Bool { objects.hasChanges }

    open var insertedObjects: Set<NSManagedObject> {
        Set(objects.insertedObjects.map(managedObject))
    }
    open var updatedObjects: Set<NSManagedObject> { Set(objects.updatedObjects.map(managedObject)) }
    open var deletedObjects: Set<NSManagedObject> { Set(objects.deletedObjects.map(managedObject)) }

    /// Inserts an object. One of an entity that the model does not have stays in no context, and
    /// makes the next save an error.
    open func insert(_ object: NSManagedObject) {
        do throws(LarderError) {
            if !showsOthers {
                let isNew = !object._$object.isManaged
                if isNew { try setDefaults(of: object) }
                if try objects.insert(object), isNew { object.awakeFromInsert() }
            } else if !object._$object.isManaged {
                let entity = try objects.model.entity(named: object._$entityName)
                let values = object.knownValues
                let model = entity.ownerClass.make(StoredObject())
                try objects.insert(model)
                object._$object = model._$object
                object._$join(self)
                show(object)
                try setDefaults(of: object)
                object.setValuesForKeys(values)
            }
            owner?.didChange()
        } catch {
            objects.refuse(error.message)
        }
    }

    private func setDefaults(of object: NSManagedObject) throws(LarderError) {
        let entity = try objects.model.entity(named: object._$entityName)
        for attribute in entity.entity.attributes where !attribute.isDerived {
            guard let value = attribute.defaultValue, let slot = entity.slot(named: attribute.name),
                object._$object[slot] == nil
            else { continue }
            object._$object.setValue(value, at: slot)
        }
    }

    /// Marks an object to be deleted by the next save. It has no effect for one that was deleted,
    /// and for one of another context.
    open func delete(_ object: NSManagedObject) {
        guard object._$object.context === objects, !object.isDeleted else { return }
        object.prepareForDeletion()
        objects.delete(object._$object)
        owner?.didChange()
    }

    /// Discards all changes.
    open func rollback() {
        if let owner { return owner.rollback() }
        objects.rollback()
        undoManager?.removeAllActions()
        announceChanges()
    }

    /// Records how the changes of the context are undone, if there is one. The changes until
    /// ``processPendingChanges()``, a save, or a call of the undo manager are undone together.
    open var undoManager: UndoManager? {
        get { objects.undoManager }
        set { objects.undoManager = newValue }
    }

    /// Undoes the last changes, if there is an undo manager.
    open func undo() { undoManager?.undo() }

    /// Does the last changes that were undone again.
    open func redo() { undoManager?.redo() }

    /// Discards all changes and forgets all objects. Those that a program still has are in no
    /// context.
    open func reset() {
        objects.reset()
        shown = [:]
        announceChanges()
    }

    /// Forgets the values of an object, which are read again when they are used.
    ///
    /// - Parameter flag: Whether its changes stay.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        let isForgotten = object.managedObjectContext === self && object._$object.hasValues
        if isForgotten { object.willTurnIntoFault() }
        objects.refresh(object._$object, mergesChanges: flag)
        if isForgotten { object.didTurnIntoFault() }
    }

    /// Forgets the values of all objects, which are read again when they are used. Changes stay.
    open func refreshAllObjects() {
        for object in objects.savedObjects { objects.refresh(object, mergesChanges: true) }
    }

    /// Applies what is pending: delete rules, what others have deleted, and what they have changed
    /// if the context follows them. Then it announces what has changed: by
    /// ``Foundation/Notification/Name/NSManagedObjectContextObjectsDidChange``, and to fetched
    /// results controllers.
    ///
    /// It is called at the end of each closure of ``perform(_:)``, before a save, and for a context
    /// of the main queue after each change, when that queue is free.
    open func processPendingChanges() {
        objects.locked {
            objects.applyCommitsOfOthers()
            objects.propagateDeletions()
            objects.registerUndo()
        }
        announceChanges()
    }

    /// Called after a change of an object by its instance.
    func didChange(_ stored: StoredObject, _ slot: Int) {
        guard let owner else { return }
        objects.locked { objects.notify(stored, slot) }
        owner.didChange()
    }

    /// Whether objects without changes are read again after others have changed them.
    open var automaticallyMergesChangesFromParent = false {
        didSet { follow() }
    }

    private func follow() {
        let objects = objects
        objects.followsCommits = automaticallyMergesChangesFromParent
        guard automaticallyMergesChangesFromParent else {
            objects.announceCommits(nil)
            return
        }
        objects.announceCommits { [weak self] in
            self?.perform { [weak self] in self?.processPendingChanges() }
        }
    }
}

public typealias NSManagedObjectContextConcurrencyType = NSManagedObjectContext.ConcurrencyType

/// The context of another module whose objects a managed object context shows.
package protocol ManagedContextOwner: AnyObject {
    /// Called after a change that was made by the managed object context.
    func didChange()
    /// Runs a closure where the context works without being called.
    ///
    /// - Returns: false if there is no such place, and the closure is not run.
    func schedule(_ body: @escaping @Sendable () -> Void) -> Bool
    func save() throws
    func rollback()
}
