import LarderClient
import LarderModel
import LarderPrograms

/// A file with the stages of a migration, for `migrate --plan`:
///
///     {"stages": [
///       {"from": "school-1.json", "to": "school-2.json"},
///       {"from": "school-2.json", "to": "school-3.json",
///        "willMigrate": {"save": "duplicates.jsonl"},
///        "didMigrate": {"run": ["./split-names", "--strict"]}}
///     ]}
///
/// Relative paths are those from the folder of the file, also those of programs with a slash.
struct MigrationPlanFile {
    private static let bytesMax = 1 << 20
    private static let stagesMax = 1_000

    private let name: String
    private let folder: String
    /// By path, so that a schema between two stages is read once.
    private var schemas: [String: Schema] = [:]
    private var problems: [String] = []

    private init(_ path: String) {
        name = path == "-" ? "standard input" : path
        let slash = path.lastIndex(of: "/")
        folder = slash.map { String(path[...$0]) } ?? ""
    }

    /// - Parameter socket: The path of the server's socket, for programs.
    /// - Throws: `malformedValue` with every fault of the file and its path in it,
    ///   `malformedSchema` for a schema, `migrationRefused` if the stages do not follow each other.
    static func read(_ path: String, socket: String) throws(LarderError) -> StagedMigration {
        var file = MigrationPlanFile(path)
        let text = try InputFile(path).text(bytesMax: bytesMax)
        let stages = try file.stages(text, socket)
        do throws(LarderError) {
            return try StagedMigration(stages)
        } catch {
            var located = error
            located.message = "\(file.name): \(error.message)"
            throw located
        }
    }

    private mutating func stages(
        _ text: String, _ socket: String
    ) throws(LarderError) -> [MigrationStage] {
        var stages: [MigrationStage] = []
        do throws(LarderError) {
            guard case .object(let members) = try JSONValue(parsing: text) else {
                throw LarderError(.malformedValue, "it is not a JSON object")
            }
            report(unknown: members.keys, in: nil, known: ["stages"])
            guard case .array(let list)? = members["stages"], list.count <= Self.stagesMax else {
                throw LarderError(
                    .malformedValue, "\"stages\" must be a list of at most \(Self.stagesMax)")
            }
            for (index, item) in list.enumerated() {
                if let stage = try stage(item, "stages[\(index)]", socket) { stages.append(stage) }
            }
        } catch {
            guard error.code == .malformedValue else { throw error }
            problems.append(error.message)
        }
        guard problems.isEmpty else {
            throw LarderError(
                .malformedValue, "\(name) is not a plan of a migration",
                hint: "see `larder help migrate` for an example", problems: problems)
        }
        return stages
    }

    private mutating func stage(
        _ value: JSONValue, _ place: String, _ socket: String
    ) throws(LarderError) -> MigrationStage? {
        guard case .object(let members) = value else {
            problems.append("\(place) must be an object")
            return nil
        }
        report(
            unknown: members.keys, in: place, known: ["from", "to", "willMigrate", "didMigrate"])
        let (from, to) = (
            try schema(members["from"], "\(place).from"), try schema(members["to"], "\(place).to")
        )
        let (will, did) = (
            action(members["willMigrate"], "\(place).willMigrate", socket),
            action(members["didMigrate"], "\(place).didMigrate", socket)
        )
        guard let from, let to else { return nil }
        return .custom(from: from, to: to, willMigrate: will, didMigrate: did)
    }

    private mutating func report(
        unknown keys: some Collection<String>, in place: String?, known: [String]
    ) {
        for key in keys.sorted() where !known.contains(key) {
            problems.append(
                "\(place.map { "\($0)." } ?? "")\(key) is unknown; the keys are "
                    + known.joined(separator: ", "))
        }
    }

    private mutating func schema(
        _ value: JSONValue?, _ place: String
    ) throws(LarderError) -> Schema? {
        guard case .string(let path)? = value else {
            problems.append("\(place) must be the path of a schema file")
            return nil
        }
        let resolved = self.path(path)
        if let schema = schemas[resolved] { return schema }
        let schema = try SchemaDocument.read(InputFile(resolved))
        schemas[resolved] = schema
        return schema
    }

    private mutating func action(
        _ value: JSONValue?, _ place: String, _ socket: String
    ) -> MigrationStage.Action? {
        guard let value else { return nil }
        if case .object(let members) = value, members.count == 1 {
            if case .string(let path)? = members["save"] {
                let file = self.path(path)
                return { client in try MigrationSave.run(file, client) }
            }
            if case .array(let words)? = members["run"] {
                let texts = words.compactMap { word in
                    if case .string(let text) = word { text } else { nil }
                }
                if texts.count == words.count, let program = texts.first, !program.isEmpty {
                    let command = [program.contains("/") ? self.path(program) : program]
                    let arguments = command + texts.dropFirst()
                    return { client in
                        try MigrationProgram(arguments: arguments, place: place).run(
                            socket: socket, session: client.migrationSession)
                    }
                }
            }
        }
        problems.append(
            "\(place) must be {\"save\": FILE} or {\"run\": [PROGRAM, ARGUMENT, …]}")
        return nil
    }

    private func path(_ path: String) -> String {
        path.hasPrefix("/") ? path : folder + path
    }
}
