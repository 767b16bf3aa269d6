/// Whether entities fit together, apart from how they were written down.
///
/// Places are named as in the schema file, also for a schema that comes from code. Constraints are
/// counted without those that come from attributes marked `unique` or `indexed`.
enum SchemaCheck {
    static func faults(in entities: [Entity], version: String) -> [SchemaError.Fault] {
        locatedFaults(in: entities, version: version).map(\.fault)
    }

    /// Every fault, from top to bottom.
    static func locatedFaults(in entities: [Entity], version: String) -> [LocatedFault] {
        let inheritance = Inheritance(entities)
        var check = EntityCheck(entities: entities, inheritance)
        if !isVersion(version) {
            check.report(SchemaPath.root["version"], "is not of the form major.minor.patch")
        }
        let path = SchemaPath.root["entities"]
        if entities.count > Limits.entitiesMax {
            check.report(path, "has more than \(Limits.entitiesMax) elements")
            return check.faults
        }
        let parentFaults = inheritance.faults(in: entities)
        for fault in parentFaults { check.report(path[fault.place]["parent"], fault.message) }
        if parentFaults.isEmpty, check.inheritedCount > Limits.inheritedPropertiesMax {
            check.report(
                path, "inherit more than \(Limits.inheritedPropertiesMax) properties in all")
            return check.faults
        }
        var names = NameCheck(kind: "entity")
        for (place, entity) in entities.enumerated() {
            if let fault = names.fault(in: entity.name) {
                check.report(path[place]["name"], fault)
            }
            check.check(place, at: path[place])
        }
        return check.faults.sorted { $0.path < $1.path }
    }

    private static func isVersion(_ version: String) -> Bool {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { part in
                let isShort = (1...9).contains(part.utf8.count)
                return isShort && part.utf8.allSatisfy { (48...57).contains($0) }
                    && (part == "0" || part.first != "0")
            }
    }
}

/// Whether names are well formed and differ, also where SQLite folds upper and lower case.
struct NameCheck {
    let kind: String
    private var seen: [String: String] = [:]

    init(kind: String) { self.kind = kind }

    /// A name that is taken, and not looked at itself.
    mutating func take(_ name: String) { seen[name.lowercased()] = name }

    /// What is wrong with the next name, nil if nothing is.
    mutating func fault(in name: String) -> String? {
        guard name.utf8.count <= Limits.nameBytesMax else {
            return "is longer than \(Limits.nameBytesMax) bytes"
        }
        guard SchemaName.isWellFormed(name) else {
            return "is no name; a name is a letter, then letters, digits and _"
        }
        let folded = name.lowercased()
        guard !folded.hasPrefix("sqlite_") else {
            return "begins with `sqlite_`, which is SQLite's"
        }
        guard let other = seen.updateValue(name, forKey: folded) else { return nil }
        return other == name
            ? "there is \(kind) `\(name)` already"
            : "differs from \(kind) `\(other)` by case alone"
    }
}
