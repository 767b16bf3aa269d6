import LarderModel
import LarderQuery

/// The caller of a migration: it gets the progress, and may stop it.
struct MigrationWatch: Sendable {
    /// Called before each step.
    var progress: @Sendable (MigrationProgress) -> Void = { _ in }
    /// nil if nothing stops it.
    var cancellation: ReadCancellation?

    static let cancelled = LarderError(
        .cancelled, "the migration was stopped; nothing was changed")

    /// - Throws: `cancelled` if the migration was stopped.
    func check() throws(LarderError) {
        if let cancellation, cancellation.isCancelled { throw Self.cancelled }
    }
}
