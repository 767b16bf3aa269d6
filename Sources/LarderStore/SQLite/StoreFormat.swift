import CSQLite

/// The versions that decide which store files a program reads.
package enum StoreFormat {
    /// The format of the store files that the program writes, and the newest that it reads.
    package static var version: Int64 { Catalog.formatVersion }
    /// The version of SQLite that the program has loaded, such as `3.40.1`.
    package static var databaseVersion: String { String(cString: sqlite3_libversion()) }
}
