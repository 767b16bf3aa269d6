@testable import LarderStore

/// A database in memory, with a connection that has the functions of a store.
struct FunctionDatabase {
    private let folder: MemoryFolder
    let connection: Connection

    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
        try StoreFunctions.register(on: connection)
    }
}
