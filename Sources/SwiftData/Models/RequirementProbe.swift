internal import LarderModel
internal import Synchronization

/// Finds the property that a key path of a protocol's requirement reads.
///
/// In generic code `\T.title` is a key path of the requirement, which is not equal to that of the
/// class's property. It is applied to a model without a context, and observation tells which
/// property it reads. A computed property is none: its value is not that of a property. What was
/// found is not remembered, because key paths of requirements of two protocols may be equal.
enum RequirementProbe {
    /// The property that the key path reads and returns; nil if it is not a single one.
    static func property<Model: PersistentModel>(
        _ keyPath: AnyKeyPath, of type: Model.Type
    ) -> ModelProperty? {
        guard let keyPath = keyPath as? PartialKeyPath<Model> else { return nil }
        let description = ModelDescription.of(type)
        let model = Model.gone(from: nil)
        for property in description.properties {
            if let sample = sample(of: property) {
                model._$object.setValue(sample, at: property.slot)
            }
        }
        let read = description.properties.filter { property in
            let isRead = Flag()
            withObservationTracking {
                _ = model[keyPath: keyPath]
            } onChange: {
                isRead.set()
            }
            model._$notify(slot: property.slot)
            return isRead.isSet
        }
        guard let property = read.first, read.count == 1,
            property.valueType == Swift.type(of: keyPath).valueType,
            // An inherited property's key path has the superclass as its root.
            let value = (model as Any)[keyPath: property.keyPath],
            String(safelyDescribing: value)
                == String(safelyDescribing: model[keyPath: keyPath] as Any)
        else { return nil }
        return property
    }

    /// Whether the key path reads the identifier: in the module of the model, that of
    /// `persistentModelID` is not equal to this module's.
    static func isIdentifier<Model: PersistentModel>(
        _ keyPath: AnyKeyPath, of type: Model.Type
    ) -> Bool {
        guard let keyPath = keyPath as? KeyPath<Model, PersistentIdentifier> else { return false }
        let model = Model.gone(from: nil)
        return model[keyPath: keyPath] == model.persistentModelID
    }

    /// A value that functions of it are unlikely to return.
    private static func sample(of property: ModelProperty) -> Value? {
        switch property.coding?.type {
        case .string?: .string("aB\(property.slot) ")
        case .int16?, .int32?, .int64?: .int(73 + Int64(property.slot))
        case .double?: .double(7.25)
        case .float?: .float(7.25)
        case .bool?: .bool(true)
        default: nil
        }
    }

    private final class Flag: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
}
