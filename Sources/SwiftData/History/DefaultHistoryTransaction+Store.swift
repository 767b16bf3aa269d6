internal import LarderModel

extension DefaultHistoryTransaction {
    /// - Parameters:
    ///   - token: The position after the transaction in all stores of the container.
    ///   - types: The model types by their entities. Changes of other entities are left out.
    init(
        _ stored: LarderModel.HistoryTransaction, _ token: DefaultHistoryToken,
        _ types: [String: any PersistentModel.Type]
    ) {
        transactionIdentifier = stored.id
        timestamp = stored.timestamp
        self.token = token
        storeIdentifier = stored.token.store.uuidString
        author = stored.author.isEmpty ? nil : stored.author
        bundleIdentifier = stored.source.clientName
        processIdentifier = stored.source.processIdentifier.map { String($0) } ?? ""
        var changes: [HistoryChange] = []
        var number = stored.id &* Self.changesMax
        for change in stored.changes {
            number &+= 1
            guard let type = types[change.identifier.entityName] else { continue }
            changes.append(type.historyChange(change, number: number, of: stored.id))
        }
        self.changes = changes
    }

    /// The numbers of the changes of a transaction are from its own, times this.
    private static var changesMax: Int64 { 1 << 24 }
}

extension PersistentModel {
    fileprivate static func historyChange(
        _ change: LarderModel.HistoryChange, number: Int64, of transaction: Int64
    ) -> HistoryChange {
        switch change.kind {
        case .inserted:
            return .insert(
                DefaultHistoryInsert<Self>(
                    changeIdentifier: number, transactionIdentifier: transaction,
                    changedPersistentIdentifier: change.identifier))
        case .updated:
            let description = ModelDescription.of(Self.self)
            let properties = storedProperties(change.properties)
            return .update(
                DefaultHistoryUpdate<Self>(
                    changeIdentifier: number, transactionIdentifier: transaction,
                    changedPersistentIdentifier: change.identifier,
                    updatedAttributes: properties.compactMap {
                        // Key paths of properties capture no values.
                        cast(
                            description.rootedKeyPath(at: $0.slot),
                            to: (any PartialKeyPath<Self> & Sendable).self)
                    }))
        case .deleted:
            let values = storedProperties(change.tombstone.keys.sorted()).compactMap { property in
                change.tombstone[property.storeName].flatMap { property.coding?.decode($0) }
                    .flatMap { cast($0, to: (any Sendable).self) }
                    .map { (property.keyPath, $0) }
            }
            return .delete(
                DefaultHistoryDelete<Self>(
                    changeIdentifier: number, transactionIdentifier: transaction,
                    changedPersistentIdentifier: change.identifier,
                    tombstone: HistoryTombstone(values) { keyPath in
                        ModelDescription.of(Self.self).property(of: keyPath)?.keyPath
                    }))
        }
    }

    private static func storedProperties(_ names: [String]) -> [ModelProperty] {
        let properties = ModelDescription.of(Self.self).properties
        return names.compactMap { name in properties.first { $0.storeName == name } }
    }
}

/// Casts to a type that a cast cannot name, such as one with a marker protocol.
func cast<Target>(_ value: Any, to type: Target.Type) -> Target? { value as? Target }
