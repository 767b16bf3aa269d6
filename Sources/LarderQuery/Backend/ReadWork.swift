import LarderModel

/// The work of the database for a read.
package struct ReadWork: Hashable, Sendable {
    /// The steps of its virtual machine.
    package var steps: Int64 = 0
    /// The rows that scans without an index have read.
    package var scannedRows: Int64 = 0
    /// The sorts, and the rows that were inserted into indexes made for one statement.
    package var sorts: Int64 = 0
    package var automaticIndexRows: Int64 = 0
    /// The statements that were run, and the time to prepare those that were not in the cache.
    package var statements: Int64 = 0
    package var preparation = Duration.zero

    package init() {}

    package mutating func add(_ other: ReadWork) {
        steps += other.steps
        scannedRows += other.scannedRows
        sorts += other.sorts
        automaticIndexRows += other.automaticIndexRows
        statements += other.statements
        preparation += other.preparation
    }

    /// The work after an earlier report of the same counters.
    package func since(_ earlier: ReadWork) -> ReadWork {
        var work = self
        work.steps -= earlier.steps
        work.scannedRows -= earlier.scannedRows
        work.sorts -= earlier.sorts
        work.automaticIndexRows -= earlier.automaticIndexRows
        work.statements -= earlier.statements
        work.preparation -= earlier.preparation
        return work
    }
}
