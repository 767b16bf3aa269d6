import FoundationEssentials
import LarderRecords
import LarderTesting
import Testing

@Suite("Changes to records")
struct RecordChangeTests {
    @Test("setting one property of a record leaves its other properties unchanged")
    func property() throws {
        let library = try Library()
        let boats = try Ref(library.books[1])
        try library.store.update(\.pages, of: boats, to: 301)
        try library.store.update(\.edition, of: boats, to: Edition(number: 3))
        try library.store.update(\.author, of: boats, to: Ref(library.authors[2]))
        try library.store.update(\.binding, of: boats, to: nil)
        let book = try #require(try library.store.object(for: boats))
        #expect(book.pages == 301 && book.edition?.number == 3 && book.binding == nil)
        #expect(book.author == (try Ref(library.authors[2])) && book.price == 20)
        #expect(code { try library.store.update(\.isLong, of: boats, to: true) } != nil)
        #expect(code { try library.store.update(\.pages, of: boats, to: -1) } == .validationFailed)
        #expect(
            code { try library.store.update(\.pages, of: boats, to: 1, ifVersion: 1) }
                == .versionConflict)
    }

    @Test("saving a record sends only the properties that differ from the record that was read")
    func difference() throws {
        let library = try Library()
        let read = try #require(try library.store.object(for: Ref(library.books[0])))
        try library.store.update(\.price, of: Ref(read), to: 1)
        var changed = read
        changed.pages = 101
        // Another property was changed, so there is no conflict.
        try library.store.update(changed, from: read)
        let saved = try #require(try library.store.object(for: Ref(read)))
        #expect(saved.pages == 101 && saved.price == 1)
        changed.pages = 102
        #expect(code { try library.store.update(changed, from: read) } == .versionConflict)
        try library.store.update(changed, from: read, mergePolicy: .callerWins)
        #expect(try library.store.object(for: Ref(read))?.pages == 102)
        #expect(try library.store.update(changed, from: changed) == 0)
        // The whole record overwrites.
        try library.store.update(read)
        #expect(try library.store.object(for: Ref(read))?.price == Decimal(string: "9.5"))
    }

    @Test("modify counts every increment of several clients")
    func modification() async throws {
        let library = try Library()
        let books = try library.books.map { try Ref($0) }
        // A modification is repeated as long as a request may take.
        var options = StoreClient.Options()
        options.requestTimeout = .seconds(900)
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                let client = try library.test.connect(options)
                group.addTask {
                    for _ in 0..<25 {
                        try await client.modify(books[0]) { (book: inout Book) in book.pages += 1 }
                    }
                    try await client.modify(books) { $0.keywords.append("\(number)") }
                }
            }
            try await group.waitForAll()
        }
        let saved = try await library.store.objects(for: books)
        #expect(saved[0].pages == 300)
        for book in saved { #expect(Set(book.keywords) == Set((0..<8).map(String.init))) }
    }

    @Test("modify ends with its closure's error, without a change, and if the object is deleted")
    func modificationEnds() throws {
        struct Stop: Error {}
        let library = try Library()
        let book = try Ref(library.books[0])
        #expect(throws: Stop.self) {
            try library.store.modify(book) { book in
                book.pages = 1
                throw Stop()
            }
        }
        let same = try library.store.modify(book) { _ in }
        #expect(same.pages == 100)
        #expect(try library.store.object(for: book.id)?.version == 1)
        try library.store.delete(book)
        #expect(code { try library.store.modify(book) { $0.pages += 1 } } == .objectNotFound)
        #expect(
            code {
                try library.store.modify([try Ref(library.books[1]), book]) { $0.pages += 1 }
            } == .objectNotFound)
        #expect(try library.store.object(for: Ref(library.books[1]))?.pages == 300)
    }

    @Test("changes of records in a closure are one transaction, and new references are resolved")
    func closure() throws {
        let library = try Library()
        var zoe: Ref<Author>?
        let saved = try library.store.save { changes in
            let author = try changes.insert(Author(name: "Zoe"))
            try changes.insert(Book(title: "Zephyrs", author: author))
            try changes.update(\.pages, of: Ref(library.books[0]), to: 5)
            try changes.delete(library.books[2])
            try changes.unless(Author.self, where: #Predicate { $0.name == "Zoe" })
            zoe = author
        }
        let reference = saved[try #require(zoe)]
        #expect(!reference.id.isTemporary)
        #expect(try library.store.object(for: reference)?.bookCount == 1)
        #expect(saved[reference] == reference)
        #expect(try library.store.count(Book.self) == 3)
        #expect(
            code {
                try library.store.save { changes in
                    try changes.insert(Author(name: "Yan"))
                    try changes.unless(Author.self, where: #Predicate { $0.name == "Zoe" })
                }
            } == .conditionFailed)
        #expect(try library.store.count(Author.self) == 4)
    }

    @Test("updateAll and deleteAll change the records that a predicate selects")
    func bulk() throws {
        let library = try Library()
        let count = try library.store.updateAll(
            Book.self, where: #Predicate { $0.author.name == "Ann" },
            .set(\.pages, to: #Expression { $0.pages * 2 }), .set(\.state, to: .sold),
            .set(\.price, to: nil))
        #expect(count == 2)
        let books = try library.store.fetch(Book.self, sort: [.init(\.title)])
        #expect(books.map(\.pages) == [200, 600, 600])
        #expect(books.map(\.state) == [.sold, .sold, .sold] && books[0].price == nil)
        #expect(try library.store.deleteAll(Book.self, where: #Predicate { $0.pages == 600 }) == 2)
        #expect(try library.store.deleteAll(Book.self, where: nil) == 1)
    }

    @Test("updateAll and deleteAll with a limit change the first records in an order")
    func bulkWithLimit() throws {
        let store = try Library().store
        let first = try #require(try store.fetch(Book.self, sort: [.init(\.pages)]).first)
        let count = try store.updateAll(
            Book.self, where: #Predicate { $0.pages > 0 }, .set(\.pages, to: 1),
            sort: [.init(\.pages)], limit: 1)
        #expect(count == 1)
        #expect(try store.object(for: Ref(first))?.pages == 1)
        #expect(
            try store.deleteAll(
                Book.self, where: nil, sort: [.init(\.pages, descending: true)], limit: 2) == 2)
        #expect(try store.fetch(Book.self).map(\.pages) == [1])
    }

    @Test("asynchronous calls change and read records as blocking calls do")
    func asynchronous() async throws {
        let library = try Library()
        let store = library.store
        let eve = try Ref(library.authors[2])
        let book = try await store.insert(Book(title: "Eddies", author: eve))
        try await store.update(\.pages, of: Ref(book), to: 3)
        try await store.modify(Ref(book)) { $0.pages += 1 }
        try await store.save { changes in try changes.update(\.price, of: Ref(book), to: 2) }
        let read = try await store.object(for: Ref(book))
        #expect(read?.pages == 4 && read?.price == 2)
        let page = try await store.fetch(
            Book.self, where: #Predicate { $0.author.name == "Eve" }, limit: 1)
        #expect(page.first?.title == "Eddies" && page.next != nil)
        let rows = try await store.aggregate(Book.self, .group(\.author), .count)
        #expect(rows.count == 3)
        #expect(try await store.updateAll(Book.self, where: nil, .set(\.pages, to: 1)) == 4)
        try await store.delete(book)
        #expect(try await store.count(Book.self) == 3)
        try await store.verify(Book.self, Author.self)
    }
}
