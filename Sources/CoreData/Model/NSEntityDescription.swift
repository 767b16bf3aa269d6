public import Foundation
internal import LarderModel

/// A kind of objects: its properties, and the class of its instances.
///
/// Sendable unchecked: a program changes it before it passes its model to another thread.
open class NSEntityDescription: NSObject, @unchecked Sendable {
    open var name: String?
    open var isAbstract = false
    open var userInfo: [AnyHashable: Any]?
    /// The name in an earlier version of the model, if the entity was renamed.
    open var renamingIdentifier: String?
    /// A text that marks the meaning of the objects as changed although their properties are not.
    open var versionHashModifier: String?
    open var indexes: [NSFetchIndexDescription] = []
    /// Lists of attributes, or of their names, whose combined values are unique.
    open var uniquenessConstraints: [[Any]] = []

    /// The class of the instances.
    open var managedObjectClass: NSManagedObject.Type = NSManagedObject.self
    /// The name of a class that is not known to the program.
    private(set) var unknownClassName: String?

    open internal(set) weak var managedObjectModel: NSManagedObjectModel?
    open internal(set) weak var superentity: NSEntityDescription?

    open var subentities: [NSEntityDescription] = [] {
        didSet { for entity in subentities { entity.superentity = self } }
    }

    private var own: [NSPropertyDescription] = []

    public override init() {}

    /// The properties, those of ancestors first. Setting them sets those of the entity itself.
    open var properties: [NSPropertyDescription] {
        get { (superentity?.properties ?? []) + own }
        set {
            let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
            own = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
            for property in own { property.entity = self }
        }
    }

    /// The properties that the entity itself declares.
    var ownProperties: [NSPropertyDescription] { own }

    open var propertiesByName: [String: NSPropertyDescription] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    open var attributesByName: [String: NSAttributeDescription] {
        propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    }

    open var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(
            subentities.compactMap { entity in entity.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    open func relationships(
        forDestination entity: NSEntityDescription
    ) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { $0.destinationEntity === entity }
    }

    /// Whether the entity is another one or one of its descendants.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        entity.name.map(isKind) ?? false
    }

    /// Whether an entity has a name, or one of its ancestors has it.
    func isKind(of name: String) -> Bool {
        self.name == name || superentity?.isKind(of: name) == true
    }

    /// The name of the class of the instances, as `NSStringFromClass` returns it: `Module.Class`.
    /// Opening a store is an error if the program has no such class.
    open var managedObjectClassName: String! {
        get { unknownClassName ?? NSStringFromClass(managedObjectClass) }
        set {
            unknownClassName = nil
            guard let newValue, newValue != "NSManagedObject" else {
                managedObjectClass = NSManagedObject.self
                return
            }
            if let known = NSClassFromString(newValue) as? NSManagedObject.Type {
                managedObjectClass = known
            } else {
                unknownClassName = newValue
            }
        }
    }

    // MARK: - Entities of contexts

    /// The entity with a name in the model of a context.
    open class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        context.compiledModel?.descriptions[entityName]
    }

    /// Inserts a new object of an entity. If the model of the context does not have the entity, the
    /// object is in no context, and the next save is an error.
    open class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        let entity =
            entity(forEntityName: entityName, in: context)
            ?? NSEntityDescription(unknown: entityName)
        return entity.managedObjectClass.init(entity: entity, insertInto: context)
    }

    /// The description of an entity of which only the name is known.
    convenience init(unknown name: String) {
        self.init()
        self.name = name
    }

    open override var description: String { "entity \(name ?? "without a name")" }
}
