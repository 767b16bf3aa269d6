import Chromium
import Foundation
import LarderClient
import Testing

/// The folder for pictures of the pages; nil if none are made.
private let folder = ProcessInfo.processInfo.environment["LARDER_PICTURES"]

@Suite("Pictures for the documents", .timeLimit(.minutes(5)))
struct PictureTests {
    @Test("pictures of the pages are made", .enabled(if: folder?.isEmpty == false))
    func pictures() async throws {
        let store = try await StoreServer()
        let client = try await store.connect()
        try await fillLibrary(client)
        let server = try await BrowseServer(store, ["--edit"])
        let browser = try await Chromium()
        let window = try await browser.open(server.keyAddress)
        try await window.shows("Entities")
        let query = "/query?entity=Book&where=&group=author.name&function=sum&of=pages"
        let pictures: [(name: String, path: String, height: Int, isDark: Bool)] = [
            ("browse-rows", "/rows/Book?where=pages%20%3E%20100&sort=published:desc", 560, false),
            ("browse-object", "/object/Book/p1", 760, true),
            ("browse-schema", "/schema", 620, false),
            ("browse-query", query + "&sort=sum:pages:desc", 900, false),
        ]
        for (name, path, height, isDark) in pictures {
            try await window.appear(
                width: name == "browse-schema" ? 1_170 : 1_000, height: height, isDark: isDark)
            try await window.go(to: server.page(path))
            try await window.shows("library")
            if name == "browse-rows" { try await window.shows("Rows 1 to") }
            let file = URL(filePath: folder ?? "").appending(path: "\(name).png")
            try await window.picture().write(to: file)
        }
        try await window.appear(width: 360, height: 640)
        try await window.go(to: server.page("/object/Book/p1"))
        try await window.shows("library")
        try await window.picture().write(
            to: URL(filePath: folder ?? "").appending(path: "browse-phone.png"))
    }

    private func fillLibrary(_ client: StoreClient) async throws {
        let books: [(author: String, title: String, pages: Int64, day: String)] = [
            ("Jules Verne", "Journey to the Centre of the Earth", 183, "1864-11-25"),
            ("Jules Verne", "Twenty Thousand Leagues under the Seas", 426, "1870-06-20"),
            ("Jules Verne", "Around the World in Eighty Days", 252, "1873-01-30"),
            ("Mary Shelley", "Frankenstein", 280, "1818-01-01"),
            ("Mary Shelley", "The Last Man", 470, "1826-02-01"),
            ("H. G. Wells", "The Time Machine", 84, "1895-05-07"),
            ("H. G. Wells", "The War of the Worlds", 287, "1898-01-01"),
            ("Edwin A. Abbott", "Flatland", 96, "1884-10-01"),
            ("Karel Čapek", "R.U.R.", 104, "1920-11-25"),
            ("Karel Čapek", "War with the Newts", 348, "1936-01-01"),
        ]
        var changes: [Change] = []
        func temporary(_ name: String, _ entity: String) -> PersistentIdentifier {
            PersistentIdentifier(temporary: name, entityName: entity)
        }
        for name in Set(books.map(\.author)).sorted() {
            changes.append(.insert(temporary(name, "Author"), values: ["name": .string(name)]))
        }
        for tag in ["adventure", "science fiction"] {
            changes.append(.insert(temporary(tag, "Tag"), values: ["name": .string(tag)]))
        }
        for (index, book) in books.enumerated() {
            changes.append(
                .insert(
                    temporary("\(index)", "Book"),
                    values: [
                        "title": .string(book.title), "pages": .int(book.pages),
                        "published": .date(Date(text: book.day) ?? .distantPast),
                        "price": .decimal(Decimal(book.pages) / 20),
                        "author": .object(temporary(book.author, "Author")),
                        "tags": .objects(
                            index < 3
                                ? [
                                    temporary("adventure", "Tag"),
                                    temporary("science fiction", "Tag"),
                                ] : [temporary("science fiction", "Tag")]),
                        "details": .json(
                            #"{"languages": ["fr", "en"], "first edition": {"copies": 3000}}"#),
                    ]))
        }
        changes.append(
            .insert(
                temporary("loan", "Loan"),
                values: ["day": .date(.now), "book": .object(temporary("0", "Book"))]))
        changes.append(
            .insert(
                temporary("note", "Note"),
                values: [
                    "text": "Read again in winter", "about": .object(temporary("0", "Book")),
                ]))
        _ = try await client.save(ChangeSet(changes, author: "librarian"))
    }
}
