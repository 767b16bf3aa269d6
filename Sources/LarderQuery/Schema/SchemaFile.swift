import LarderModel

/// The schema file: JSON text that describes a schema. `SchemaKey` lists its keys.
///
/// It is read in two steps. The reader checks the structure of the file: keys, JSON types, reserved
/// features. `SchemaCheck` checks the consistency of the entities. Both report together; a
/// structural problem suppresses the problems that follow from it.
public enum SchemaFile {
    /// Parses a schema.
    ///
    /// - Throws: `SchemaError` with all problems, from top to bottom; for invalid JSON a single
    ///   one with line and column.
    public static func schema(parsing text: String) throws(SchemaError) -> Schema {
        guard text.utf8.count <= Limits.schemaBytesMax else {
            throw failure("the file is longer than \(Limits.schemaBytesMax) bytes")
        }
        let document: JSONValue
        do throws(LarderError) {
            document = try JSONValue(parsing: text)
        } catch {
            throw failure(error.message)
        }
        var reader = SchemaFileReader()
        let (version, entities) = reader.read(document)
        let structural = reader.problems
        let hiding = Set(structural.map(\.path))
        let semantic = SchemaCheck.locatedProblems(in: entities, version: version).filter {
            problem in
            problem.path.enclosing.allSatisfy { !hiding.contains($0) }
        }
        guard structural.isEmpty, semantic.isEmpty else {
            let problems = (structural + semantic).sorted { $0.path < $1.path }
            throw SchemaError(problems: problems.map(\.problem))
        }
        return try Schema(version: version, entities: entities)
    }

    private static func failure(_ sentence: String) -> SchemaError {
        SchemaError(problems: [SchemaError.Problem(path: "", message: sentence)])
    }
}
