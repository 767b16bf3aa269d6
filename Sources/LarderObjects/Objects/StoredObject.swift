public import LarderModel
public import Synchronization

/// The values of one object in a context, or of one that has no context yet.
///
/// The instance of a model class owns it; its context owns it as well while it has changes to save.
/// It never owns the instance, nor the context, so there are no reference cycles.
///
/// An instance belongs to the thread of its context, but one that was deleted may still be shown by
/// another thread. So what a reader of a property needs is under a lock of the object, and what a
/// save needs is under the lock of the context. No code of others runs under the object's lock.
public final class StoredObject {
    public enum Status: Sendable {
        /// It has no context.
        case unmanaged
        /// It will be inserted by the next save.
        case inserted
        case saved
        /// It will be deleted by the next save.
        case deleted
        /// It was deleted, by this context or by anyone else. It keeps its last values.
        case gone
    }

    @usableFromInline let state: Mutex<State>

    // MARK: Under the lock of the context

    /// The stored values of the properties that were changed, by slot.
    var committed: [Int: Value] = [:]
    /// Whether a relationship was changed from its other side, which is also a change here.
    var isTouched = false
    /// The objects that were read together with this one, so that more can be read at once.
    var siblings: Siblings?
    /// The index of the object among its siblings.
    var siblingIndex = 0
    /// The object of the parent context that this one shows.
    var original: StoredObject?
    /// Whether the context keeps it without changes.
    var isKept = false
    /// The last search of the context that has reached the object while it is kept.
    var reachedBy = 0
    /// The lists that were set before the object was saved. They replace those of an object that
    /// has the same unique values.
    var assignedLists: Set<Int> = []
    /// The order in which objects were inserted or deleted.
    var order = 0

    public init() { state = Mutex(State()) }

    /// An object as the context has it.
    init(
        _ identifier: PersistentIdentifier, _ entity: ObjectEntity, _ status: Status,
        _ place: ContextPlace, _ cells: [Value?] = []
    ) {
        state = Mutex(
            State(
                cells: cells, status: status, entity: entity, place: place,
                identifier: identifier))
    }

    // MARK: - What it is

    /// The identifier; a temporary one until the object is saved.
    ///
    /// - Parameter entityName: The name of the entity, if the object is not in a context yet.
    public func identifier(entityName: @autoclosure () -> String) -> PersistentIdentifier {
        if let known = state.withLock({ $0.identifier }) { return known }
        let new = TemporaryNames.next(entityName: entityName())
        return state.withLock { state in
            if let known = state.identifier { return known }
            state.identifier = new
            return new
        }
    }

    /// The identifier of an object that has or had a context.
    package var identifier: PersistentIdentifier {
        get { identifier(entityName: entity?.name ?? "") }
        set { state.withLock { $0.identifier = newValue } }
    }

    public internal(set) var entity: ObjectEntity? {
        get { state.withLock { $0.entity } }
        set { state.withLock { $0.entity = newValue } }
    }

    public internal(set) var status: Status {
        get { state.withLock { $0.status } }
        set { state.withLock { $0.status = newValue } }
    }

    /// The context, which may have ended.
    public internal(set) var context: ObjectContext? {
        get { state.withLock { $0.place }?.context }
        set {
            let place = newValue?.place
            state.withLock { $0.place = place }
        }
    }

    /// The instance of the model class, if there is one.
    public var owner: (any ObjectOwner)? {
        get { state.withLock { Held(value: $0.owner) }.value }
        set {
            let new = Held(value: newValue)
            state.withLock { $0.owner = new.value }
        }
    }

    public var isManaged: Bool { managingContext != nil }

    /// The context of an object that is in one.
    private var managingContext: ObjectContext? {
        let place = state.withLock { state -> ContextPlace? in
            switch state.status {
            case .inserted, .saved, .deleted: state.place
            case .unmanaged, .gone: nil
            }
        }
        return place?.context
    }

    public var hasChanges: Bool {
        switch status {
        case .inserted, .deleted: true
        case .saved: context?.locked { !committed.isEmpty || isTouched } ?? false
        case .unmanaged, .gone: false
        }
    }

    /// Makes an object that never had a context one that does not exist any more.
    public func becomeGone() {
        guard context == nil else { return }
        status = .gone
    }

    // MARK: - Values

    /// The value of a property by slot; nil if it was not set, or not read from the store yet.
    public internal(set) subscript(slot: Int) -> Value? {
        get { state.withLock { slot < $0.cells.count ? $0.cells[slot] : nil } }
        set { store(newValue, at: slot, keepsRefusedChange: false) }
    }

