import FoundationEssentials
import LarderRecords
import LarderTesting

enum BookState: String, CaseIterable, Codable { case draft, published, sold }

/// An enum that is also Codable is stored by its raw value.
enum Binding: String, Codable { case hardcover, paperback }

struct Edition: Codable, Hashable {
    var number: Int
    var printed: Date?
}

@Entity struct Author {
    var id: PersistentIdentifier?
    @Attribute(.unique) var name: String
    var books: [Ref<Book>] = []
    @Attribute(.derived("books.@count")) var bookCount: Int = 0
}

@Entity struct Book: Hashable {
    var id: PersistentIdentifier?
    var title: String
    @Attribute(.minimum(0), .indexed) var pages: Int = 0
    var price: Decimal?
    var state: BookState = .draft
    var binding: Binding?
    var edition: Edition?
    var keywords: [String] = []
    var published: Date?
    var author: Ref<Author>
    var prequel: Ref<Book>?
    @Relationship(.ordered, inverse: \Book.prequel) var sequels: [Ref<Book>] = []
    var tags: [Ref<Tag>] = []
    @Transient var isSelected = false

    #Unique<Book>([\.title, \.author])
    #Index<Book>([\.published, \.title])
    #Search<Book>([\.title])

    var isLong: Bool { pages > 500 }
    static let shelf = "A"
}

@Entity struct Tag {
    var id: PersistentIdentifier?
    @Attribute(.unique, .maxLength(30), originalName: "label") var name: String
    @Relationship(inverse: \Book.tags) var books: [Ref<Book>] = []
}

/// A type with fewer properties than its entity.
@Entity("Book") struct BookTitle {
    var id: PersistentIdentifier?
    var title: String
}

@Entity("Person") public struct Person {
    public var id: PersistentIdentifier?
    public var name: String
}

@Entity(parent: Person.self, hashModifier: "2") public struct Student {
    public var id: PersistentIdentifier?
    public var name: String
    public var year: Int32
}

/// A store with three authors and their books.
struct Library {
    let test: TestStore
    var store: StoreClient { test.client }
    let authors: [Author]
    let books: [Book]

    init(location: TestStore.Location = .memory) throws {
        var options = TestStore.Options()
        options.location = location
        test = try TestStore(Schema(of: Book.self), options)
        authors = try test.client.insert(["Ann", "Bob", "Eve"].map { Author(name: $0) })
        let (ann, bob) = (try Ref(authors[0]), try Ref(authors[1]))
        books = try test.client.insert([
            Book(title: "Anchors", pages: 100, price: 9.50, state: .published, author: ann),
            Book(title: "Boats", pages: 300, price: 20, binding: .paperback, author: ann),
            Book(title: "Canals", pages: 600, price: nil, state: .sold, author: bob),
        ])
    }
}
