/// The schema file: JSON text that describes a schema. Its keys are those of ``SchemaKey``.
///
/// Reading is in two steps. This one knows the file's structure: keys, JSON types, what is still
/// to come. ``SchemaCheck`` knows what entities must be to fit together. Both report together, and
/// a fault of the structure hides those that follow from it.
public enum SchemaFile {
    /// Reads a schema.
    ///
    /// - Throws: ``SchemaError`` with every fault, from top to bottom; a text that is no JSON has
    ///   one, with line and column.
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
        let structural = reader.faults
        let hiding = Set(structural.map(\.path))
        let semantic = SchemaCheck.locatedFaults(in: entities, version: version).filter { fault in
            fault.path.enclosing.allSatisfy { !hiding.contains($0) }
        }
        guard structural.isEmpty, semantic.isEmpty else {
            let faults = (structural + semantic).sorted { $0.path < $1.path }
            throw SchemaError(faults: faults.map(\.fault))
        }
        return try Schema(version: version, entities: entities)
    }

    private static func failure(_ sentence: String) -> SchemaError {
        SchemaError(faults: [SchemaError.Fault(path: "", message: sentence)])
    }
}
