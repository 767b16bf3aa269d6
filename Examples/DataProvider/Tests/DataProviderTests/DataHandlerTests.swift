import DataProvider
import Foundation
import SwiftData
import Testing

@Suite("A data handler")
struct DataHandlerTests {
    private func container(for test: String) throws -> ModelContainer {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "\(test)-\(ProcessInfo.processInfo.processIdentifier).store")
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: url.path + suffix)
        }
        return try DataProvider.container(at: url)
    }

    @Test("a data handler adds an item that the main context fetches")
    @MainActor func newItem() async throws {
        let container = try container(for: "newItem")
        let handler = DataHandler(modelContainer: container)
        let date = Date(timeIntervalSince1970: 0)
        try await handler.newItem(date: date)
        let items = try container.mainContext.fetch(FetchDescriptor<Item>())
        #expect(items.map(\.timestamp) == [date])
    }

    @Test("the main context sees an item that a data handler updates at its next fetch")
    @MainActor func updateItem() async throws {
        let container = try container(for: "updateItem")
        let handler = DataHandler(modelContainer: container)
        let id = try await handler.newItem(date: Date(timeIntervalSince1970: 0))
        let item = try #require(try container.mainContext.fetch(FetchDescriptor<Item>()).first)
        try await handler.updateItem(id: id, timestamp: Date(timeIntervalSince1970: 5))
        _ = try container.mainContext.fetch(FetchDescriptor<Item>())
        #expect(item.timestamp == Date(timeIntervalSince1970: 5))
    }

    @Test("a data handler deletes an item, and a held object of it keeps its last values")
    @MainActor func deleteItem() async throws {
        let container = try container(for: "deleteItem")
        let handler = DataHandler(modelContainer: container)
        let id = try await handler.newItem(date: Date(timeIntervalSince1970: 7))
        let item = try #require(try container.mainContext.fetch(FetchDescriptor<Item>()).first)
        try await handler.deleteItem(id: id)
        #expect(try container.mainContext.fetchCount(FetchDescriptor<Item>()) == 0)
        #expect(item.timestamp == Date(timeIntervalSince1970: 7))
    }

    @Test("a data handler can work on the main context")
    @MainActor func mainContext() async throws {
        let provider = DataProvider()
        let handler = await provider.dataHandlerWithMainContextCreator(preview: true)()
        try await handler.newItem(date: .now)
        #expect(try provider.previewContainer.mainContext.fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test("a program with SwiftData alone has nothing of Core Data linked")
    func symbols() throws {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "items")
        let contents = try Data(contentsOf: program)
        #expect(contents.range(of: Data("$s9SwiftData".utf8)) != nil)
        #expect(contents.range(of: Data("$s8CoreData".utf8)) == nil)
        #expect(contents.range(of: Data("$s18CoreDataPredicates".utf8)) == nil)
    }

    @Test("a data handler and another process see the items that either adds to the file")
    func processes() async throws {
        let container = try container(for: "processes")
        let handler = DataHandler(modelContainer: container)
        try await handler.newItem(date: .now)
        let url = try #require(container.configurations.first?.url)
        let process = Process()
        process.executableURL = Bundle.main.executableURL?
            .deletingLastPathComponent().appending(path: "items")
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "items")
        if FileManager.default.isExecutableFile(atPath: tool.path) { process.executableURL = tool }
        let path = process.executableURL?.path ?? "items"
        try #require(
            FileManager.default.isExecutableFile(atPath: path),
            "the program items is not at \(path); `swift build` builds it")
        process.arguments = [url.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text == "2\n")
        #expect(try await handler.itemCount() == 2)
    }
}
