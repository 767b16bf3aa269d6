import LarderModel
import Synchronization

/// The statements for some attributes of one object.
final class RowStatements: Sendable {
    /// Reads the attributes and then the version of a row, by its key.
    let read: SQLText
    /// Sets the attributes; the last parameter is the key.
    let update: SQLText
    /// Sets the attributes and increments the version.
    let updateAndIncrementVersion: SQLText

    /// - Parameters:
    ///   - table: In quotation marks.
    ///   - condition: Finds a row of the entity by its key.
    fileprivate init(table: String, columns: [String], condition: String) {
        let (key, version) = (SQL.quoted(Layout.keyColumn), SQL.quoted(Layout.versionColumn))
        let names = columns.map(SQL.quoted)
        let assignments = names.map { "\($0) = ?" }
        func update(_ assignments: [String]) -> SQLText {
            SQLText(
                "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(key) = ?")
        }
        read = SQLText(
            "SELECT \((names + [version]).joined(separator: ", ")) FROM \(table) \(condition)")
        self.update = update(assignments)
        updateAndIncrementVersion = update(assignments + ["\(version) = \(version) + 1"])
    }
}

/// The row statements of an entity, built once for each list of attributes.
final class RowStatementCache: Sendable {
    private static let countMax = 256

    private let table: String
    private let columns: [String]
    private let condition: String
    private let cached = Mutex<[[Int]: RowStatements]>([:])

    init(table: String, columns: [String], condition: String) {
        self.table = table
        self.columns = columns
        self.condition = condition
    }

    /// The statements for attributes of the entity, in this order.
    subscript(attributes: [Int]) -> RowStatements {
        cached.withLock { cached in
            if let statements = cached[attributes] { return statements }
            let statements = RowStatements(
                table: table, columns: attributes.map { columns[$0] }, condition: condition)
            // Programs update few lists of attributes. Many lists must not fill the memory.
            if cached.count >= Self.countMax { cached = [:] }
            cached[attributes] = statements
            return statements
        }
    }
}
