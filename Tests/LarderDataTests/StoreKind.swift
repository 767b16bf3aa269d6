import Foundation
import LarderData

/// Where the store of a test is.
enum StoreKind: CaseIterable {
    case memory
    /// A file that the test's container serves.
    case file
    /// A socket, on which another container serves a file.
    case socket

    /// Containers on one store: that of the test, and one that works as another process does. In
    /// memory they are the same.
    func containers(
        for types: any PersistentModel.Type...
    ) throws -> (own: ModelContainer, other: ModelContainer, folder: TestFolder) {
        let folder = try TestFolder()
        let schema = Schema(types)
        func container(_ configuration: ModelConfiguration) throws -> ModelContainer {
            try ModelContainer(for: schema, configurations: configuration)
        }
        if self == .memory {
            let own = try container(
                ModelConfiguration(schema: schema, isStoredInMemoryOnly: true))
            return (own, own, folder)
        }
        let configuration = ModelConfiguration(
            schema: schema, url: folder.url.appending(path: "test.store"))
        let (first, second) = (try container(configuration), try container(configuration))
        return self == .file ? (first, second, folder) : (second, first, folder)
    }
}

/// A folder that is removed when it is released.
final class TestFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Saves changes that are made in a context of their own.
func change(_ container: ModelContainer, _ body: (ModelContext) throws -> Void) throws {
    let context = ModelContext(container)
    try body(context)
    try context.save()
}