    /// Gives a property the value that the store has. A change that was refused stays refused.
    func setStored(_ value: Value?, at slot: Int) {
        store(value, at: slot, keepsRefusedChange: true)
    }

    private func store(_ value: Value?, at slot: Int, keepsRefusedChange: Bool) {
        // A value of a model may run code when it is released, so that is not done here.
        let former = state.withLock { state in
            if slot >= state.cells.count {
                // An initializer sets one property after the other.
                if state.cells.isEmpty { state.cells.reserveCapacity(max(8, slot + 1)) }
                while state.cells.count <= slot { state.cells.append(nil) }
            }
            state.cells[slot] = value
            if !state.tracked.isEmpty { state.tracked[slot] = nil }
            if !state.refusals.isEmpty {
                if keepsRefusedChange {
                    state.refusals[slot]?.read = nil
                } else {
                    state.refusals[slot] = nil
                }
            }
            if state.decoded.isEmpty { return Held<Any?>(value: nil) }
            return Held(value: state.decoded.removeValue(forKey: slot))
        }
        withExtendedLifetime(former) {}
    }

    /// The values by slot, of which there may be fewer than properties.
    var cells: [Value?] { state.withLock { $0.cells } }

    /// Makes an object without a context one that the context inserts. Its relationships are empty
    /// until they are set.
    func join(_ context: ObjectContext, as entity: ObjectEntity, _ owner: any ObjectOwner) {
        let new = Held(value: owner)
        let place = context.place
        state.withLock { state in
            let count = state.cells.count
            for (slot, value) in entity.newCells.enumerated() {
                if slot >= count {
                    state.cells.append(value)
                } else if state.cells[slot] == nil || entity.properties[slot].kind != .attribute {
                    state.cells[slot] = value
                }
            }
            state.tracked = [:]
            state.entity = entity
            state.owner = new.value
            state.place = place
            state.status = .inserted
        }
    }

    /// Whether any value of the store is known.
    package var hasValues: Bool {
        state.withLock { state in
            state.cells.indices.contains { slot in
                state.cells[slot] != nil
                    && state.entity?.properties[slot].ephemeralValue == nil
            }
        }
    }

    /// The value of an attribute; nil if it was never set.
    public func value(at slot: Int) -> Value? {
        if let value = self[slot] { return value }
        context?.load(self, slot)
        return self[slot]
    }

    /// Sets an attribute.
    public func setValue(_ value: Value, at slot: Int) {
        if let context = managingContext {
            context.setValue(value, of: self, at: slot)
        } else {
            self[slot] = value
        }
    }

    /// The value of an attribute that is stored in another form, such as JSON, if it is known.
    public func decoded(at slot: Int) -> Any? {
        state.withLock { Held(value: $0.decoded[slot]) }.value
    }

    /// Keeps a value in the form in which it is used, until another one is stored.
    ///
    /// - Parameter value: What is stored for it. If that is not the value any more, none is kept.
    public func keep(_ decoded: Any, of value: Value?, at slot: Int) {
        let new = Held(value: decoded)
        let former = state.withLock { state -> Held<Any?> in
            guard (slot < state.cells.count ? state.cells[slot] : nil) == value else {
                return Held(value: nil)
            }
            return Held(value: state.decoded.updateValue(new.value, forKey: slot))
        }
        withExtendedLifetime(former) {}
    }

    /// Forgets all stored values, which are read again.
    func forget() {
        let former = state.withLock { state in
            let decoded = Held(value: state.decoded)
            state.tracked = [:]
            for slot in state.cells.indices
            where state.entity?.properties[slot].ephemeralValue == nil {
                state.cells[slot] = nil
                state.decoded[slot] = nil
            }
            return decoded
        }
        withExtendedLifetime(former) {}
    }

    /// Moves the values of a subclass's own level, which were set before its superclass was
    /// initialized, into this object.
    public func unite(with level: StoredObject) {
        guard level !== self else { return }
        let own = level.state.withLock { state in
            (cells: state.cells, decoded: Held(value: state.decoded))
        }
        for (slot, value) in own.cells.enumerated() {
            if let value { self[slot] = value }
        }
        for (slot, value) in own.decoded.value { keep(value, of: self[slot], at: slot) }
        refusals.merge(level.refusals) { _, new in new }
        related.merge(level.related) { _, new in new }
    }

