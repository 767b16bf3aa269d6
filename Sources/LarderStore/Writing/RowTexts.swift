import LarderModel
import Synchronization

/// The statements for some attributes of one object.
final class RowTexts: Sendable {
    /// The attributes and then the version of a row, by its key.
    let read: SQLText
    /// Sets the attributes, and then finds the row by its key.
    let update: SQLText
    /// The same, and lets the version grow.
    let updateBumping: SQLText

    /// - Parameters:
    ///   - table: In quotation marks.
    ///   - condition: What finds a row of the entity by its key.
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
        updateBumping = update(assignments + ["\(version) = \(version) + 1"])
    }
}

/// The statements of an entity's rows, written once for each choice of attributes.
final class RowTextCache: Sendable {
    private static let countMax = 256

    private let table: String
    private let columns: [String]
    private let condition: String
    private let texts = Mutex<[[Int]: RowTexts]>([:])

    init(table: String, columns: [String], condition: String) {
        self.table = table
        self.columns = columns
        self.condition = condition
    }

    /// For attributes of the entity, in this order.
    subscript(attributes: [Int]) -> RowTexts {
        texts.withLock { texts in
            if let known = texts[attributes] { return known }
            let new = RowTexts(
                table: table, columns: attributes.map { columns[$0] }, condition: condition)
            // Programs have few forms of updates, and who makes up many has no memory of ours.
            if texts.count >= Self.countMax { texts = [:] }
            texts[attributes] = new
            return new
        }
    }
}

/// The statements that insert rows of an entity.
final class InsertTexts: Sendable {
    private static let rowsMax = 64
    private static let parametersMax = 1_024

    let one: SQLText
    /// Inserts ``rowsAtOnce`` rows, whose values come one row after the other.
    let several: SQLText
    /// How many values a row takes.
    let parameterCount: Int
    /// To begin and end a statement costs as much as a few rows do.
    let rowsAtOnce: Int

    /// - Parameters:
    ///   - table: In quotation marks, as the columns are.
    ///   - kind: The name of the entity, where the table keeps it.
    init(table: String, columns: [String], kind: String?) {
        let version = SQL.quoted(Layout.versionColumn)
        let kindColumn = kind.map { _ in SQL.quoted(Layout.entityColumn) }
        let names = columns + [version] + [kindColumn].compactMap(\.self)
        let values = columns.map { _ in "?" } + ["1"] + [kind.map { "'\($0)'" }].compactMap(\.self)
        let row = "(\(values.joined(separator: ", ")))"
        let text = "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES "
        parameterCount = columns.count
        rowsAtOnce = max(1, min(Self.rowsMax, Self.parametersMax / columns.count))
        one = SQLText(text + row)
        several = SQLText(
            text + Array(repeating: row, count: rowsAtOnce).joined(separator: ", "))
    }
}
