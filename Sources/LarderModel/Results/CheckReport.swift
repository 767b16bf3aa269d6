/// The result of an integrity check of the whole store.
public struct CheckReport: Hashable, Sendable {
    /// At most ``findingsMax`` findings, in the order of the entities.
    public var findings: [CheckFinding]
    /// Whether there are more findings than the report contains.
    public var isTruncated: Bool

    public static let findingsMax = 1_000

    package init(findings: [CheckFinding], isTruncated: Bool) {
        self.findings = findings
        self.isTruncated = isTruncated
    }
}

/// One violation of the store's integrity.
public struct CheckFinding: Hashable, Sendable {
    /// `Article.category`, or `Article` if no single property is concerned; empty for the file
    /// itself.
    public var location: String
    /// The URI of the object concerned; nil if no object can be named.
    public var uri: String?
    /// A sentence for people to read.
    public var message: String

    package init(location: String, uri: String? = nil, message: String) {
        self.location = location
        self.uri = uri
        self.message = message
    }
}

extension CheckFinding: CustomStringConvertible {
    /// One line: the location, the object and the message, as far as they are known.
    public var description: String {
        [location, uri ?? "", message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
