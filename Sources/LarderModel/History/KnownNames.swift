/// The entities and properties of a former schema, to which its clients' view of a store is
/// limited. `KnownNames+Errors.swift` limits errors to them.
public struct KnownNames: Hashable, Sendable {
    /// The fingerprint of the former schema, by which two values are compared.
    public let fingerprint: String
    let version: String
    private let properties: [String: Set<String>]

    public init(_ schema: Schema) {
        fingerprint = schema.fingerprint
        version = schema.version
        properties = Dictionary(
            uniqueKeysWithValues: schema.entities.map { ($0.name, Set($0.allNames)) })
    }

    public static func == (left: KnownNames, right: KnownNames) -> Bool {
        left.fingerprint == right.fingerprint
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    public func contains(_ entityName: String) -> Bool { properties[entityName] != nil }

    public func contains(_ property: String, of entityName: String) -> Bool {
        properties[entityName]?.contains(property) ?? false
    }

    // MARK: The history

    /// The known part of a run. An update of what is not known has no properties; the version of
    /// the object may have changed nevertheless.
    ///
    /// - Returns: nil for objects of an entity that is not known.
    public func known(_ run: HistoryRun) -> HistoryRun? {
        guard let names = properties[run.entityName] else { return nil }
        guard !run.properties.allSatisfy(names.contains) else { return run }
        var known = run
        known.properties.removeAll { !names.contains($0) }
        return known
    }

    /// The known preserved values of a deleted object; nil if there are none.
    func known(_ tombstone: HistoryTombstone) -> HistoryTombstone? {
        guard let names = properties[tombstone.entityName] else { return nil }
        var known = tombstone
        known.values = tombstone.values.filter { names.contains($0.key) }
        return known.values.isEmpty ? nil : known
    }
}
