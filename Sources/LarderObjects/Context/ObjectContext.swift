internal import Foundation
public import LarderModel

/// The objects that one user of a store works with: one object per identifier, and the changes that
/// are not saved yet.
///
/// It holds the values, not the instances of model classes, which hold their values themselves. A
/// recursive lock protects it, because notifications of a save are handled on other threads.
public final class ObjectContext {
    /// In a snapshot, the stores are those of the snapshot.
    package internal(set) var model: ObjectModel
    /// The context whose objects this one shows and to which it saves; nil if that is the stores.
    package let parent: ObjectContext?
    /// The contexts whose parent this one is.
    var children: [WeakContext] = []
    /// Permanent identifiers by temporary ones that a child may still use.
    var renamed: [PersistentIdentifier: PersistentIdentifier] = [:]
    let changesOfParent = ChangesOfParent()
    /// The object that the instances of models keep, and that keeps this context.
    public weak var owner: AnyObject?
    /// The author of the transactions of its saves; empty for none.
    private(set) var author = ""
    private(set) var conflicts = ConflictPolicy.lastWriterWins
    /// The context of another module that shows the same objects.
    package weak var counterpart: AnyObject?

    /// The part of the context that its objects keep.
    private(set) lazy var place = ContextPlace(self)
    private let lock = NSRecursiveLock()
    private var registry = ObjectRegistry()
    /// Objects that were read along relationships, oldest first.
    var kept: [StoredObject] = []
    /// The number of searches for kept objects that nobody needs any more.
    var sweepCount = 0

    // The objects with changes, which the context keeps.
    var inserted: [ObjectIdentifier: StoredObject] = [:]
    var updated: [ObjectIdentifier: StoredObject] = [:]
    var deleted: [ObjectIdentifier: StoredObject] = [:]
    /// Objects that were deleted before they were saved, and whose delete rules take others.
    var forgotten: [StoredObject] = []
    /// The deletion by a fetch, if the context had no other changes then.
    var deletion: Deletion?
    /// Why calls that throw no error had no effect. The next save is an error.
    var refusedCalls: [String] = []
    private var orderCount = 0
    /// The changes that were not taken yet; nil if nobody takes them.
    var changes: ContextChanges?
    var changesBegan: () -> Void = {}
    /// Takes the changes and tells of them, on the thread of the context.
    package var announceChanges: () -> Void = {}
    /// nil if nobody undoes changes.
    var undoLog: UndoLog?
    /// Records how the changes are undone, if there is one. Undoing is a change of the context.
    package var undoManager: UndoManager? {
        didSet {
            guard undoManager !== oldValue else { return }
            oldValue?.removeSource(self)
            recordUndo(undoManager != nil)
            undoManager?.addSource(self) { [weak self] in self?.registerUndo() }
        }
    }
    /// Called after changes were undone.
    package var didUndo: () -> Void = {}
    /// The number of saves.
    var saveCount = 0
    /// The number of times that an object was deleted, or a deletion was taken back.
    package internal(set) var statusRevision = 0
    package internal(set) var keptLists = KeptLists()
    /// The number of members of lists that were looked at one after the other.
    package internal(set) var listStepCount = 0
    let others: CommitsOfOthers
    var failedReads = FailedReads()
    /// The properties with a stored value that is not one of their types, which were logged.
    var unreadableNames: Set<String> = []
    /// Writes what no call can throw.
    package var log: (String) -> Void = { _ in }
    /// Whether reads see one state of the stores, and there are no saves.
    var isInSnapshot = false
    /// Whether objects without changes are read again after commits of others.
    var isFollowing = false

    package init(_ model: ObjectModel, parent: ObjectContext? = nil) {
        self.model = model
        self.parent = parent
        others = CommitsOfOthers()
        guard let parent else {
            others.observe(model.allStores)
            return
        }
        parent.locked {
            parent.children.removeAll { $0.context == nil }
            parent.children.append(WeakContext(context: self))
        }
    }

    deinit { undoManager?.removeSource(self) }

    // MARK: - The lock

    package func locked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    package func setAuthor(_ author: String) { locked { self.author = author } }

    /// Decides what the next saves do about changes of others.
    package func setConflictPolicy(_ policy: ConflictPolicy) { locked { conflicts = policy } }

    func nextOrder() -> Int {
        orderCount += 1
        return orderCount
    }

    // MARK: - Registered objects

    /// The object with an identifier, if the context has it.
    public func registeredObject(for identifier: PersistentIdentifier) -> StoredObject? {
        locked { registry[identifier] }
    }

    /// Registers an object unless somebody has another one with its identifier.
    ///
    /// - Parameter store: That of the object's entity; nil for a temporary identifier.
    /// - Returns: the object that is registered.
    @discardableResult
    func register(_ object: StoredObject, in store: (any ObjectStore)?) -> StoredObject {
        releaseUnused()
        return registry.object(for: object.identifier, in: store?.identifier) { object }
    }

    /// The objects of the entities of a batch in a store, to which its rows will be added.
    func registered(
        _ entityNames: [String], of batch: Batch, in store: any ObjectStore
    ) -> [ObjectRegistry.Table<Int64>] {
        let byteCount = batch.columns.reduce(0) { $0 + $1.byteCount }
        return entityNames.enumerated().map { index, name in
            registry.table(
                of: name, in: store.identifier, adding: index == 0 ? batch.rowCount : 0,
                byteCount: index == 0 ? byteCount : 0)
        }
    }

