/// A step of a migration that begins.
public struct MigrationProgress: Hashable, Sendable {
    /// `rewrites the table of Article`.
    public let step: String

    package init(step: String) { self.step = step }
}
