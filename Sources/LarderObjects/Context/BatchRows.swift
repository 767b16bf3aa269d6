internal import FoundationEssentials
internal import LarderModel

/// The rows of a batch as the values of objects, by slot.
struct BatchRows {
    /// The properties of an entity that the columns are.
    final class Layout {
        let entity: ObjectEntity
        /// The slot of each column; nil for one that is not a property of the entity.
        let slots: [Int?]

        init(_ entity: ObjectEntity, _ slots: [Int?]) {
            self.entity = entity
            self.slots = slots
        }
    }

    let identity: Batch.Identity
    /// The values by row and slot; nil for properties that the batch does not have.
    private(set) var cells: [[Value?]] = []
    private let store: UUID
    /// The batch's entity, and those of its subentities that occur.
    let entityNames: [String]
    /// The layouts of these entities; nil for one that the model does not have.
    private let layouts: [Layout?]

    init(_ batch: Batch, _ model: ObjectModel, store: UUID) {
        identity = batch.objects
        self.store = store
        entityNames = [identity.entityName] + identity.subentities.names
        layouts = entityNames.map { name in
            model.entities[name].map { entity in
                Layout(entity, batch.columns.map { entity.slot(named: $0.name) })
            }
        }
        // Each row has an array of its own from the start, because a copy of one costs more.
        let counts = layouts.map { $0?.entity.properties.count ?? 0 }
        cells = (0..<count).map { Self.emptyRow(counts[entityIndex(at: $0)]) }
        for (index, column) in batch.columns.enumerated() {
            let slots = layouts.map { $0?.slots[index] }
            if slots.count > 1 {
                let identity = identity
                column.store(in: &cells, store: store) { slots[identity.entityIndex(at: $0)] }
            } else if let slot = slots[0] {
                column.store(in: &cells, store: store, at: slot)
            }
        }
    }

    /// A row of nil. `Array(repeating:count:)` takes a fifth more instructions.
    private static func emptyRow(_ count: Int) -> [Value?] {
        var row: [Value?] = []
        row.reserveCapacity(count)
        for _ in 0..<count { row.append(nil) }
        return row
    }

    var count: Int { identity.keys.count }

    /// The index of a row's entity in ``entityNames``.
    func entityIndex(at row: Int) -> Int { identity.entityIndex(at: row) }

    func layout(at row: Int) -> Layout? { layouts[entityIndex(at: row)] }

    func identifier(at row: Int) -> PersistentIdentifier {
        identity.identifier(at: row, in: store)
    }

    /// The rows with the lists that the context shows.
    func shown(_ values: inout ObjectContext.StoredValues) -> BatchRows {
        guard values.hasPendingChanges else { return self }
        var shown = self
        shown.show(&values)
        return shown
    }

    private mutating func show(_ values: inout ObjectContext.StoredValues) {
        for row in 0..<count {
            guard let layout = layout(at: row) else { continue }
            for case let slot? in layout.slots {
                guard case .objects(let list)? = cells[row][slot] else { continue }
                cells[row][slot] = .objects(
                    values.shown(list, of: identifier(at: row), layout.entity.properties[slot]))
            }
        }
    }
}

extension Batch.Identity {
    /// The index of a row's entity among the batch's entity and the subentities that occur.
    fileprivate func entityIndex(at row: Int) -> Int {
        row < subentities.indexes.count ? Int(subentities.indexes[row]) : 0
    }
}