    /// Removes the first values of an object that has no context.
    public func removeValues(ofSlotsBefore end: Int) {
        guard status == .unmanaged else { return }
        for slot in 0..<end where self[slot] != nil { self[slot] = nil }
        related = related.filter { $0.key >= end }
    }

    // MARK: - Refused values

    /// Why changes of properties are not saved, by slot.
    var refusals: [Int: Refusal] {
        get { state.withLock { $0.refusals } }
        set { state.withLock { $0.refusals = newValue } }
    }

    /// Makes the next save an error, because a value that was set cannot be saved. Another value of
    /// the property, and a rollback, takes it back.
    public func refuse(_ reason: String, at slot: Int) {
        guard let context = managingContext else {
            refusals[slot, default: Refusal()].change = reason
            return
        }
        context.refuse(reason, of: self, slot)
    }

    /// Says that the stored value is not one of the property's type, so that another one is shown.
    /// The next change of the property makes the next save an error, once.
    public func becomeUnreadable(_ reason: String, at slot: Int) {
        managingContext?.isUnreadable(self, slot, reason)
    }

    // MARK: - Relationships

    /// The instances of related objects, in the order of the list.
    public func relatedOwners(at slot: Int) -> [any ObjectOwner] {
        if let owners = related[slot] { return owners }
        guard let context else { return [] }
        return context.relatedOwners(of: self, at: slot)
    }

    /// Sets a relationship of an object that has no context.
    public func setOwners(_ owners: [any ObjectOwner], at slot: Int) {
        var new = related
        if owners.isEmpty, new.isEmpty { return }
        new[slot] = owners
        related = new
    }

    /// Related objects without a context, by slot, until this object gets a context.
    var related: [Int: [any ObjectOwner]] {
        get { state.withLock { Held(value: $0.related) }.value }
        set {
            let new = Held(value: newValue)
            let former = state.withLock { state in
                let related = Held(value: state.related)
                state.related = new.value
                state.tracked = [:]
                return related
            }
            withExtendedLifetime(former) {}
        }
    }

    // MARK: - Observation

    /// Who observes the instance's properties; nil before anyone has read one.
    @inlinable public var observers: Observers? { state.withLock { $0.observers } }

    /// Makes the object that has the observers, unless there is one.
    public func makeObservers() -> Observers {
        state.withLock { state in
            if let known = state.observers { return known }
            let new = Observers()
            state.observers = new
            return new
        }
    }

    /// The value of a property as a type has it; nil if it is not known, or of another type.
    /// A read of a property needs the observers, too.
    ///
    /// - Parameter observe: Tells the observers of the read. It is called under the lock, because
    ///   to keep the observers until later takes longer than to tell them.
    /// - Returns: the value, and whether there are observers.
    @inlinable
    public func observed<Member>(
        at slot: Int, as member: (Value) -> Member?, _ observe: (Observers) -> Void
    ) -> (member: Member?, hasObservers: Bool) {
        let held = state.withLock { state -> Held<(member: Member?, hasObservers: Bool)> in
            if let observers = state.observers { observe(observers) }
            let cell = slot < state.cells.count ? state.cells[slot] : nil
            return Held(value: (cell.flatMap(member), state.observers != nil))
        }
        return held.value
    }
}

extension StoredObject {
    /// Sendable unchecked: what is passed into the lock and out of it, on one thread.
    @usableFromInline
    struct Held<Wrapped>: @unchecked Sendable {
        @usableFromInline let value: Wrapped

        @inlinable init(value: Wrapped) { self.value = value }
    }

    /// Sendable unchecked: it is used under the lock of its object.
    @usableFromInline
    struct State: @unchecked Sendable {
        @usableFromInline var cells: [Value?] = []
        var status = Status.unmanaged
        var entity: ObjectEntity?
        var place: ContextPlace?
        weak var owner: (any ObjectOwner)?
        var identifier: PersistentIdentifier?
        @usableFromInline var observers: Observers?
        /// Values of attributes in the form in which they are used, by slot.
        var decoded: [Int: Any] = [:]
        var related: [Int: [any ObjectOwner]] = [:]
        var tracked: [Int: TrackedList] = [:]
        var refusals: [Int: Refusal] = [:]
    }
}

/// The instance of a model class.
public protocol ObjectOwner: AnyObject {
    var _$object: StoredObject { get set }
    /// The name of the entity whose objects instances of this class are.
    var _$entityName: String { get }
    /// Called when the object gets a context, with the context's owner.
    func _$join(_ contextOwner: AnyObject)
    /// Called before the object is used by a context: unites the levels of a class hierarchy.
    func _$unite()
}
