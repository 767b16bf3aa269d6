/// The entities and properties to which a view of a store is limited: those of a former schema, for
/// its clients, or those that a user may see. `KnownNames+Errors.swift` limits errors to them.
package struct KnownNames: Hashable, Sendable {
    /// Why the view is limited.
    package enum Reason: Hashable, Sendable {
        /// The other names were added to the schema since.
        case former
        /// The user may not see the other names.
        case hidden
    }

    /// The fingerprint of the schema with these names, by which two values are compared.
    package let fingerprint: String
    let version: String
    let reason: Reason
    private let properties: [String: Set<String>]

    package init(_ schema: Schema, reason: Reason = .former) {
        self.init(schema, reason: reason) { _ in true }
    }

    /// - Parameter isKnown: Whether an entity is known.
    package init(_ schema: Schema, reason: Reason, where isKnown: (String) -> Bool) {
        self.reason = reason
        fingerprint = schema.fingerprint
        version = schema.version
        properties = Dictionary(
            uniqueKeysWithValues: schema.entities.filter { isKnown($0.name) }
                .map { ($0.name, Set($0.allNames)) })
    }

    package var isEmpty: Bool { properties.isEmpty }

    package static func == (left: KnownNames, right: KnownNames) -> Bool {
        left.fingerprint == right.fingerprint && left.properties == right.properties
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    package func contains(_ entityName: String) -> Bool { properties[entityName] != nil }

    package func contains(_ property: String, of entityName: String) -> Bool {
        properties[entityName]?.contains(property) ?? false
    }

    // MARK: The history

    /// The known part of a run. An update of what is not known has no properties; the version of
    /// the object may have changed nevertheless.
    ///
    /// - Returns: nil for objects of an entity that is not known.
    package func known(_ run: HistoryRun) -> HistoryRun? {
        guard let names = properties[run.entityName] else { return nil }
        guard !run.properties.allSatisfy(names.contains) else { return run }
        var known = run
        known.properties.removeAll { !names.contains($0) }
        return known
    }

    /// The known values of an object before a transaction; nil if there are none.
    func known(_ tombstone: HistoryTombstone) -> HistoryTombstone? {
        guard let names = properties[tombstone.entityName] else { return nil }
        var known = tombstone
        known.values = tombstone.values.filter { names.contains($0.key) }
        return known.values.isEmpty ? nil : known
    }
}
