/// What a check of the whole store found.
public struct CheckReport: Hashable, Sendable {
    /// In the order of the entities; no more than ``findingsMax``.
    public var findings: [CheckFinding]
    /// Whether more was found than is told.
    public var isCut: Bool

    public static let findingsMax = 1_000

    public init(findings: [CheckFinding], isCut: Bool) {
        self.findings = findings
        self.isCut = isCut
    }
}

/// One thing that is not as it must be.
public struct CheckFinding: Hashable, Sendable {
    /// `Article.category`, or `Article` where no property is at fault; empty for the file itself.
    public var place: String
    /// The URI of the object at fault; nil where none can be named.
    public var uri: String?
    /// A sentence for people.
    public var message: String

    public init(place: String, uri: String? = nil, message: String) {
        self.place = place
        self.uri = uri
        self.message = message
    }
}
