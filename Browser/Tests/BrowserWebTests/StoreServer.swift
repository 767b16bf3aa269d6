import Chromium
import Foundation
import LarderClient

/// A `larderd` with the store of the tests, which is in the folder of the built programs. It ends
/// with its last reference.
final class StoreServer: Sendable {
    let folder: TemporaryFolder
    private let process: Process

    var socket: String { folder.url.appending(path: "s").path }

    init(schema: String = librarySchema, in folder: TemporaryFolder? = nil) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let schemaFile = folder.url.appending(path: "schema.json")
        try schema.write(to: schemaFile, atomically: true, encoding: .utf8)
        process = Process()
        process.executableURL = try Self.program("larderd")
        process.arguments = [
            "--store", folder.url.appending(path: "test.store").path, "--schema", schemaFile.path,
            "--socket", folder.url.appending(path: "s").path,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// A client, once the server listens.
    func connect() async throws -> StoreClient {
        var options = StoreClient.Options()
        options.clientName = "test"
        options.reconnectWait = .seconds(1)
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try await StoreClient.connect(to: socket, options: options)
            } catch {
                guard ContinuousClock.now < deadline, process.isRunning else { throw error }
                try await ContinuousClock().sleep(for: .milliseconds(20))
            }
        }
    }

    /// A program of Larder: in `LARDER_BIN_DIR`, or in the debug build of the repository.
    static func program(_ name: String) throws -> URL {
        let folder =
            ProcessInfo.processInfo.environment["LARDER_BIN_DIR"].map { URL(filePath: $0) }
            ?? URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../.build/debug")
        let program = folder.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw ChromiumError(
                description: "\(name) is not at \(program.path); `swift build` builds it")
        }
        return program
    }
}

/// All types, a relationship of every kind, and one without an inverse.
let librarySchema = """
    { "version": "1.0.0", "entities": [
      { "name": "Author",
        "attributes": [ { "name": "name", "type": "string", "unique": true, "maxLength": 100 },
          { "name": "born", "type": "date", "optional": true },
          { "name": "portrait", "type": "data", "optional": true },
          { "name": "homepage", "type": "url", "optional": true } ],
        "relationships": [ { "name": "books", "destination": "Book", "toMany": true,
          "inverse": "author", "deleteRule": "cascade" } ] },
      { "name": "Book",
        "attributes": [ { "name": "title", "type": "string", "indexed": true, "minLength": 1 },
          { "name": "pages", "type": "int32", "default": 0, "minimum": 0 },
          { "name": "price", "type": "decimal", "optional": true },
          { "name": "rating", "type": "double", "optional": true },
          { "name": "isLent", "type": "bool", "default": false },
          { "name": "published", "type": "date", "optional": true, "indexed": true },
          { "name": "code", "type": "uuid", "optional": true },
          { "name": "details", "type": "json", "optional": true },
          { "name": "summary", "type": "string", "optional": true } ],
        "relationships": [
          { "name": "author", "destination": "Author", "inverse": "books" },
          { "name": "tags", "destination": "Tag", "toMany": true, "ordered": true,
            "inverse": "books" },
          { "name": "loans", "destination": "Loan", "toMany": true, "inverse": "book",
            "deleteRule": "deny" } ] },
      { "name": "Tag", "attributes": [ { "name": "name", "type": "string", "unique": true } ],
        "relationships": [ { "name": "books", "destination": "Book", "toMany": true,
          "inverse": "tags" } ] },
      { "name": "Loan", "attributes": [ { "name": "day", "type": "date" } ],
        "relationships": [ { "name": "book", "destination": "Book", "inverse": "loans" } ] },
      { "name": "Thing", "abstract": true,
        "attributes": [ { "name": "text", "type": "string" } ] },
      { "name": "Note", "parent": "Thing",
        "relationships": [ { "name": "about", "destination": "Book" } ] } ] }
    """

/// An image of one pixel.
let png =
    Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
            + "awAAAABJRU5ErkJggg==") ?? Data()

/// A text that a page must never show as markup.
let markup = "<script>alert('x')</script>\"&\u{202E}"

extension StoreClient {
    /// A few objects whose texts are markup, and enough books for three pages.
    func fill() async throws {
        func temporary(_ name: String, _ entity: String) -> PersistentIdentifier {
            PersistentIdentifier(temporary: name, entityName: entity)
        }
        let author = temporary("a", "Author")
        let first = temporary("b0", "Book")
        let tags = [temporary("t0", "Tag"), temporary("t1", "Tag")]
        var changes: [Change] = [
            .insert(
                author,
                values: [
                    "name": .string("Ann \(markup)"), "portrait": .data(png),
                    "homepage": .url(URL(string: "https://example.org/a?b=c&d=e") ?? .noPage),
                ]),
            .insert(tags[0], values: ["name": .string(markup)]),
            .insert(tags[1], values: ["name": "tag 2"]),
            .insert(
                first,
                values: [
                    "title": .string(markup), "pages": 200,
                    "price": .decimal(Decimal(string: "12.50") ?? 0), "rating": 4.5,
                    "published": .date(Date(timeIntervalSinceReferenceDate: 0)),
                    "code": .uuid(UUID()),
                    "details": .json(#"{"<b>": ["<i>", {"a": null}], "n": 1.50}"#),
                    "summary": .string(String(repeating: "word <b> ", count: 200)),
                    "author": .object(author), "tags": .objects(tags),
                ]),
            .insert(
                temporary("l", "Loan"),
                values: [
                    "day": .date(Date(timeIntervalSinceReferenceDate: 0)), "book": .object(first),
                ]),
            .insert(
                temporary("n", "Note"),
                values: [
                    "text": .string(markup), "about": .object(first),
                ]),
        ]
        for number in 1...120 {
            changes.append(
                .insert(
                    temporary("b\(number)", "Book"),
                    values: [
                        "title": .string("Book \(number)"), "pages": .int(Int64(number)),
                        "author": .object(author),
                    ]))
        }
        _ = try await save(ChangeSet(changes, author: markup))
    }
}

extension URL {
    fileprivate static let noPage = URL(filePath: "/")
}
