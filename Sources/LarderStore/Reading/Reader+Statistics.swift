import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

extension Reader {
    /// Objects are not counted, because that would read every table.
    func statistics() throws(LarderError) -> [Statistic] {
        let description = session.description
        do throws(ReadFailure) {
            let pageSize = try pragma("page_size")
            let pageCount = try pragma("page_count")
            let (bytes, overflow) = pageSize.multipliedReportingOverflow(by: pageCount)
            return [
                Statistic("store", .uuid(description.identifier)),
                Statistic("schemaVersion", .string(description.schema.version)),
                Statistic("schemaFingerprint", .string(description.fingerprint)),
                Statistic("formatVersion", .int(try pragma("user_version"))),
                Statistic("isReadOnly", .bool(description.isReadOnly)),
                Statistic("entities", .int(Int64(description.schema.entities.count))),
                Statistic("fileBytes", .int(overflow ? .max : bytes)),
                Statistic("logBytes", .int(session.logBytes)),
                Statistic("pageBytes", .int(pageSize)),
                Statistic("pages", .int(pageCount)),
                Statistic("freePages", .int(try pragma("freelist_count"))),
                Statistic("diskFreeBytes", session.diskFreeBytes.map { .int($0) } ?? .null),
                Statistic("checkpoints", .int(session.checkpointCount)),
                Statistic("sqliteVersion", .string(try sqliteVersion())),
                Statistic("statementBytes", .int(Int64(session.statementBytes))),
            ] + session.formerValueStatistics + DatabaseMemory.statistics
                + session.archiveStatistics(pageBytes: Int(clamping: pageSize))
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .budgetExceeded: preconditionFailure("statistics have no budget of steps")
            }
        }
    }

    /// The number that a pragma returns.
    func pragma(_ name: String) throws(ReadFailure) -> Int64 {
        let statement = try session.statement("PRAGMA \(name: name)")
        defer { statement.reset() }
        return try session.step(statement) ? statement.int64(at: 0) : 0
    }

    /// The number of the last transaction; 0 if there is none.
    func lastTransaction() throws(ReadFailure) -> Int64 {
        // A store of format 1 that is open for reading only has no history.
        guard try pragma("user_version") > 1 else { return 0 }
        let statement = try session.statement(Layout.lastTransaction)
        defer { statement.reset() }
        return try session.step(statement) ? statement.int64(at: 0) : 0
    }

    private func sqliteVersion() throws(ReadFailure) -> String {
        let statement = try session.statement("SELECT sqlite_version()")
        defer { statement.reset() }
        return try session.step(statement) ? statement.string(at: 0) : ""
    }
}
