/// The problems with a schema, each with its path in the schema file.
public struct SchemaError: Error, Hashable, Sendable {
    public struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// The path, such as `entities[2].relationships[0].inverse`; empty for the whole document.
        public let path: String
        public let message: String

        public init(path: String, message: String) {
            self.path = path
            self.message = message
        }

        public var description: String { path.isEmpty ? message : "\(path): \(message)" }
    }

    public let faults: [Fault]

    public init(faults: [Fault]) { self.faults = faults }

    /// The problems as a ``LarderError``.
    public var larderError: LarderError {
        LarderError(
            .malformedSchema,
            faults.count == 1 ? "the schema has an error" : "the schema has \(faults.count) errors",
            faults: faults.map(\.description))
    }
}
