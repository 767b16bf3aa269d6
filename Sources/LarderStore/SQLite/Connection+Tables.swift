import CSQLite
import LarderSQL

/// Tables with rows in memory.
extension Connection {
    /// Registers a table for `SELECT … FROM name(argument)`. SQLite computes the argument before
    /// it reads a row, so a subquery for it may create the rows.
    ///
    /// - Parameter rows: The rows of the table with an argument.
    func registerTable(
        name: String, columns: [String], rows: @escaping (FunctionArgument) -> TableRows
    ) throws(SQLError) {
        let declared = (columns + ["argument HIDDEN"]).joined(separator: ", ")
        let content = TableContent(
            declaration: "CREATE TABLE x (\(declared))", argumentColumn: columns.count, rows: rows)
        let result = sqlite3_create_module_v2(
            handle, name, TableModule.shared.pointer,
            Unmanaged.passRetained(content).toOpaque(),
            { content in
                guard let content else { return }
                Unmanaged<TableContent>.fromOpaque(content).release()
            })
        // On failure SQLite has called the destructor already.
        guard result == SQLITE_OK else { throw SQLError(handle, result, sql: name) }
    }
}

/// The rows of a table that a statement reads.
struct TableRows {
    var count = 0
    /// The value in a row and a column, both from 0.
    var value: (_ row: Int, _ column: Int) -> FunctionResult = { _, _ in .null }
}

/// A registered table. SQLite has a strong reference to it.
private final class TableContent {
    let declaration: String
    let argumentColumn: Int
    let rows: (FunctionArgument) -> TableRows

    init(
        declaration: String, argumentColumn: Int, rows: @escaping (FunctionArgument) -> TableRows
    ) {
        self.declaration = declaration
        self.argumentColumn = argumentColumn
        self.rows = rows
    }
}

/// SQLite's objects for a table and for a cursor. Each begins with the part that SQLite itself
/// uses. The content is not retained: it lives as long as the table is registered.
private struct OpenTable {
    var base = sqlite3_vtab()
    let content: Unmanaged<TableContent>
}

private struct TableCursor {
    var base = sqlite3_vtab_cursor()
    let content: Unmanaged<TableContent>
    var row = 0
    var rows = TableRows()
}

/// The functions that SQLite calls, the same for all tables. Without `xCreate` a table exists as
/// soon as a statement names it.
///
/// Sendable unchecked: the module is initialized once before its first use, and never freed.
private struct TableModule: @unchecked Sendable {
    static let shared = TableModule()
    let pointer: UnsafePointer<sqlite3_module>

    private init() {
        var module = sqlite3_module()
        module.xConnect = { database, content, _, _, table, _ in
            connect(database, content, table)
        }
        module.xBestIndex = { table, index in plan(table, index) }
        module.xDisconnect = { table in
            table.map(UnsafeMutableRawPointer.init)?.deallocate()
            return SQLITE_OK
        }
        module.xOpen = { table, cursor in open(table, cursor) }
        module.xClose = { cursor in
            tableCursor(cursor)?.deinitialize(count: 1)
            cursor.map(UnsafeMutableRawPointer.init)?.deallocate()
            return SQLITE_OK
        }
        module.xFilter = { cursor, _, _, count, arguments in
            guard let cursor = tableCursor(cursor) else { return SQLITE_ERROR }
            let content = cursor.pointee.content
            cursor.pointee.row = 0
            cursor.pointee.rows =
                count == 1
                ? content._withUnsafeGuaranteedRef {
                    $0.rows(FunctionArguments(nil, arguments, count: count)[0])
                } : TableRows()
            return SQLITE_OK
        }
        module.xNext = { cursor in
            tableCursor(cursor)?.pointee.row += 1
            return SQLITE_OK
        }
        module.xEof = { cursor in
            guard let cursor = tableCursor(cursor) else { return 1 }
            return cursor.pointee.row < cursor.pointee.rows.count ? 0 : 1
        }
        module.xColumn = { cursor, context, column in
            guard let cursor = tableCursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.rows.value(cursor.pointee.row, Int(column)).set(on: context)
            return SQLITE_OK
        }
        module.xRowid = { cursor, rowID in
            guard let cursor = tableCursor(cursor) else { return SQLITE_ERROR }
            rowID?.pointee = Int64(cursor.pointee.row)
            return SQLITE_OK
        }
        let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        pointer.initialize(to: module)
        self.pointer = UnsafePointer(pointer)
    }
}

private func connect(
    _ database: OpaquePointer?, _ content: UnsafeMutableRawPointer?,
    _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
) -> Int32 {
    guard let content, let table else { return SQLITE_ERROR }
    let unmanaged = Unmanaged<TableContent>.fromOpaque(content)
    let result = sqlite3_declare_vtab(database, unmanaged.takeUnretainedValue().declaration)
    guard result == SQLITE_OK else { return result }
    let opened = UnsafeMutablePointer<OpenTable>.allocate(capacity: 1)
    opened.initialize(to: OpenTable(content: unmanaged))
    table.pointee = UnsafeMutableRawPointer(opened).assumingMemoryBound(to: sqlite3_vtab.self)
    return SQLITE_OK
}

private func open(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?,
    _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
    guard let table = openTable(table), let cursor else { return SQLITE_ERROR }
    let opened = UnsafeMutablePointer<TableCursor>.allocate(capacity: 1)
    opened.initialize(to: TableCursor(content: table.pointee.content))
    cursor.pointee = UnsafeMutableRawPointer(opened)
        .assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
}

/// Requests the argument. SQLite evaluates all conditions.
private func plan(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?,
    _ index: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
    guard let table = openTable(table), let index else { return SQLITE_ERROR }
    let column = table.pointee.content._withUnsafeGuaranteedRef { $0.argumentColumn }
    for number in 0..<Int(index.pointee.nConstraint) {
        let constraint = index.pointee.aConstraint[number]
        guard Int(constraint.iColumn) == column,
            Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ
        else { continue }
        guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
        index.pointee.aConstraintUsage[number].argvIndex = 1
        index.pointee.aConstraintUsage[number].omit = 1
    }
    return SQLITE_OK
}

private func openTable(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?
) -> UnsafeMutablePointer<OpenTable>? {
    table.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: OpenTable.self) }
}

private func tableCursor(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?
) -> UnsafeMutablePointer<TableCursor>? {
    cursor.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: TableCursor.self) }
}
