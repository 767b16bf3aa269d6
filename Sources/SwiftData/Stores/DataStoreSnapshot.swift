internal import Foundation
public import LarderModel
internal import LarderObjects

public typealias DataStoreSnapshotValue = Codable & Sendable

/// The values of one object.
public protocol DataStoreSnapshot: Codable, Sendable {
    var persistentIdentifier: PersistentIdentifier { get }

    init(
        from backingData: any BackingData,
        relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// A copy with another identifier, and with the remapped identifiers replaced.
    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// The keys under which snapshots are encoded.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
    case persistentIdentifier
    case modeledProperty(String)

    public init?(stringValue: String) {
        self =
            stringValue == "persistentIdentifier"
            ? .persistentIdentifier : .modeledProperty(stringValue)
    }

    public init?(intValue: Int) { nil }

    public var stringValue: String {
        switch self {
        case .persistentIdentifier: "persistentIdentifier"
        case .modeledProperty(let name): name
        }
    }

    public var intValue: Int? { nil }
}

/// A snapshot of any model: its values by the names of its properties.
public struct DefaultSnapshot: DataStoreSnapshot, Hashable {
    public let persistentIdentifier: PersistentIdentifier
    let values: [String: Value]

    public var entityName: String { persistentIdentifier.entityName }

    init(_ identifier: PersistentIdentifier, _ values: [String: Value]) {
        persistentIdentifier = identifier
        self.values = values
    }

    public init(
        from backingData: any BackingData,
        relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        self.init(backingData)
    }

    private init<Backing: BackingData>(_ backingData: Backing) {
        var type: any PersistentModel.Type = Backing.Model.self
        var values: [String: Value] = [:]
        if let object = backingData.metadata as? StoredObject {
            // The backing data of a model is that of its topmost class.
            if let model = object.owner as? any PersistentModel { type = Swift.type(of: model) }
            let description = ModelDescription.of(type)
            for property in description.properties where !property.isEphemeral {
                values[property.storeName] = Self.value(of: property, object)
            }
        }
        let identifier = backingData.persistentModelID
        self.init(
            identifier ?? StoredObject().identifier(entityName: type.entityName), values)
    }

    /// Nil if the value is not known.
    private static func value(of property: ModelProperty, _ object: StoredObject) -> Value? {
        if let value = object.value(at: property.slot) { return value }
        // The related models of one without a context are there as models.
        let related = object.relatedOwners(at: property.slot)
            .compactMap { ($0 as? any PersistentModel)?.persistentModelID }
        return switch property.kind {
        case .attribute: nil
        case .toOne: related.first.map { .object($0) }
        case .toMany: related.isEmpty ? nil : .objects(related)
        }
    }

    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        guard let remapped = remappedIdentifiers, !remapped.isEmpty else {
            return DefaultSnapshot(persistentIdentifier, values)
        }
        let new = values.mapValues { value -> Value in
            switch value {
            case .object(let target): .object(remapped[target] ?? target)
            case .objects(let list): .objects(list.map { remapped[$0] ?? $0 })
            default: value
            }
        }
        return DefaultSnapshot(persistentIdentifier, new)
    }
}
