import FoundationEssentials
import LarderModel
import Testing

@Suite("Values of Codable types")
struct CodableValuesTests {
    enum State: String, Codable { case new, sold }

    struct Size: Codable, Equatable {
        var width: Int
        var tags: [String]
    }

    struct Book: Codable, Equatable {
        var id: PersistentIdentifier?
        var title: String
        var pages: Int
        var small: UInt8
        var weight: Float?
        var price: Decimal?
        var published: Date
        var state: State
        var formerState: State?
        var size: Size
        var notes: [String]
        var author: PersistentIdentifier
        var editor: PersistentIdentifier?
        var tags: [PersistentIdentifier]
    }

    private let store = UUID()

    private var book: Book {
        Book(
            title: "Boats", pages: 300, small: 200, weight: 1.5, price: nil,
            published: Date(timeIntervalSinceReferenceDate: 12.5), state: .sold, formerState: nil,
            size: Size(width: 2, tags: ["a"]), notes: ["x", "y"], author: identifier("Author", 1),
            editor: nil, tags: [identifier("Tag", 1), identifier("Tag", 2)])
    }

    private func identifier(_ entity: String, _ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(store: store, entityName: entity, key: key)
    }

    private func error(_ body: () throws -> Void) -> LarderError? {
        do {
            try body()
            return nil
        } catch {
            return error as? LarderError
        }
    }

    @Test("a Codable value is encoded as property values, without its identifier")
    func encoding() throws {
        var book = book
        book.id = identifier("Book", 9)
        #expect(
            try [String: Value](encoding: book) == [
                "title": "Boats", "pages": 300, "small": 200, "weight": .float(1.5), "price": nil,
                "published": .date(book.published), "state": "sold", "formerState": nil,
                "size": .json(#"{"tags":["a"],"width":2}"#), "notes": .json(#"["x","y"]"#),
                "author": .object(book.author), "editor": nil, "tags": .objects(book.tags),
            ])
    }

    @Test("an encoded value is decoded again, with the identifier of its record")
    func decoding() throws {
        var book = book
        let values = try [String: Value](encoding: book)
        book.id = identifier("Book", 9)
        let record = Record(identifier: identifier("Book", 9), version: 1, values: values)
        #expect(try record.decoded(as: Book.self) == book)
    }

    @Test("a property of a Codable type that is named id is an attribute like any other")
    func ownIdentifier() throws {
        struct Ticket: Codable, Equatable { var id: Int }
        #expect(try [String: Value](encoding: Ticket(id: 7)) == ["id": 7])
        let record = Record(identifier: identifier("Ticket", 9), version: 1, values: ["id": 7])
        #expect(try record.decoded(as: Ticket.self) == Ticket(id: 7))
    }

    @Test("a row is decoded into a Codable type by the names of its columns")
    func rows() throws {
        struct Total: Codable, Equatable {
            var name: String
            var count: Int
        }
        let row = Row(names: ["name", "count"], values: ["Ann", 3])
        #expect(try row.decoded(as: Total.self) == Total(name: "Ann", count: 3))
    }

    @Test("a type that wraps another one, and a subclass, are encoded as property values")
    func wrappers() throws {
        struct Wrapper: Codable, Equatable {
            var size: Size

            init(size: Size) { self.size = size }
            init(from decoder: any Decoder) throws {
                size = try decoder.singleValueContainer().decode(Size.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(size)
            }
        }
        let wrapper = Wrapper(size: Size(width: 1, tags: []))
        let values = try [String: Value](encoding: wrapper)
        #expect(values == ["width": 1, "tags": .json("[]")])
        let record = Record(identifier: identifier("Size", 1), version: 1, values: values)
        #expect(try record.decoded(as: Wrapper.self) == wrapper)
    }

    @Test("decoding a value of a wrong type is an error that names the property and the type")
    func decodingErrors() throws {
        struct Named: Decodable { var name: String }
        struct Counted: Decodable { var count: UInt8 }
        struct Stated: Decodable { var state: State }
        struct Nested: Decodable { var size: Size }
        func failure<Wanted: Decodable>(
            _ values: [String: Value], _ type: Wanted.Type
        ) -> LarderError? {
            let record = Record(identifier: identifier("Book", 1), version: 1, values: values)
            return error { _ = try record.decoded(as: type) }
        }
        let unknown = failure(["nmae": "x"], Named.self)
        #expect(unknown?.code == .unknownProperty)
        #expect(unknown?.message == "Book has no value `name`")
        #expect(unknown?.hint?.contains("nmae") == true)
        #expect(failure(["name": nil], Named.self)?.code == .missingValue)
        let wrong = failure(["name": 1], Named.self)
        #expect(wrong?.code == .wrongType)
        #expect(
            wrong?.message
                == "`name` of Book is an integer, not a value of the Swift type String")
        #expect(failure(["count": 256], Counted.self)?.code == .wrongType)
        #expect(failure(["state": "lost"], Stated.self)?.code == .malformedValue)
        #expect(failure(["size": "x"], Nested.self)?.code == .wrongType)
        #expect(failure(["size": .json("{}")], Nested.self)?.code == .malformedValue)
        #expect(failure(["name": "x"], [String].self)?.code == .wrongType)
        #expect(failure(["name": "x"], String.self)?.code == .wrongType)
        #expect(failure(["name": "x"], UInt8.self)?.code == .wrongType)
    }

    @Test("encoding a type without keys, or an integer beyond 64 bits, is an error")
    func encodingErrors() throws {
        struct Large: Encodable { var count: UInt64 }
        struct Nested: Encodable {
            enum Key: CodingKey { case outer, inner }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var nested = container.nestedContainer(keyedBy: Key.self, forKey: .outer)
                try nested.encode(1, forKey: .inner)
            }
        }
        for problem in [
            error { _ = try [String: Value](encoding: [1, 2]) },
            error { _ = try [String: Value](encoding: "x") },
            error { _ = try [String: Value](encoding: Large(count: .max)) },
            error { _ = try [String: Value](encoding: Nested()) },
        ] { #expect(problem?.code == .malformedValue) }
    }
}
