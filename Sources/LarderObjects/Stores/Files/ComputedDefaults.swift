package import LarderClient
package import LarderModel
internal import LarderQuery

/// The default values that a program computes, which are no part of its schema: the store cannot
/// compute them for the objects that exist when an attribute is added.
///
/// A migration leaves such an attribute optional, and the program sets it, of each object to
/// another value. If the attribute is required, a second stage requires it.
package struct ComputedDefaults: Sendable {
    /// Returns a new value for each call; nil if it cannot be stored.
    package typealias Compute = @Sendable () -> Value?

    /// By the name of an entity and of one of its own attributes.
    private let computed: [String: [String: Compute]]

    private static let changesPerSave = 500

    package init(_ computed: [String: [String: Compute]] = [:]) { self.computed = computed }

    /// The stages that lead from one schema to another.
    ///
    /// - Parameters:
    ///   - isEmpty: Whether an entity of the old schema has no objects after `willMigrate`. Then a
    ///     required attribute can be added that has no default at all.
    ///   - willMigrate: Called before the first stage.
    ///   - didMigrate: Called after the last one.
    package func stages(
        from old: Schema, to new: Schema, isEmpty: (Entity) throws -> Bool,
        willMigrate: MigrationStage.Action? = nil, didMigrate: MigrationStage.Action? = nil
    ) throws -> [MigrationStage] {
        let mapping = SchemaMapping(from: old, to: new)
        var filled: [(entity: String, attribute: String, compute: Compute)] = []
        var isRelaxed = false
        let relaxed = try new.entities.map { entity in
            // An entity without a former one has no objects.
            guard let origin = mapping.origin(of: entity) else { return entity }
            return try entity.mappingAttributes { attribute in
                guard attribute.defaultValue == nil, !attribute.isDerived else { return attribute }
                let compute = computed[entity.name]?[attribute.name]
                switch mapping.origin(of: attribute.name, in: entity) {
                case .attribute(let former)?
                where compute != nil && former.isOptional && !attribute.isOptional:
                    break
                case nil:
                    guard try compute != nil || !attribute.isOptional && isEmpty(origin) else {
                        return attribute
                    }
                default: return attribute
                }
                if let compute { filled.append((entity.name, attribute.name, compute)) }
                if attribute.isOptional { return attribute }
                isRelaxed = true
                return attribute.madeOptional
            }
        }
        let fill: MigrationStage.Action = { [filled] client in
            for (entity, attribute, compute) in filled {
                try Self.set(attribute, of: entity, to: compute, client)
            }
        }
        if isRelaxed {
            let between = try Schema(version: new.version, entities: relaxed)
            return [
                .custom(from: old, to: between, willMigrate: willMigrate, didMigrate: fill),
                .custom(from: between, to: new, didMigrate: didMigrate),
            ]
        }
        guard !filled.isEmpty else {
            return [.custom(from: old, to: new, willMigrate: willMigrate, didMigrate: didMigrate)]
        }
        return [
            .custom(from: old, to: new, willMigrate: willMigrate) { client in
                try fill(client)
                try didMigrate?(client)
            }
        ]
    }

    /// Sets an attribute of the objects that have no value, of each to the result of another call.
    private static func set(
        _ attribute: String, of entity: String, to compute: Compute, _ client: StoreClient
    ) throws {
        let batches = try client.stream(
            .fetch(Fetch(entity, where: .format("%K == nil"), selection: .identifiers)),
            QueryParameters(arguments: [.value(.string(attribute))]))
        let store = client.server.storeIdentifier
        while let batch = try batches.next() {
            guard let identity = batch.identity else { continue }
            for start in stride(from: 0, to: batch.rowCount, by: changesPerSave) {
                let rows = start..<min(start + changesPerSave, batch.rowCount)
                let updates = rows.compactMap { row in
                    compute().map { value in
                        Change.update(
                            identity.identifier(at: row, in: store), ifVersion: nil,
                            values: [attribute: value])
                    }
                }
                if !updates.isEmpty { _ = try client.save(ChangeSet(updates)) }
            }
        }
    }
}
