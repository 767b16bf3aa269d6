import LarderModel
import LarderQuery

extension Reader {
    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport {
        try check(budget: budget, wholeFile: false)
    }

    /// Runs SQLite's check and then the store's own checks, in one snapshot.
    ///
    /// - Parameter wholeFile: Whether SQLite checks all pages of the file, unused ones included, or
    ///   only the tables.
    func check(budget: ReadBudget, wholeFile: Bool) throws(ReadFailure) -> CheckReport {
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        try session.beginSnapshot()
        defer { session.endSnapshot() }
        var check = StoreCheck(session, converter)
        return try check.report(
            wholeFile: wholeFile,
            isOfThisFormat: try pragma("user_version") >= Catalog.tablesFormatVersion)
    }
}