    /// Releases objects that nobody has any more, if enough were added. Called before objects are
    /// read.
    func releaseUnused() {
        guard registry.isReleaseDue else { return }
        releaseKept()
        registry.releaseUnused()
    }

    func unregister(_ identifier: PersistentIdentifier) { registry.remove(identifier) }

    /// All registered objects.
    var registered: [StoredObject] { registry.objects }

    var registeredCount: Int { registry.count }

    /// The instances of the model class for objects.
    public func instances<Instance: AnyObject>(
        of objects: [StoredObject], as type: Instance.Type
    ) -> [Instance] {
        locked {
            let owner = owner
            var instances: [Instance] = []
            instances.reserveCapacity(objects.count)
            for object in objects {
                let instance = object.owner ?? newInstance(of: object, owner)
                if let instance = instance as? Instance { instances.append(instance) }
            }
            return instances
        }
    }

    /// The instance of the model class for an object.
    public func instance(of object: StoredObject) -> any ObjectOwner {
        locked { object.owner ?? newInstance(of: object, owner) }
    }

    private func newInstance(
        of object: StoredObject, _ owner: AnyObject?
    ) -> any ObjectOwner {
        guard let entity = object.entity else {
            preconditionFailure("an object of a context has an entity")
        }
        let new = entity.ownerClass.make(object)
        object.owner = new
        if let owner { new._$join(owner) }
        return new
    }

    /// The object with an identifier without reading it: it may turn out not to exist.
    ///
    /// - Throws: `unknownEntity`.
    package func object(
        for identifier: PersistentIdentifier
    ) throws(LarderError) -> StoredObject {
        try locked { () throws(LarderError) in
            if isFollowing { applyCommitsOfOthers() }
            return try unreadObject(for: identifier)
        }
    }

    /// The object with an identifier, without what others have committed since the last use of the
    /// context.
    func unreadObject(
        for identifier: PersistentIdentifier
    ) throws(LarderError) -> StoredObject {
        if let object = registry[identifier] { return object }
        if identifier.isTemporary, let object = objectOfParent(identifier) { return object }
        let entity = try model.entity(named: identifier.entityName)
        // A temporary identifier of another context, or of an object that is no more.
        let object = StoredObject(
            identifier, entity, identifier.isTemporary ? .gone : .saved, place)
        if !identifier.isTemporary {
            register(object, in: try model.store(of: identifier.entityName))
        }
        return object
    }

    // MARK: - Changes

    package var hasChanges: Bool {
        locked {
            !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || !refusedCalls.isEmpty
        }
    }

    package var insertedObjects: [StoredObject] { locked { inserted.values.inOrder } }
    package var updatedObjects: [StoredObject] { locked { updated.values.inOrder } }
    package var deletedObjects: [StoredObject] { locked { deleted.values.inOrder } }

    /// Records that a property of a saved object will change.
    func willChange(_ object: StoredObject, _ slot: Int) {
        note(object, .updated)
        guard object.status == .saved else { return recordChange(of: object, slot) }
        if object.committed[slot] == nil {
            if object[slot] == nil { load(object, slot) }
            object.committed[slot] = object[slot] ?? .null
        }
        recordChange(of: object, slot)
        addUpdated(object)
    }

    func addUpdated(_ object: StoredObject) {
        guard object.status == .saved, updated[ObjectIdentifier(object)] == nil else { return }
        object.order = nextOrder()
        updated[ObjectIdentifier(object)] = object
    }

    func setValue(_ value: Value, of object: StoredObject, at slot: Int) {
        locked {
            // A value that is as it was is not a change.
            if object.status == .saved, object.committed[slot] == nil, object[slot] == value {
                object.refusals[slot] = nil
                return
            }
            guard mayChange(object, slot) else { return }
            willChange(object, slot)
            object[slot] = value
        }
    }

    /// Tells observers of the object that a property has changed. They may have let the instance go
    /// that they have read; another one of the same object has the same observers.
    package func notify(_ object: StoredObject, _ slot: Int) {
        note(object, .refreshed)
        guard object.observers != nil, let entity = object.entity else { return }
        var instance = instance(of: object)
        // The instance may have got another object by an upsert.
        if instance._$object !== object { instance = entity.ownerClass.make(object) }
        entity.ownerClass.notify(instance, slot)
    }

    // MARK: - Deletion by others

    /// Makes an object one that was deleted. It keeps its values.
    func removeGone(_ object: StoredObject) {
        if object.status != .deleted { note(object, .deleted) }
        let key = ObjectIdentifier(object)
        inserted[key] = nil
        updated[key] = nil
        deleted[key] = nil
        object.status = .gone
        statusRevision += 1
        object.committed = [:]
        unregister(object.identifier)
    }
}

/// A context as its objects refer to it, without keeping it. One weak reference is enough for all.
///
/// Sendable unchecked: the reference is set once.
final class ContextPlace: @unchecked Sendable {
    private(set) weak var context: ObjectContext?

    init(_ context: ObjectContext) { self.context = context }
}

extension Sequence<StoredObject> {
    /// In the order in which they were inserted, changed or deleted.
    var inOrder: [StoredObject] { sorted { $0.order < $1.order } }
}
