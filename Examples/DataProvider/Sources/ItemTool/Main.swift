import DataProvider
import Foundation

/// Adds an item to the store in a file and prints the number of items: `items FILE`.
@main
struct ItemTool {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: items FILE\n".utf8))
            exit(64)
        }
        let container = try DataProvider.container(
            at: URL(filePath: CommandLine.arguments[1]))
        let handler = DataHandler(modelContainer: container)
        try await handler.newItem(date: .now)
        print(try await handler.itemCount())
    }
}
