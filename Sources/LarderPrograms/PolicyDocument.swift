import LarderModel
import LarderQuery

/// Reads policy files.
package enum PolicyDocument {
    /// Reads and checks the policy in a file.
    ///
    /// - Parameter schema: That of the store.
    /// - Throws: `malformedValue` with all problems, and the name of the file. If the file cannot
    ///   be read: `storageFailed` or `resourceExhausted`.
    package static func read(
        _ file: InputFile, for schema: Schema
    ) throws(LarderError) -> Policy {
        try readWithText(file, for: schema).policy
    }

    /// Reads and checks the policy in a file, and returns the text, too.
    package static func readWithText(
        _ file: InputFile, for schema: Schema
    ) throws(LarderError) -> (policy: Policy, text: String) {
        let text = try file.text(bytesMax: PolicyFile.bytesMax)
        do throws(LarderError) {
            return (try PolicyFile.policy(parsing: text, for: schema), text)
        } catch {
            var failure = error
            failure.message = "\(file.name): \(failure.message)"
            throw failure
        }
    }
}
