/// The steps of a restore, for a person who waits.
package enum RestoreStep: Hashable, Sendable {
    /// Reads and verifies the files of an archive. A restore of a backup does not have this step.
    case verifies
    /// Writes the pages of the store.
    case writes
    /// Checks the store that was written, before it gets its name.
    case checks

    /// A closure that gets the step, the bytes that it has read, and the bytes that it reads. Both
    /// are 0 for ``checks``, which has no measure.
    package typealias Progress = (_ step: RestoreStep, _ read: Int64, _ total: Int64) -> Void
}
