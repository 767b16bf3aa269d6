import Foundation
import LarderData
import Testing

@testable import Library

@Suite("The program reports")
struct ProcessTests {
    private let folder: URL
    private var store: String { folder.appending(path: "library.store").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "reports-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Runs the program of this package, which is next to the tests.
    private func run(
        _ arguments: String...
    ) throws -> (status: Int32, output: String, error: String) {
        let program = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "reports")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "the program reports is not at \(program.path); `swift build` builds it")
        let process = Process()
        process.executableURL = program
        process.arguments = arguments + ["--store", store]
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let texts = [output, error].map {
            String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return (process.terminationStatus, texts[0], texts[1])
    }

    private func importRecords() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let file = folder.appending(path: "articles.json")
        try encoder.encode(ReportTests.records).write(to: file)
        let result = try run("import", file.path)
        #expect(result.output == "imported 6 articles\n")
        #expect(result.error == "")
    }

    @Test("the program reports prints each report from an imported file")
    func reports() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try importRecords()
        #expect(
            try run("by-category", "--at-least", "2").output
                == "Linux\t2\t1250\nSwift\t2\t200\n")
        #expect(try run("by-year").output == "2024\t1\n2025\t1\n2026\t4\n")
        #expect(try run("top-authors", "--limit", "1").output == "Bob\t2\t2\t2010\n")
        #expect(
            try run("regulars", "--at-least", "2", "--words", "100", "--since", "2026-01-01").output
                == "Ada\n")
        let lists = try run("lists", "Linux").output
        #expect(lists.hasPrefix("1 list\nClassics\tx-coredata://"))
    }

    @Test("the program reports opens a URI of a store that another process has open")
    func uri() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = ModelContext(try Library.container(at: URL(filePath: store)))
        try importRecords()
        let expected = "Article: B1\n  by Bob, Linux\n  2026-06-01, 2000 words\n"
        #expect(try run("open", "B1").output == expected)
        let article = try #require(try context.article(titled: "B1"))
        let uri = article.persistentModelID.uriRepresentation
        #expect(try run("show", uri).output == expected)
        article.words = 2001
        try context.save()
        #expect(try run("show", uri).output.contains("2001 words"))
        context.delete(article)
        try context.save()
        let gone = try run("show", uri)
        #expect(gone.status == 1)
        #expect(gone.error.contains("the library has no object \(uri)"))
    }

    @Test("the program reports refuses bad input with a message")
    func badInput() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try run("show", "x").error.contains("\"x\" is not the URI of an object"))
        #expect(try run("open", "x").error.contains("the library has no article \"x\""))
        #expect(try run("lists", "x").error.contains("the library has no category \"x\""))
        #expect(try run("import", "/nowhere.json").error.contains("/nowhere.json cannot be read"))
        let file = folder.appending(path: "articles.json")
        try Data(#"[{"title": 1}]"#.utf8).write(to: file)
        #expect(try run("import", file.path).error.contains("[0].title"))
        #expect(try run("top-authors", "--limit", "0").error.contains("at least 1"))
        #expect(try run("regulars", "--since", "yesterday").status == 64)
    }
}
