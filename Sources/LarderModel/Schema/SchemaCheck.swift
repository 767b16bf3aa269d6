/// Checks whether entities are consistent, independent of the form in which they were declared.
///
/// Paths are those of the schema file, also for a schema from code. The indexes of constraints do
/// not count those of attributes marked `unique` or `indexed`.
package enum SchemaCheck {
    static func problems(in entities: [Entity], version: String) -> [SchemaError.Problem] {
        locatedProblems(in: entities, version: version).map(\.problem)
    }

    /// The problems, from top to bottom.
    package static func locatedProblems(in entities: [Entity], version: String) -> [LocatedProblem]
    {
        let inheritance = Inheritance(entities)
        var check = EntityCheck(entities: entities, inheritance)
        if !isVersion(version) {
            check.report(SchemaPath.root["version"], "is not of the form major.minor.patch")
        }
        let path = SchemaPath.root["entities"]
        if entities.isEmpty { check.report(path, "must not be empty") }
        if entities.count > Limits.entitiesMax {
            check.report(path, "has more than \(Limits.entitiesMax) elements")
            return check.problems
        }
        let unknownParents = inheritance.unknownParents(in: entities)
        for (index, parent) in unknownParents {
            check.reportUnknownEntity(parent, at: path[index]["parent"])
        }
        let parentProblems = inheritance.problems(in: entities)
        for problem in parentProblems {
            check.report(path[problem.index]["parent"], problem.message)
        }
        if unknownParents.isEmpty, parentProblems.isEmpty,
            check.inheritedCount > Limits.inheritedPropertiesMax
        {
            check.report(
                path, "inherit more than \(Limits.inheritedPropertiesMax) properties in all")
            return check.problems
        }
        var names = NameCheck(kind: "entity")
        var originalNames = OriginalNameCheck()
        for (index, entity) in entities.enumerated() {
            if let problem = names.problem(in: entity.name) {
                check.report(path[index]["name"], problem)
            }
            if let problem = originalNames.problem(in: entity.originalName, of: entity.name) {
                check.report(path[index]["originalName"], problem)
            }
            check.check(index, at: path[index])
        }
        return check.problems.sorted { $0.path < $1.path }
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

/// Checks that names are well formed and distinct, ignoring case as SQLite does.
struct NameCheck {
    let kind: String
    private var seen: [String: String] = [:]

    init(kind: String) { self.kind = kind }

    /// Reserves a name without checking it.
    mutating func take(_ name: String) { seen[name.lowercased()] = name }

    /// The problem with the next name; nil if it is valid.
    mutating func problem(in name: String) -> String? {
        guard name.utf8.count <= Limits.nameBytesMax else {
            return "is longer than \(Limits.nameBytesMax) bytes"
        }
        guard SchemaName.isWellFormed(name) else {
            return "must be a letter followed by letters, digits and _"
        }
        let folded = name.lowercased()
        guard !folded.hasPrefix("sqlite_") else {
            return "begins with `sqlite_`, which SQLite reserves"
        }
        guard let other = seen.updateValue(name, forKey: folded) else { return nil }
        return other == name
            ? "duplicate \(kind) `\(name)`"
            : "differs from \(kind) `\(other)` only in case"
    }
}

/// Checks that original names are well formed and distinct: two entities, or two properties of an
/// entity, cannot come from the same one.
struct OriginalNameCheck {
    private var names = NameCheck(kind: "original name")

    /// - Parameter ancestors: The entities whose properties the entity inherits.
    init(inherited ancestors: [Entity] = []) {
        for entity in ancestors {
            let properties =
                entity.attributes.map(\.originalName) + entity.relationships.map(\.originalName)
            for name in properties.compactMap(\.self) { names.take(name) }
        }
    }

    /// The problem with the original name of the next entity or property; nil if it is valid.
    mutating func problem(in originalName: String?, of name: String) -> String? {
        guard let originalName else { return nil }
        return originalName == name
            ? "is the name itself; it is needed only for a name that was different before"
            : names.problem(in: originalName)
    }
}
