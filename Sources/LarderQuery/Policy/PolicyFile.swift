import LarderModel

/// The policy file: JSON text that describes a ``Policy``. `docs/policies.md` describes its keys.
///
/// Its structure is checked here, names and predicates against a schema by ``RoleRights``.
package enum PolicyFile {
    static let documentKeys = ["$schema", "roles"]
    static let roleKeys = ["name", "users", "groups", "programs", "rights", "entities"]
    static let entityKeys =
        EntityRights.Right.allCases.map(\.rawValue) + ["watch", "history", "hidden", "frozen"]
    private static let rolesMax = 1_000
    private static let membersMax = 10_000
    package static let bytesMax = 1 << 20

    /// Parses a policy.
    ///
    /// - Parameter schema: Its names and types are those of the rules.
    /// - Throws: `malformedValue` with all problems, each with its path and its line.
    package static func policy(
        parsing text: String, for schema: Schema
    ) throws(LarderError) -> Policy {
        guard text.utf8.count <= bytesMax else {
            throw LarderError(.malformedValue, "the policy is longer than \(bytesMax) bytes")
        }
        var reader = DocumentReader()
        let policy = read(try JSONValue(parsing: text), &reader)
        var problems = reader.problems
        if problems.isEmpty {
            for (index, role) in policy.roles.enumerated() {
                let path = SchemaPath.root["roles"][index]
                problems += RoleRights.problems(of: role, at: path, in: schema)
            }
        }
        guard problems.isEmpty else { throw error(problems, in: text) }
        return policy
    }

    private static func error(_ problems: [LocatedProblem], in text: String) -> LarderError {
        let lines = problems.map { problem in
            (line: JSONParser.line(of: problem.path.steps, in: text), problem: problem)
        }.sorted { ($0.line, $0.problem.path) < ($1.line, $1.problem.path) }
        return LarderError(
            .malformedValue,
            lines.count == 1
                ? "the policy has an error" : "the policy has \(lines.count) errors",
            problems: lines.map { "line \($0.line): \($0.problem.problem)" })
    }

    // MARK: Reading

    private static func read(_ json: JSONValue, _ reader: inout DocumentReader) -> Policy {
        guard let document = reader.object(json, at: .root, known: documentKeys) else {
            return Policy()
        }
        if document["roles"] == nil { reader.report(SchemaPath.root["roles"], "is missing") }
        let path = SchemaPath.root["roles"]
        var policy = Policy()
        var names: Set<String> = []
        for (index, json) in reader.array(document, "roles", countMax: rolesMax).enumerated() {
            guard let role = role(json, at: path[index], &reader) else { continue }
            if !names.insert(role.name).inserted {
                reader.report(path[index]["name"], "another role has this name")
            }
            if let earlier = policy.roles.first(where: \.isForEverybody) {
                reader.report(
                    path[index],
                    "nobody has this role, because everybody has the role \(earlier.name) before it"
                )
            }
            policy.roles.append(role)
        }
        return policy
    }

    private static func role(
        _ json: JSONValue, at path: SchemaPath, _ reader: inout DocumentReader
    ) -> Role? {
        guard let object = reader.object(json, at: path, known: roleKeys) else { return nil }
        var role = Role(name: reader.requiredString(object, "name"))
        if object["name"] != nil, role.name.isEmpty || role.name.utf8.count > Limits.nameBytesMax {
            reader.report(path["name"], "must have 1 to \(Limits.nameBytesMax) bytes")
        }
        role.users = names(object, "users", &reader)
        role.groups = names(object, "groups", &reader)
        role.programs = names(object, "programs", &reader)
        for (index, program) in role.programs.enumerated() where !program.hasPrefix("/") {
            reader.report(path["programs"][index], "must be an absolute path")
        }
        for (index, name) in names(object, "rights", &reader).enumerated() {
            if let right = Role.StoreRight(rawValue: name) {
                role.rights.insert(right)
            } else {
                let known = Role.StoreRight.allCases.map(\.rawValue)
                reader.report(
                    path["rights"][index],
                    reader.suggesting(
                        name, among: known,
                        "unknown right; valid rights are \(known.joined(separator: ", "))"))
            }
        }
        guard let entities = object["entities"] else { return role }
        guard case .object(let members) = entities else {
            reader.report(path["entities"], "expected an object, found \(entities.kindDescription)")
            return role
        }
        for (name, json) in members.sorted(by: { $0.key < $1.key }) {
            role.entities[name] = entityRights(json, at: path["entities"][name], &reader)
        }
        return role
    }

    private static func entityRights(
        _ json: JSONValue, at path: SchemaPath, _ reader: inout DocumentReader
    ) -> EntityRights? {
        guard let object = reader.object(json, at: path, known: entityKeys) else { return nil }
        var rights = EntityRights()
        for right in EntityRights.Right.allCases {
            switch object[right.rawValue] {
            case nil, .bool(false)?: break
            case .bool(true)?: rights.rules[right] = .granted
            case .string(let predicate)?: rights.rules[right] = .when(predicate)
            case let other?:
                reader.report(
                    path[right.rawValue],
                    "expected true, false or a predicate, found \(other.kindDescription)")
            }
        }
        rights.watches = reader.bool(object, "watch") ?? false
        rights.readsHistory = reader.bool(object, "history") ?? false
        rights.hidden = Set(names(object, "hidden", &reader))
        rights.frozen = Set(names(object, "frozen", &reader))
        for name in rights.hidden.intersection(rights.frozen).sorted() {
            reader.report(path["frozen"], "\(name) is hidden too")
        }
        guard rights.rules[.read] == nil else { return rights }
        for right in EntityRights.Right.allCases where rights.rules[right] != nil {
            reader.report(path[right.rawValue], "requires `read`")
        }
        for (key, isGiven) in [("watch", rights.watches), ("history", rights.readsHistory)]
        where isGiven {
            reader.report(path[key], "requires `read`")
        }
        return rights
    }

    private static func names(
        _ object: DocumentReader.Object, _ key: String, _ reader: inout DocumentReader
    ) -> [String] {
        reader.array(object, key, countMax: membersMax).enumerated().compactMap { index, json in
            if case .string(let name) = json { return name }
            reader.report(
                object.path[key][index], "expected a string, found \(json.kindDescription)")
            return nil
        }
    }
}

extension Role {
    fileprivate var isForEverybody: Bool { users.isEmpty && groups.isEmpty && programs.isEmpty }
}
