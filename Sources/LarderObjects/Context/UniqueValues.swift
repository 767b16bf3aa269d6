internal import LarderModel

/// The values of objects under their uniqueness constraints, to find those that another object will
/// have after a save.
struct UniqueValues {
    private struct Key: Hashable {
        let root: String
        let names: [String]
        let values: [Value]
    }

    private let schema: Schema
    private var keys: Set<Key> = []

    init(_ schema: Schema) { self.schema = schema }

    /// Adds the values of an object.
    ///
    /// - Parameter value: The value of a property by its slot.
    mutating func add(_ object: StoredObject, _ value: (_ slot: Int) -> Value?) {
        guard let entity = object.entity else { return }
        for names in entity.entity.uniquenessConstraints {
            if let key = key(names, of: entity, value) { keys.insert(key) }
        }
    }

    /// Whether an object may have the values of another one that was added. It may also not have
    /// them if a constraint ignores case and accents.
    func mayContain(_ object: StoredObject) -> Bool {
        guard !keys.isEmpty, let entity = object.entity else { return false }
        return entity.entity.uniquenessConstraints.contains { names in
            key(names, of: entity) { object[$0] }.map(keys.contains) ?? false
        }
    }

    /// nil if one of the values is nil, which equals nothing.
    private func key(
        _ names: [String], of entity: ObjectEntity, _ value: (_ slot: Int) -> Value?
    ) -> Key? {
        var values: [Value] = []
        for name in names {
            guard let slot = entity.slot(named: name), let value = value(slot), value != .null
            else {
                return nil
            }
            if case .attribute(let attribute)? = entity.entity.property(named: name),
                attribute.unique == .insensitive
            {
                values.append(.null)
            } else {
                values.append(value)
            }
        }
        return Key(root: schema.root(of: entity.entity).name, names: names, values: values)
    }
}
