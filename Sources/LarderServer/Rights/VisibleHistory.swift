import LarderModel
import LarderQuery

/// Leaves out of pages of the history what a user with limited rights may not see.
///
/// A change of an object is visible if the object is, now. Values from before a change, of an
/// object of an entity with a rule, are left out: the history does not tell whether the user could
/// see the object then. So are references to objects of such entities. A deletion stays, without
/// values.
struct VisibleHistory {
    private let rights: Rights
    private let view: any StoreView
    private static let keysMax = 10_000

    /// nil if the view has all objects of the entities that it has.
    init?(_ view: any StoreView) {
        guard let rights = view.rights, !rights.partlyReadable.isEmpty else { return nil }
        self.rights = rights
        self.view = view
    }

    /// - Parameter reader: It has pinned a snapshot.
    func filter(
        _ page: inout HistoryPage, _ reader: any StoreReader, _ budget: ReadBudget
    ) throws(ReadFailure) {
        let limited = rights.partlyReadable
        var changed: [String: Set<Int64>] = [:]
        for run in page.transactions.lazy.flatMap(\.runs)
        where run.kind != .deleted && limited.contains(run.entityName) {
            changed[run.entityName, default: []].formUnion(run.keys)
        }
        var visible: [String: Set<Int64>] = [:]
        for (name, keys) in changed {
            visible[name] = try self.visible(keys, of: name, reader, budget)
        }
        for index in page.transactions.indices {
            page.transactions[index].runs = page.transactions[index].runs.flatMap { run in
                guard run.kind != .deleted, let keys = visible[run.entityName] else { return [run] }
                return run.parts { keys.contains($0) }
            }
            page.transactions[index].tombstones.removeAll { limited.contains($0.entityName) }
            for number in page.transactions[index].tombstones.indices {
                page.transactions[index].tombstones[number].removeReferences(to: limited)
            }
        }
    }

    private func visible(
        _ keys: Set<Int64>, of entityName: String, _ reader: any StoreReader, _ budget: ReadBudget
    ) throws(ReadFailure) -> Set<Int64> {
        let store = view.storeDescription.identifier
        let reader = view.reader(over: reader)
        let sorted = keys.sorted()
        var visible: Set<Int64> = []
        for start in stride(from: 0, to: sorted.count, by: Self.keysMax) {
            let part = sorted[start..<min(sorted.count, start + Self.keysMax)]
            let identifiers = part.map {
                PersistentIdentifier(store: store, entityName: entityName, key: $0)
            }
            let batches = try reader.objects(identifiers, properties: [], budget: budget)
            for batch in batches { visible.formUnion(batch.identity?.keys ?? []) }
        }
        return visible
    }
}

extension HistoryTombstone {
    fileprivate mutating func removeReferences(to entityNames: Set<String>) {
        for (name, value) in values {
            guard case .object(let identifier) = value,
                entityNames.contains(identifier.entityName)
            else { continue }
            values[name] = nil
        }
    }
}
