import LarderModel

/// A schema file that is read from disk or from standard input.
enum SchemaDocument {
    /// - Throws: every fault of the schema at once, in an error that names the file.
    static func read(_ file: InputFile) throws(LarderError) -> Schema {
        let text = try file.text(bytesMax: Limits.schemaBytesMax)
        do throws(SchemaError) {
            return try SchemaFile.schema(parsing: text)
        } catch {
            var failure = error.larderError
            failure.message = "\(file.name): \(failure.message)"
            throw failure
        }
    }
}
