import LarderModel
import LarderQuery

/// Reads schema files.
package enum SchemaDocument {
    /// Reads and checks the schema in a file.
    ///
    /// - Throws: `malformedSchema` with all problems of the schema; the message names the file.
    ///   If the file cannot be read: `storageFailed`, `resourceExhausted` or `malformedValue`.
    package static func read(_ file: InputFile) throws(LarderError) -> Schema {
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
