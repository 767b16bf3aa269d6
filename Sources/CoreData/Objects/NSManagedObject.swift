internal import CoreDataPredicates
public import Foundation
package import LarderModel
public import LarderObjects

/// An object of a store, whose properties are read and set by their names.
///
/// The context has the values, not the instances: it makes another instance for an object of which
/// the program has none. An instance keeps its context. No call ends the process: what cannot be
/// done has no effect, and the next save is an error that names the property.
open class NSManagedObject: NSObject, NSFetchRequestResult, ObjectOwner {
    /// The entity of the object.
    public let entity: NSEntityDescription
    private var stored: StoredObject?
    private var context: NSManagedObjectContext?
    /// Whether neither the entity nor the class has had a value since this was false.
    var lacksKey = false
    /// Records what is read, for the name of a key path.
    var reads: PropertyReads?

    /// Makes an object, and inserts it into a context.
    public required init(
        entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
    ) {
        self.entity = entity
        super.init()
        context?.insert(self)
    }

    /// Inserts a new object of the entity that has this class.
    public convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: moc.entity(of: Self.self), insertInto: moc)
    }

    /// The entity of the class in the models that are in use.
    open class func entity() -> NSEntityDescription { ModelRegistry.shared.entity(of: self) }

    /// A request for the objects of the class.
    open class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
        NSFetchRequest(entityName: entity().name ?? "")
    }

    /// An object that shows one which a context of another module has.
    convenience init(
        _ stored: StoredObject, entity: NSEntityDescription, in context: NSManagedObjectContext
    ) {
        self.init(entity: entity, insertInto: nil)
        self.stored = stored
        self.context = context
    }

    // MARK: - ObjectOwner

    public var _$object: StoredObject {
        get {
            if let stored { return stored }
            let new = StoredObject()
            stored = new
            return new
        }
        set { stored = newValue }
    }

    public var _$entityName: String { entity.name ?? "" }

    public func _$join(_ contextOwner: AnyObject) {
        if let owner = contextOwner as? NSManagedObjectContext { context = owner }
    }

    public func _$unite() {}

    // MARK: - What it is

    /// The context; nil before the object is inserted and after its deletion is saved.
    public var managedObjectContext: NSManagedObjectContext? {
        _$object.isManaged ? context : nil
    }

    /// The identifier, which is temporary until the object is saved.
    open var objectID: NSManagedObjectID {
        NSManagedObjectID(queriedIdentifier, entity)
    }

    open var isInserted: Bool { _$object.status == .inserted }

    open var isUpdated: Bool { _$object.status == .saved && _$object.hasChanges }

    /// Whether the next save deletes the object, or it was deleted: by its context, or by others as
    /// far as the context knows.
    open var isDeleted: Bool {
        switch _$object.status {
        case .deleted, .gone: true
        case .unmanaged, .inserted, .saved: false
        }
    }

    /// Whether the object has changes that are not saved.
    open var hasChanges: Bool { _$object.hasChanges }

    /// Whether values were changed that the store has.
    open var hasPersistentChangedValues: Bool { !changedValues().isEmpty || isInserted }

    /// Whether no value was read yet.
    open var isFault: Bool { _$object.status == .saved && !_$object.hasValues }

    // MARK: - Values by key

    /// The value of a property; that of ``value(forUndefinedKey:)`` for a name that the entity does
    /// not have. A class may override it for a transient attribute that it computes.
    open func value(forKey key: String) -> Any? {
        let isKnown =
            property(key) != nil || entity.propertiesByName[key] != nil
            || reads != nil && entity.properties.isEmpty
        return isKnown ? entityValue(forKey: key) : value(forUndefinedKey: key)
    }

    /// Sets a property. A name that the entity does not have, and a value that the property cannot
    /// have, make the next save an error that names them.
    open func setValue(_ value: Any?, forKey key: String) { setEntityValue(value, forKey: key) }

    /// The value for a name that the entity does not have. A class overrides it for its computed
    /// properties, which may then name the sections of a fetched results controller.
    ///
    /// - Returns: nil.
    open func value(forUndefinedKey key: String) -> Any? {
        lacksKey = true
        return nil
    }

    /// Called for a name that the entity does not have. It makes the next save an error.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        refuse("\(entity.name ?? "") has no property `\(key.prefix(Limits.nameBytesMax))`")
    }

    // MARK: - Hooks

    /// Called once, after the object was inserted.
    open func awakeFromInsert() {}

    /// Called when an instance is made for an object of the store.
    open func awakeFromFetch() {}

    /// Called before each save of the object's changes. It may change the object.
    open func willSave() {}

    /// Called after each save of the object's changes.
    open func didSave() {}

    /// Called before ``NSManagedObjectContext/refresh(_:mergeChanges:)`` forgets the values of the
    /// object.
    open func willTurnIntoFault() {}

    /// Called after ``NSManagedObjectContext/refresh(_:mergeChanges:)`` has forgotten the values of
    /// the object.
    open func didTurnIntoFault() {}

    /// Called before the object is marked to be deleted.
    open func prepareForDeletion() {}

    /// Checks a value that a property may get, by the rules of the model. A save calls it for
    /// attributes and to-one relationships, and sets a value that it replaces.
    ///
    /// - Throws: an `NSError` with the broken rule; of several ones with each of them under
    ///   ``NSDetailedErrorsKey``.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        try check(value, forKey: key)
    }

    /// Called before the object is saved for the first time. It checks all properties, and the
    /// store does so again.
    ///
    /// - Throws: what prevents the save.
    open func validateForInsert() throws { try validateProperties() }

    /// Called before changes of the object are saved. It checks the changed properties, and the
    /// store does so again.
    ///
    /// - Throws: what prevents the save.
    open func validateForUpdate() throws { try validateProperties() }

    /// Called before the object's deletion is saved. It checks the delete rules, and the store does
    /// so again.
    ///
    /// - Throws: what prevents the save.
    open func validateForDelete() throws { try validateDeletion() }

    open override var description: String {
        "<\(type(of: self)) \(queriedIdentifier.uriRepresentation)>"
    }
}

/// A kind of result of fetch requests.
public protocol NSFetchRequestResult {}

extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

extension NSManagedObject: QueriedObject {
    /// The identifier that the object has now.
    package var queriedIdentifier: PersistentIdentifier {
        _$object.identifier(entityName: entity.name ?? "")
    }

    package func satisfies(_ predicate: BoundTerm) throws(LarderError) -> Bool {
        try managing().satisfies(_$object, predicate.expression, predicate.arguments)
    }

    package var termLocation: TermLocation? {
        guard let name = entity.name else { return nil }
        return context?.termLocation(entityName: name)
    }

    package func value(of expression: BoundTerm) throws(LarderError) -> Any? {
        let objects = try managing()
        let value = try objects.value(
            of: expression.expression, expression.arguments, for: _$object)
        return context?.anyValue(value)
    }

    private func managing() throws(LarderError) -> ObjectContext {
        if _$object.isManaged, let objects = _$object.context { return objects }
        throw LarderError(
            .objectNotFound, "the \(entity.name ?? "object") is in no context, or was deleted",
            hint: "insert it into a context first")
    }
}
