internal import LarderObjects
internal import Synchronization

/// The models that coordinators use, by which classes find their entities.
final class ModelRegistry: Sendable {
    static let shared = ModelRegistry()

    /// Sendable unchecked: a weak reference to a Sendable object.
    private struct WeakModel: @unchecked Sendable { weak var model: NSManagedObjectModel? }

    private let models = Mutex<[WeakModel]>([])

    func add(_ model: NSManagedObjectModel) {
        models.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(WeakModel(model: model))
        }
    }

    /// The entity of a class, that of the model that was used last; without properties if no model
    /// has one.
    func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
        let models = models.withLock { $0.compactMap(\.model) }
        for model in models.reversed() {
            if let entity = model.entity(of: type) { return entity }
        }
        return NSEntityDescription(unknown: "\(type)")
    }
}

extension NSManagedObjectModel {
    /// The entity of a class.
    func entity(of type: NSManagedObject.Type) -> NSEntityDescription? {
        allEntities.first { $0.managedObjectClass == type }
    }
}

extension NSEntityDescription {
    /// The entity as contexts use it; nil before its model is complete.
    var compiled: ObjectEntity? { name.flatMap { compiledModel?.entities[$0] } }

    /// The model of the entity as contexts use it; nil before it is complete.
    var compiledModel: CompiledModel? {
        var top = self
        while let ancestor = top.superentity { top = ancestor }
        return (managedObjectModel ?? top.managedObjectModel).flatMap { try? $0.compile() }
    }
}
