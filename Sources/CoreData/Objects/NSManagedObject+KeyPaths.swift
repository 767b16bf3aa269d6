public import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects

// The names of the properties in key paths of Swift, which have none on Linux. An object that is in
// no context is asked for the value, and records the names that its accessors read.

extension NSSortDescriptor {
    /// An order by the property that a key path reads by its accessor: `\Article.category?.name`. A
    /// fetch with another key path is an error.
    public convenience init<Root: NSManagedObject, Value>(
        keyPath: KeyPath<Root, Value>, ascending: Bool
    ) {
        self.init(key: PropertyReads.name(of: keyPath), ascending: ascending)
    }
}

extension NSExpression {
    /// The property that a key path reads by its accessor: `\Article.words`. The use of another key
    /// path is an error.
    public convenience init<Root: NSManagedObject, Value>(forKeyPath keyPath: KeyPath<Root, Value>)
    {
        self.init(forKeyPath: PropertyReads.name(of: keyPath))
    }
}

/// Records the properties that an object is asked for, and those of the objects that it has.
final class PropertyReads {
    /// The names of relationships that lead to the object.
    private let steps: [String]
    /// The reads of the first object.
    private let first: PropertyReads?
    private var paths: [[String]] = []
    /// Whether an accessor has followed a relationship without end.
    private var isEndless = false

    private init(steps: [String] = [], first: PropertyReads? = nil) {
        self.steps = steps
        self.first = first
    }

    /// The name of the property that a key path reads; the text of the key path if it does not read
    /// one property.
    static func name<Root: NSManagedObject, Value>(of keyPath: KeyPath<Root, Value>) -> String {
        let reads = PropertyReads()
        let object = Root(entity: Root.entity(), insertInto: nil)
        object.reads = reads
        withExtendedLifetime(object[keyPath: keyPath]) {}
        guard let path = reads.paths.last, !reads.isEndless,
            reads.paths.allSatisfy({ path.starts(with: $0) })
        else { return "\(keyPath)" }
        return path.joined(separator: ".")
    }

    /// A value of a property that the accessor of any type accepts.
    fileprivate func value(
        of property: ObjectProperty?, _ key: String, _ object: NSManagedObject
    ) -> Any? {
        let first = first ?? self
        let path = steps + [key]
        first.paths.append(path)
        switch property?.kind {
        case .toMany: return property?.relationship?.isOrdered == true ? NSOrderedSet() : NSSet()
        case .toOne:
            guard path.count < Limits.keyPathStepsMax else {
                first.isEndless = true
                return nil
            }
            let entity = object.entity.relationshipsByName[key]?.destinationEntity
            let next = entity.map { $0.managedObjectClass.init(entity: $0, insertInto: nil) }
            next?.reads = PropertyReads(steps: path, first: first)
            return next
        case .attribute: return object.entity.attributesByName[key]?.attributeType.sample
        case nil: return nil
        }
    }
}

extension NSManagedObject {
    /// The value of a property for an object whose reads are recorded.
    func recordedValue(forKey key: String, _ reads: PropertyReads) -> Any? {
        reads.value(of: property(key), key, self)
    }
}

extension NSAttributeType {
    /// Some value of the type; nil for JSON.
    fileprivate var sample: Any? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            NSNumber(value: 0)
        case .doubleAttributeType, .floatAttributeType: NSNumber(value: 0.0)
        case .decimalAttributeType: NSDecimalNumber.zero
        case .booleanAttributeType: NSNumber(value: false)
        case .stringAttributeType: ""
        case .dateAttributeType: Date.absent
        case .binaryDataAttributeType: Data()
        case .UUIDAttributeType: UUID.absent
        case .URIAttributeType: URL(filePath: "/")
        default: nil
        }
    }
}
