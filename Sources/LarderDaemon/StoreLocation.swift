#if PostgreSQL
import LarderPostgres
#endif

/// Where a store is.
enum StoreLocation: Hashable {
    case memory
    case file(String)
    /// The address of a database, as `--store` has it.
    case database(String)

    private static let schemes = ["postgresql://", "postgres://"]

    /// - Parameter text: The value of `--store`.
    init(_ text: String) {
        self = Self.schemes.contains(where: text.hasPrefix) ? .database(text) : .file(text)
    }

    /// The path of the store's file.
    var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// The name of the store, which its socket has: that of the file without folders and extension,
    /// or that of the schema of the database.
    var name: String {
        switch self {
        case .memory: return "memory"
        case .file(let path):
            guard let file = path.split(separator: "/").last else { return "memory" }
            guard let dot = file.lastIndex(of: "."), dot != file.startIndex else {
                return String(file)
            }
            return String(file[..<dot])
        case .database(let address):
            #if PostgreSQL
            return PostgresAddress.dividing(address).schemaName
            #else
            return address
            #endif
        }
    }
}
