import FoundationEssentials
import LarderRecords
import LarderTesting
import Testing

@Suite("Queries over records")
struct RecordQueryTests {
    @Test("a predicate selects records by attributes, related objects and lists")
    func predicates() throws {
        let library = try Library()
        let store = library.store
        func titles(_ predicate: Predicate<Book.Fields>) throws -> [String] {
            try store.fetch(Book.self, where: predicate, sort: [.init(\.title)]).map(\.title)
        }
        #expect(try titles(#Predicate { $0.pages >= 300 }) == ["Boats", "Canals"])
        #expect(try titles(#Predicate { $0.author.name == "Ann" }) == ["Anchors", "Boats"])
        #expect(try titles(#Predicate { $0.price == nil }) == ["Canals"])
        #expect(try titles(#Predicate { $0.title.starts(with: "B") }) == ["Boats"])
        #expect(try titles(#Predicate { $0.prequel?.title == "Boats" }) == [])
        let state = BookState.sold
        #expect(try titles(#Predicate { $0.state == state }) == ["Canals"])
        let bob = try Ref(library.authors[1])
        #expect(try titles(#Predicate { $0.author.id == bob.id }) == ["Canals"])
        let sea = try Ref(store.insert(Tag(name: "sea")))
        try store.update(\.tags, of: Ref(library.books[1]), to: [sea])
        #expect(try titles(#Predicate { $0.tags.contains { $0.name == "sea" } }) == ["Boats"])
        #expect(try titles(#Predicate { $0.tags.isEmpty }) == ["Anchors", "Canals"])
        let many = try store.fetch(
            Author.self, where: #Predicate { $0.books.filter { $0.pages > 50 }.count > 1 })
        #expect(many.map(\.name) == ["Ann"])
    }

    @Test("records are sorted along relationships, by expressions, and with nil first or last")
    func sorting() throws {
        let library = try Library()
        func titles(_ sort: RecordSort<Book>...) throws -> [String] {
            try library.store.fetch(Book.self, sort: sort).map(\.title)
        }
        #expect(try titles(.init(\.pages, descending: true)) == ["Canals", "Boats", "Anchors"])
        #expect(
            try titles(.init(\.author.name, descending: true), .init(\.title))
                == ["Canals", "Anchors", "Boats"])
        #expect(try titles(.init(\.price, nilPlacement: .last)) == ["Anchors", "Boats", "Canals"])
        #expect(try titles(.init(\.id, descending: true)) == ["Canals", "Boats", "Anchors"])
        #expect(
            try titles(.init(by: #Expression { $0.author.books.count }), .init(\.title))
                == ["Canals", "Anchors", "Boats"])
        try library.store.update(\.prequel, of: Ref(library.books[2]), to: Ref(library.books[0]))
        #expect(
            try titles(.init(\.prequel?.title, nilPlacement: .last), .init(\.title))
                == ["Canals", "Anchors", "Boats"])
        #expect(
            try titles(.init(\.prequel?.prequel?.title), .init(\.pages))
                == ["Anchors", "Boats", "Canals"])
        // Key paths that are not along to-one relationships.
        #expect(code { _ = try titles(.init(\.author.books.count)) } == .unsupportedPredicate)
    }

    @Test("pages of records have each record once, also when objects are inserted meanwhile")
    func pages() throws {
        let library = try Library()
        let ann = try Ref(library.authors[0])
        try library.store.insert(
            (0..<20).map { Book(title: "Book \($0 % 7)\($0)", pages: $0 % 3, author: ann) })
        let sort: [RecordSort<Book>] = [
            .init(\.pages, descending: true), .init(\.price), .init(\.author.name),
        ]
        let all = try library.store.fetch(Book.self, sort: sort)
        #expect(all.count == 23 && all.next == nil)
        var page = try library.store.fetch(Book.self, sort: sort, limit: 4)
        var read = page.records
        while let next = page.next {
            // Before the position.
            try library.store.insert(Book(title: "New \(read.count)", pages: 900, author: ann))
            page = try library.store.fetch(Book.self, sort: sort, limit: 4, after: next)
            read += page.records
        }
        #expect(read == all.records)
        #expect(try library.store.fetch(Book.self, sort: sort, limit: 2, offset: 1).count == 2)
        #expect(code { _ = try library.store.fetch(Book.self, limit: -1) } != nil)
    }

    @Test("a text search finds records page by page with the best first")
    func searches() throws {
        let library = try Library()
        let store = library.store
        for title in ["Yachts", "Yachts and yachts", "Yachts of the north sea"] {
            var book = Book(title: title, author: try Ref(library.authors[0]))
            book.binding = .hardcover
            _ = try store.insert(book)
        }
        let search = try TextSearch("yachts", in: \Book.Fields.title)
        let isFound = #Predicate<Book.Fields> { search.contains($0) }
        let isBound = #Predicate<Book.Fields> { search.contains($0) && $0.binding != nil }
        let sort = [RecordSort<Book>(by: search.score, descending: true)]
        #expect(
            try store.fetch(Book.self, where: isBound, sort: sort).map(\.title)
                == ["Yachts and yachts", "Yachts", "Yachts of the north sea"])
        var titles: [String] = []
        var cursor: RecordCursor<Book>?
        repeat {
            let page = try store.fetch(
                Book.self, where: isFound, sort: sort, limit: 1, after: cursor)
            titles += page.records.map(\.title)
            cursor = page.next
        } while cursor != nil
        #expect(titles == ["Yachts and yachts", "Yachts", "Yachts of the north sea"])
    }

    @Test("records are counted, and an aggregate of records has typed rows")
    func aggregates() throws {
        let library = try Library()
        let store = library.store
        #expect(try store.count(Book.self) == 3)
        #expect(try store.count(Book.self, where: #Predicate { $0.pages < 500 }) == 2)
        let isLong = #Predicate<Book.Fields> { $0.pages > 200 }
        let rows = try store.aggregate(
            Book.self, .group(\.author.name), .count.named("books"), .sum(\.pages),
            .average(\.price), .maximum(\.title), .count.filtered(isLong),
            sort: [SortKey("books", descending: true)])
        #expect(rows.count == 2)
        let (name, books, pages, price, last, long): (String, Int, Int, Decimal?, String?, Int)
        (name, books, pages, price, last, long) = rows[0]
        #expect(name == "Ann" && books == 2 && pages == 400 && last == "Boats" && long == 1)
        #expect(price == Decimal(string: "14.75"))
        #expect(rows[1].0 == "Bob" && rows[1].3 == nil && rows[1].5 == 1)
        // A group after a computed column, by an enum and by an object.
        let byState = try store.aggregate(
            Book.self, where: #Predicate { $0.pages > 0 }, .count, .group(\.state),
            .group(\.author), sort: [SortKey("column 2")])
        #expect(byState.map(\.1) == [.draft, .published, .sold])
        #expect(byState.map(\.2) == (try [0, 0, 1].map { try Ref(library.authors[$0]) }))
        let prequels = try store.aggregate(Book.self, .group(\.prequel), .count)
        #expect(prequels.count == 1 && prequels[0].0 == nil && prequels[0].1 == 3)
        let having = try store.aggregate(
            Book.self, .group(\.author.name), .count.named("n"), having: "n > 1")
        #expect(having.map(\.0) == ["Ann"])
        let doubled = #Expression<Book.Fields, Int> { $0.pages * 2 }
        let total = try store.aggregate(
            Book.self, .sum(doubled), .average(\.pages), .median(\.pages), .stddev(\.pages))
        #expect(total.count == 1 && total[0].0 == 2_000 && total[0].2 == 300)
        let counts = try store.aggregate(
            Book.self, .countDistinct(\.author), .count(of: \.price), .minimum(\.published),
            .mode(\.title))
        #expect(counts[0].0 == 2 && counts[0].1 == 2 && counts[0].2 == nil)
    }

    @Test("a stream of records has every record")
    func streams() async throws {
        let library = try Library()
        let ann = try Ref(library.authors[0])
        try await library.store.insert(
            (0..<3_000).map { Book(title: "Book \($0)", pages: $0, author: ann) })
        var pages: [Int] = []
        for try await book in try await library.store.stream(
            Book.self, where: #Predicate { $0.title.starts(with: "Book") }, sort: [.init(\.pages)])
        {
            pages.append(book.pages)
        }
        #expect(pages == Array(0..<3_000))
    }

    @Test("a blocking stream of records can be cancelled, and untyped streams have objects or rows")
    func blockingStreams() throws {
        let library = try Library()
        let stream = try library.store.stream(Book.self)
        #expect(try stream.next() != nil)
        stream.cancel()
        while try stream.next() != nil {}
        let batches = try library.store.stream(.fetch(Fetch("Book", sort: ["pages"])))
        #expect(try batches.nextRecords()?.first?.identifier.entityName == "Book")
        let rows = try library.store.stream(.fetch(Fetch("Author", selection: .values(["name"]))))
        #expect(try rows.nextRows()?.first?.string("name") == "Ann")
    }

    @Test("an observed fetch of records follows the commits of other clients")
    func observation() throws {
        let library = try Library()
        let live = try library.store.observe(
            Book.self, where: #Predicate { $0.author.name == "Ann" }, sort: [.init(\.title)])
        let first = try #require(try live.next(timeout: .seconds(600)))
        #expect(first.records.map(\.title) == ["Anchors", "Boats"])
        let other = try library.test.connect()
        try other.insert(Book(title: "Anvils", author: Ref(library.authors[0])))
        let second = try #require(try live.next(timeout: .seconds(600)))
        #expect(second.records.map(\.title) == ["Anchors", "Anvils", "Boats"])
        #expect(second.changes.inserted == [1])
        live.cancel()
    }
}
