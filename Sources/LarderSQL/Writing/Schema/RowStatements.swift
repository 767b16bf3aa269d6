import LarderModel
import Synchronization

/// The statements for some attributes of one object.
final class RowStatements: Sendable {
    let attributes: [Int]
    /// Reads the attributes and then the version of a row, by its key.
    let read: SQL
    /// Sets the attributes; the last parameter is the key.
    let update: SQL
    /// Sets the attributes and increments the version.
    let updateAndIncrementVersion: SQL

    /// - Parameter condition: Finds a row of the entity by its key.
    fileprivate init(_ attributes: [Int], table: SQL, columns: [String], condition: SQL) {
        self.attributes = attributes
        let version: SQL = "\(name: Layout.versionColumn)"
        let assignments = columns.map { "\(name: $0) = ?" as SQL }
        func update(_ assignments: [SQL]) -> SQL {
            "UPDATE \(table) SET \(assignments) WHERE \(name: Layout.keyColumn) = ?"
        }
        read = "SELECT \(names: columns + [Layout.versionColumn]) FROM \(table) \(condition)"
        self.update = update(assignments)
        updateAndIncrementVersion = update(assignments + ["\(version) = \(version) + 1"])
    }
}

/// The row statements of an entity, built once for each list of attributes.
final class RowStatementCache: Sendable {
    private static let countMax = 256

    private let table: SQL
    private let columns: [String]
    private let condition: SQL
    private let cached = Mutex<[[Int]: RowStatements]>([:])

    init(table: SQL, columns: [String], condition: SQL) {
        self.table = table
        self.columns = columns
        self.condition = condition
    }

    /// The statements for attributes of the entity, in this order.
    subscript(attributes: [Int]) -> RowStatements {
        cached.withLock { cached in
            if let statements = cached[attributes] { return statements }
            let statements = RowStatements(
                attributes, table: table, columns: attributes.map { columns[$0] },
                condition: condition)
            // Programs update few lists of attributes. Many lists must not fill the memory.
            if cached.count >= Self.countMax { cached = [:] }
            cached[attributes] = statements
            return statements
        }
    }
}
