import LarderModel
import LarderSQL

/// The indexes of texts are not altered: one stays if no row of its table and nothing of its
/// columns changes, and is otherwise dropped and created again.
extension MigrationPlan {
    var droppedSearchTables: [SearchTable] {
        let kept = Set(keptSearchTables)
        return old.searchTables.filter { !kept.contains($0) }
    }

    var createdSearchTables: [SearchTable] {
        let kept = Set(keptSearchTables)
        return new.searchTables.filter { !kept.contains($0) }
    }

    private var keptSearchTables: [SearchTable] {
        let former = Set(old.searchTables)
        return new.searchTables.filter { former.contains($0) && isUntouched($0) }
    }

    private func isUntouched(_ search: SearchTable) -> Bool {
        guard let table = tables.first(where: { $0.name == search.table }),
            case .alter(let alteration) = table.method, alteration.source == table.name,
            !removedKinds.contains(where: { old.table(for: $0) == search.table })
        else { return false }
        let isChanged = search.textColumns.contains { column in
            alteration.renamedColumns.contains { $0.new == column || $0.old == column }
                || alteration.addedColumns.contains { $0.name == column }
                || alteration.droppedColumns.contains(column)
        }
        return !isChanged && !isDerived(search)
    }

    /// The values of a derived attribute may be computed again.
    private func isDerived(_ search: SearchTable) -> Bool {
        new.schema.entities.contains { entity in
            new.table(for: entity) == search.table
                && entity.declared.attributes.contains {
                    $0.isDerived
                        && search.textColumns.contains(new.column(for: $0, of: entity))
                }
        }
    }
}
