/// The problems with a schema, each with its path in the schema file.
public struct SchemaError: Error, Hashable, Sendable {
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The path, such as `entities[2].relationships[0].inverse`; empty for the whole document.
        public let path: String
        public let message: String

        package init(path: String, message: String) {
            self.path = path
            self.message = message
        }

        public var description: String { path.isEmpty ? message : "\(path): \(message)" }
    }

    public let problems: [Problem]

    package init(problems: [Problem]) { self.problems = problems }

    /// The problems as a ``LarderError``.
    package var larderError: LarderError {
        LarderError(
            .malformedSchema,
            problems.count == 1
                ? "the schema has an error" : "the schema has \(problems.count) errors",
            problems: problems.map(\.description))
    }
}
