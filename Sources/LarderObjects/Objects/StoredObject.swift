public import LarderModel
public import Observation

/// The values of one object in a context, or of one that has no context yet.
///
/// The instance of a model class owns it; its context owns it as well while it has changes to save.
/// It never owns the instance, nor the context, so there are no reference cycles. It is used on the
/// thread of its context; the context has a lock for callers that do not keep to that.
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

    /// The values by slot. Nil is a value that was not set, or not read from the store yet.
    public internal(set) var cells: [Value?] = []
    public internal(set) var status = Status.unmanaged
    public internal(set) var entity: ObjectEntity?
    /// The context, which may have ended.
    public internal(set) weak var context: ObjectContext?
    /// The instance of the model class, if there is one.
    public weak var owner: (any ObjectOwner)?
    /// Who observes the instance's properties; made for the first observer.
    public var registrar: ObservationRegistrar?
    /// Values of attributes that are stored in another form, such as JSON, by slot.
    public var decoded: [Int: Any] = [:]

    private var givenIdentifier: PersistentIdentifier?
    /// Related objects without a context, by slot, until this object gets a context.
    var related: [Int: [any ObjectOwner]] = [:]
    /// The stored values of the properties that were changed, by slot.
    var committed: [Int: Value] = [:]
    /// Whether a relationship was changed from its other side, which is also a change here.
    var isTouched = false
    /// The objects that were read together with this one, so that more can be read at once.
    var siblings: Siblings?
    /// The order in which objects were inserted or deleted.
    var order = 0
    /// What the deletion took from other objects, for a rollback.
    var severed: [SeveredLink] = []

    public init() {}

    /// The identifier; a temporary one until the object is saved.
    ///
    /// - Parameter entityName: The name of the entity, if the object is not in a context yet.
    public func identifier(entityName: @autoclosure () -> String) -> PersistentIdentifier {
        if let givenIdentifier { return givenIdentifier }
        let new = TemporaryNames.next(entityName: entityName())
        givenIdentifier = new
        return new
    }

    /// The identifier of an object that has or had a context.
    package var identifier: PersistentIdentifier {
        get { identifier(entityName: entity?.name ?? "") }
        set { givenIdentifier = newValue }
    }

    public var isManaged: Bool {
        switch status {
        case .inserted, .saved, .deleted: context != nil
        case .unmanaged, .gone: false
        }
    }

    public var hasChanges: Bool {
        switch status {
        case .inserted, .deleted: true
        case .saved: !committed.isEmpty || isTouched
        case .unmanaged, .gone: false
        }
    }

    /// Makes an object that never had a context one that does not exist any more.
    public func becomeGone() {
        guard context == nil else { return }
        status = .gone
    }

    // MARK: - Values

    /// The value of an attribute; nil if it was never set.
    public func value(at slot: Int) -> Value? {
        if slot < cells.count, let value = cells[slot] { return value }
        context?.load(self, slot)
        return slot < cells.count ? cells[slot] : nil
    }

    /// Sets an attribute.
    public func setValue(_ value: Value, at slot: Int) {
        if let context, isManaged {
            context.setValue(value, of: self, at: slot)
        } else {
            store(value, at: slot)
        }
    }

    func store(_ value: Value?, at slot: Int) {
        if slot >= cells.count {
            cells.append(contentsOf: repeatElement(nil, count: slot + 1 - cells.count))
        }
        cells[slot] = value
    }

    /// Moves the values of a subclass's own level, which were set before its superclass was
    /// initialized, into this object.
    public func unite(with level: StoredObject) {
        guard level !== self else { return }
        for (slot, value) in level.cells.enumerated() {
            if let value { store(value, at: slot) }
        }
        related.merge(level.related) { _, new in new }
        decoded.merge(level.decoded) { _, new in new }
    }

    // MARK: - Relationships

    /// The instances of related objects, in the order of the list.
    public func relatedOwners(at slot: Int) -> [any ObjectOwner] {
        if let owners = related[slot] { return owners }
        guard let context else { return [] }
        return context.relatedOwners(of: self, at: slot)
    }

    /// Sets a relationship of an object that has no context.
    public func setOwners(_ owners: [any ObjectOwner], at slot: Int) { related[slot] = owners }
}

/// The instance of a model class.
public protocol ObjectOwner: AnyObject {
    var _$object: StoredObject { get set }
    /// Called when the object gets a context, with the context's owner.
    func _$join(_ contextOwner: AnyObject)
    /// Called before the object is used by a context: unites the levels of a class hierarchy.
    func _$unite()
}

/// A link that a pending deletion removed from the other object's values.
struct SeveredLink {
    let object: StoredObject
    let slot: Int
    let value: Value?
}

/// The keys of objects of one entity that were read together.
final class Siblings {
    let identifiers: [PersistentIdentifier]

    init(_ identifiers: [PersistentIdentifier]) { self.identifiers = identifiers }

    /// Some of the objects, beginning with one.
    func identifiers(from first: PersistentIdentifier, max: Int) -> [PersistentIdentifier] {
        guard let start = identifiers.firstIndex(of: first) else { return [first] }
        return Array(identifiers[start...].prefix(max))
    }
}
