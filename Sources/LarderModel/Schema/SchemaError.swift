/// What is wrong with a schema: every fault, each with the path to its place in the schema file.
public struct SchemaError: Error, Hashable, Sendable {
    public struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// `entities[2].relationships[0].inverse`; empty for the document itself.
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

    /// The same as the condition that callers see.
    public var larderError: LarderError {
        LarderError(
            .malformedSchema,
            faults.count == 1 ? "the schema has a fault" : "the schema has \(faults.count) faults",
            faults: faults.map(\.description))
    }
}
