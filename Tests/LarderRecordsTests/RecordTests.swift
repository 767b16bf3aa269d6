import FoundationEssentials
import LarderRecords
import LarderTesting
import Testing

@Suite("Records are values of objects")
struct RecordTests {
    @Test("every kind of property of a record is written and read back")
    func roundTrip() throws {
        let library = try Library()
        let store = library.store
        let tag = try Ref(store.insert(Tag(name: "sea")))
        var book = Book(
            title: "Deltas", pages: 7, price: Decimal(string: "12.345678901234567890"),
            state: .published, binding: .hardcover,
            edition: Edition(number: 2, printed: Date(timeIntervalSinceReferenceDate: 0.5)),
            keywords: ["river", "“mouth”"], published: Date(timeIntervalSinceReferenceDate: 1e8),
            author: try Ref(library.authors[1]), prequel: try Ref(library.books[2]),
            sequels: [try Ref(library.books[1]), try Ref(library.books[0])], tags: [tag])
        book.isSelected = true
        let inserted = try store.insert(book)
        let id = try #require(inserted.id)
        #expect(id.entityName == "Book" && !id.isTemporary)
        var read = try #require(try store.object(for: Ref(inserted)))
        #expect(!read.isSelected)
        read.isSelected = true
        #expect(read == inserted)
        // Both sides of each relationship.
        let bob = try #require(try store.object(for: read.author))
        #expect(bob.books == [try Ref(library.books[2]), try Ref(inserted)])
        #expect(bob.bookCount == 2)
        #expect(try store.object(for: tag)?.books == [try Ref(inserted)])
        #expect(try store.object(for: Ref(library.books[0]))?.prequel == (try Ref(inserted)))
    }

    @Test("a record has its defaults and nil values, and untyped inserts get the defaults too")
    func defaults() throws {
        let library = try Library()
        let book = try #require(try library.store.object(for: Ref(library.books[0])))
        #expect(book.binding == nil && book.edition == nil && book.prequel == nil)
        #expect(book.keywords.isEmpty && book.sequels.isEmpty && book.published == nil)
        let record = try #require(try library.store.object(for: Ref(library.books[0]).id))
        #expect(record["state"] == "published")
        #expect(record["keywords"] == .json("[]"))
        // A client without the type gets the defaults of the schema.
        let other = try library.store.insert(
            "Book",
            [
                "title": "Eels", "keywords": .json("[]"),
                "author": .object(try Ref(library.authors[0]).id),
            ])
        let eels = try library.store.object(for: Ref<Book>(other))
        #expect(eels?.state == .draft && eels?.pages == 0)
    }

    @Test("a record type may have fewer properties than its entity")
    func projection() throws {
        let library = try Library()
        var titles = try library.store.fetch(BookTitle.self, sort: [.init(\.title)]).records
        #expect(titles.map(\.title) == ["Anchors", "Boats", "Canals"])
        titles[0].title = "Ankles"
        try library.store.update(titles[0])
        let book = try library.store.object(for: Ref(library.books[0]))
        #expect(book?.title == "Ankles" && book?.pages == 100)
    }

    @Test("a deleted record is read as nil, and a record of another store is an error")
    func missing() throws {
        let library = try Library()
        let eve = try Ref(library.authors[2])
        try library.store.delete(eve)
        #expect(try library.store.object(for: eve) == nil)
        #expect(try library.store.objects(for: [eve, Ref(library.authors[0])]).count == 1)
        let foreign = Ref<Author>(PersistentIdentifier(store: UUID(), entityName: "Author", key: 1))
        #expect(code { _ = try library.store.object(for: foreign) } == .foreignIdentifier)
        #expect(code { try library.store.delete(Author(name: "Zoe")) } == .objectNotFound)
        #expect(code { try library.store.update(Author(name: "Zoe")) } == .objectNotFound)
    }

    @Test("a stored value of another type than the record's is an error that names the property")
    func mismatch() throws {
        let library = try Library()
        let ann = try Ref(library.authors[0]).id
        for (name, value, expected) in [
            ("state", Value.string("lost"), ErrorCode.wrongType),
            ("keywords", .json("{}"), .wrongType),
        ] {
            let id = try library.store.insert(
                "Book",
                [
                    "title": .string(name), "keywords": .json("[]"), "author": .object(ann),
                ].merging([name: value]) { $1 })
            let failure = #expect(throws: LarderError.self) {
                try library.store.object(for: Ref<Book>(id))
            }
            #expect(failure?.code == expected)
            #expect(failure?.message.contains("Book.\(name)") == true)
            #expect(code { _ = try library.store.fetch(Book.self) } == expected)
        }
    }

    @Test("an unknown case of an optional enum is an error, and not nil")
    func unknownOptionalCase() throws {
        let library = try Library()
        let id = try library.store.insert(
            "Book",
            [
                "title": "Glue", "keywords": .json("[]"), "binding": "glued",
                "author": .object(try Ref(library.authors[0]).id),
            ])
        #expect(code { _ = try library.store.object(for: Ref<Book>(id)) } == .wrongType)
    }

    @Test("inserting a record again updates it with upsert, and fails without")
    func upsert() throws {
        let library = try Library()
        let again = Author(name: "Ann")
        #expect(code { try library.store.insert(again) } == .uniquenessViolated)
        let same = try library.store.insert(again, onUniqueConflict: .upsert)
        #expect(same.id == library.authors[0].id)
        // All or none.
        #expect(
            code { try library.store.insert([Author(name: "Zoe"), again]) } == .uniquenessViolated)
        #expect(try library.store.count(Author.self) == 3)
    }

    @Test("rows without record types can be inserted from variables and read by type")
    func untyped() throws {
        let library = try Library()
        let (title, pages, nothing): (String, Int, Date?) = ("Fjords", 12, nil)
        let author = try Ref(library.authors[0])
        let id = try library.store.insert(
            "Book",
            [
                "title": title, "pages": pages, "published": nothing, "author": author,
                "keywords": Value.json("[]"),
            ])
        _ = try library.store.update(id, ["pages": pages + 1])
        let record = try #require(try library.store.object(for: id))
        #expect(try record.string("title") == "Fjords" && record.int("pages") == 13)
        #expect(try record.value("published", as: Date?.self) == nil)
        #expect(try record.object("author") == author.id)
        #expect(code { _ = try record.string("titel") } == .unknownProperty)
        #expect(code { _ = try record.string("pages") } == .wrongType)
        #expect(code { _ = try record.date("published") } == .missingValue)
        let misspelt = #expect(throws: LarderError.self) { try record.string("titel") }
        #expect(misspelt?.hint == "did you mean \"title\"?")
        let row = try library.store.aggregate("Book", groupBy: ["title"], [.count])[0]
        #expect(try row.string("title") == "Anchors" && row.int("count") == 1)
    }
}

func code(_ call: () throws -> Void) -> ErrorCode? {
    do {
        try call()
        return nil
    } catch {
        return (error as? LarderError)?.code
    }
}
