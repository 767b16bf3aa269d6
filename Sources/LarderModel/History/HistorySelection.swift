import FoundationEssentials

/// A filter of the history that is checked against a schema and ready to select.
package struct HistorySelection: Hashable, Sendable {
    private let filter: HistoryFilter
    /// The entities with their subentities; nil selects all.
    private let entityNames: Set<String>?
    /// Nothing else is selected; nil selects all.
    private let knownNames: KnownNames?

    /// Selects everything.
    package static let all = HistorySelection()

    private init() {
        filter = HistoryFilter()
        entityNames = nil
        knownNames = nil
    }

    /// - Parameter knownNames: Those of the reader's schema if it is a former one. Other entities
    ///   and properties are left out; nil leaves nothing out.
    /// - Throws: `unknownEntity`, `unknownProperty` if none of the entities has a property, or
    ///   `resourceExhausted`.
    package init(
        _ filter: HistoryFilter, in schema: Schema, knownNames: KnownNames? = nil
    ) throws(LarderError) {
        let texts = [
            filter.authors, filter.excludedAuthors, filter.clientNames, filter.entityNames,
            filter.properties,
        ]
        guard texts.allSatisfy({ $0.count <= Limits.historyFilterNamesMax }) else {
            throw LarderError(
                .resourceExhausted,
                "a filter of the history has at most \(Limits.historyFilterNamesMax) names of "
                    + "each kind")
        }
        for name in filter.entityNames where schema.entity(named: name) == nil {
            throw .unknownEntity(name, in: schema)
        }
        let entities =
            filter.entityNames.isEmpty
            ? schema.entities
            : filter.entityNames.flatMap { name in
                [schema.entity(named: name)].compactMap { $0 } + schema.subentities(of: name)
            }
        if !filter.properties.isEmpty {
            let names = entities.lazy.flatMap {
                $0.attributes.map(\.name) + $0.relationships.map(\.name)
            }
            let known = Set(names)
            for name in filter.properties where !known.contains(name) {
                throw LarderError(
                    .unknownProperty,
                    filter.entityNames.isEmpty
                        ? "no entity has a property \"\(name.prefix(32))\""
                        : "no entity of \(filter.entityNames.joined(separator: ", ")) has a "
                            + "property \"\(name.prefix(32))\"",
                    hint: NameSuggestion.hint(for: name, among: names))
            }
        }
        self.filter = filter
        self.knownNames = knownNames
        entityNames = filter.entityNames.isEmpty ? nil : Set(entities.map(\.name))
    }

    /// Whether all changes of a selected transaction are.
    package var selectsAllChanges: Bool {
        entityNames == nil && filter.kinds.isEmpty && filter.properties.isEmpty
            && knownNames == nil
    }

    /// Whether a transaction may be selected, whatever its changes are.
    ///
    /// - Parameter time: Seconds since 2001.
    package func selects(author: String, clientName: String, time: Double) -> Bool {
        (filter.authors.isEmpty || filter.authors.contains(author))
            && !filter.excludedAuthors.contains(author)
            && (filter.clientNames.isEmpty || filter.clientNames.contains(clientName))
            && filter.since.map { time >= $0.timeIntervalSinceReferenceDate } ?? true
            && filter.until.map { time < $0.timeIntervalSinceReferenceDate } ?? true
    }

    /// The selected part of a run; nil if there is none.
    package func selected(_ run: HistoryRun) -> HistoryRun? {
        guard filter.kinds.isEmpty || filter.kinds.contains(run.kind),
            entityNames?.contains(run.entityName) ?? true,
            run.kind != .updated || filter.properties.isEmpty
                || run.properties.contains(where: filter.properties.contains)
        else { return nil }
        return if let knownNames { knownNames.known(run) } else { run }
    }

    /// Whether the preserved values of a property are selected.
    package func selectsValues(of property: String, of entityName: String) -> Bool {
        knownNames?.contains(property, of: entityName) ?? true
    }

    /// The selected part of a transaction; nil if there is none.
    package func selected(_ transaction: HistoryTransaction) -> HistoryTransaction? {
        guard
            selects(
                author: transaction.author, clientName: transaction.source.clientName,
                time: transaction.timestamp.timeIntervalSinceReferenceDate)
        else { return nil }
        if selectsAllChanges { return transaction }
        var selected = transaction
        selected.runs = transaction.runs.compactMap { self.selected($0) }
        if selected.runs.isEmpty { return nil }
        guard !selected.tombstones.isEmpty else { return selected }
        if let knownNames {
            selected.tombstones = selected.tombstones.compactMap { knownNames.known($0) }
        }
        // The runs of each kind are in the order of their keys.
        let changed = Dictionary(grouping: selected.runs, by: RunKind.init)
        selected.tombstones.removeAll { tombstone in
            ![HistoryRun.Kind.updated, .deleted].contains { kind in
                let runs = changed[RunKind(kind: kind, entityName: tombstone.entityName)]
                return Self.contains(runs ?? [], tombstone.key)
            }
        }
        return selected
    }

    private struct RunKind: Hashable {
        let kind: HistoryRun.Kind
        let entityName: String

        init(kind: HistoryRun.Kind, entityName: String) {
            self.kind = kind
            self.entityName = entityName
        }

        init(_ run: HistoryRun) { self.init(kind: run.kind, entityName: run.entityName) }
    }

    /// - Parameter runs: In ascending order of their keys.
    private static func contains(_ runs: [HistoryRun], _ key: Int64) -> Bool {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].keys.upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].keys.contains(key)
    }
}
