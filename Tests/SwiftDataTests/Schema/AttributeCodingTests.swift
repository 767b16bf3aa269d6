import Foundation
import SwiftData
import Testing

@Suite("The values of an attribute are stored by the coding of its type")
struct AttributeCodingTests {
    enum Suit: String, Codable { case hearts, spades }
    enum Plain: Codable, Hashable { case first, second }
    enum Payload: Codable, Hashable {
        case words(String, [Int])
        case none
    }
    indirect enum Endless: Codable {
        case more(Endless)
        case none
    }
    struct Flags: OptionSet, Codable { let rawValue: Int }

    struct Nested: Codable, Hashable {
        var name: String
        var suit: Suit
        var plain: Plain
        var payload: Payload
        var made: Date
        var place: URL
        var inner: [Shapes.Address]
        var optional: Double?
    }

    struct Renamed: Codable {
        var title: String
        var kept: Int
        private enum CodingKeys: String, CodingKey {
            case title = "t"
            case kept
        }
    }

    private func roundTrip<Member: Equatable>(_ value: Member) throws -> Bool {
        let coding = AttributeCoding.coding(of: Member.self)
        return coding.decode(try coding.encode(value)) as? Member == value
    }

    @Test("a value of an attribute is equal after it was stored and read")
    func roundTrips() throws {
        #expect(try roundTrip(UInt64.max))
        #expect(try roundTrip(UInt(7)))
        #expect(try roundTrip(Int8.min))
        #expect(try roundTrip(UInt32.max))
        #expect(try roundTrip(CGFloat(1.5)))
        #expect(try roundTrip(Decimal(string: "1.25")))
        #expect(try roundTrip(Suit.spades))
        #expect(try roundTrip(Plain.second))
        #expect(try roundTrip(Payload.words("a", [1])))
        #expect(try roundTrip(Flags(rawValue: 3)))
        #expect(try roundTrip([Date(timeIntervalSinceReferenceDate: 0.1)]))
        #expect(try roundTrip([Double.infinity, -.infinity, 0.1]))
        #expect(try roundTrip(["a": [1, 2]]))
        #expect(try roundTrip([Suit.hearts: 1, .spades: 2]))
        #expect(
            try roundTrip(
                Nested(
                    name: "ä\"", suit: .hearts, plain: .first, payload: .none, made: .now,
                    place: URL(filePath: "/a b"), inner: [.init(city: "c")], optional: nil)))
    }

    @Test("an optional attribute has the coding of its value, and nil is null")
    func optionals() throws {
        let coding = AttributeCoding.coding(of: String.self)
        #expect(try coding.encode(String?.none as Any) == .null)
        #expect(try coding.encode(String?.some("a") as Any) == .string("a"))
        #expect(coding.decode(.null) == nil)
        #expect(throws: (any Error).self) { try coding.encode(1) }
    }

    @Test("equal sets and dictionaries have equal documents")
    func unordered() throws {
        let coding = AttributeCoding.coding(of: Set<String>.self)
        let words = (0..<50).map { "word\($0)" }
        var shuffled = Set<String>(minimumCapacity: 1_000)
        shuffled.formUnion(words.shuffled())
        #expect(try coding.encode(Set(words)) == coding.encode(shuffled))
        let suits = AttributeCoding.coding(of: [Suit: Int].self)
        #expect(
            try suits.encode([Suit.spades: 1, .hearts: 2])
                == .json(#"["hearts",2,"spades",1]"#))
    }

    @Test("dates in documents have the text by which predicates compare them")
    func dates() throws {
        let coding = AttributeCoding.coding(of: [Date].self)
        #expect(
            try coding.encode([Date(timeIntervalSinceReferenceDate: 0.5)])
                == .json(#"["2001-01-01T00:00:00.5Z"]"#))
        #expect(
            coding.decode(.json("[1.5]")) as? [Date]
                == [Date(timeIntervalSinceReferenceDate: 1.5)])
    }

    @Test("collections and dates are stored as such, even if a program gives them raw values")
    func retroactive() {
        #expect(AttributeCoding.coding(of: [Suit].self).type == .json)
        #expect(AttributeCoding.coding(of: Set<Suit>.self).type == .json)
        #expect(AttributeCoding.coding(of: Date.self).type == .date)
        #expect(AttributeCoding.coding(of: Suit.self, [.codable]).type == .json)
    }

    @Test("the coding of an attribute can make a blank value of its type")
    func blanks() {
        #expect(AttributeCoding.coding(of: Suit.self).blank() as? Suit == .hearts)
        #expect(AttributeCoding.coding(of: Plain.self).blank() as? Plain == .first)
        #expect(AttributeCoding.coding(of: Payload.self).blank() as? Payload == .words("", []))
        let nested = AttributeCoding.coding(of: Nested.self).blank() as? Nested
        #expect(nested?.suit == .hearts)
        #expect(nested?.inner == [])
        #expect(AttributeCoding.coding(of: Endless.self).blank() == nil)
    }

    @Test("the member of a document is found by the key path of a stored property")
    func members() {
        #expect(JSONMembers.path(of: \Nested.name) == ["name"])
        #expect(JSONMembers.path(of: \Nested.optional) == ["optional"])
        #expect(JSONMembers.path(of: \Renamed.kept) == ["kept"])
        #expect(JSONMembers.path(of: \Renamed.title) == nil)
        #expect(JSONMembers.path(of: \Nested.hashValue) == nil)
        #expect(JSONMembers.path(of: \Nested.inner[0].city) == nil)
    }

    @Test("a transformer converts a value of an attribute to data")
    func transformable() throws {
        let model = ModelDescription.of(Painted.self)
        let coding = try #require(model.property(named: "tint")?.coding)
        #expect(coding.type == .data)
        #expect(try coding.encode(Tint(red: 7)) == .data(Data([7])))
        #expect(coding.decode(.data(Data([9]))) as? Tint == Tint(red: 9))
        let unknown = AttributeCoding.coding(of: Tint.self, [.transformable(by: "Unknown")])
        #expect {
            try unknown.encode(Tint(red: 1))
        } throws: { error in
            "\(error)".contains("no value transformer is registered as `Unknown`")
        }
        let name = NSValueTransformerName("TintTransformer")
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        let registered = ValueTransformer(forName: name)
        #expect(registered?.transformedValue(Tint(red: 3)) as? Data == Data([3]))
        #expect(ValueTransformer(forName: NSValueTransformerName("Unknown")) == nil)
    }
}
