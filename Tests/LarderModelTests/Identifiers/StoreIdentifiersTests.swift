import FoundationEssentials
import LarderModel
import Testing

@Suite("Identifiers of stores that programs write")
struct StoreIdentifiersTests {
    private let upper = "0F8FAD5B-D9CB-469F-A165-70867728950E"

    @Test(
        "the identifier of a store is its UUID, or a hash of its text that every process computes")
    func uuids() {
        #expect(StoreIdentifiers.uuid(of: upper).uuidString == upper)
        #expect(StoreIdentifiers.uuid(of: upper.lowercased()).uuidString != upper)
        let uuid = StoreIdentifiers.uuid(of: "notes.json").uuidString
        #expect(uuid == "9700DAB4-15D4-825D-9E86-1756510CACCD")
        #expect(StoreIdentifiers.uuid(of: "notes.jsom").uuidString != uuid)
    }

    @Test("a store identifier whose text is remembered has that text, and other ones the UUID")
    func texts() {
        let identifiers = StoreIdentifiers()
        let uuid = identifiers.remember("notes.json")
        #expect(identifiers.text(of: uuid) == "notes.json")
        let other = StoreIdentifiers.uuid(of: "other.json")
        #expect(identifiers.text(of: other) == other.uuidString)
        #expect(identifiers.text(of: identifiers.remember(upper)) == upper)
        let lower = identifiers.remember(upper.lowercased())
        #expect(identifiers.text(of: lower) == upper.lowercased())
    }

    @Test("store identifiers remember texts up to a number and a length")
    func limits() {
        let identifiers = StoreIdentifiers()
        let longest = String(repeating: "a", count: StoreIdentifiers.textBytesMax)
        #expect(identifiers.text(of: identifiers.remember(longest)) == longest)
        let tooLong = identifiers.remember(longest + "a")
        #expect(identifiers.text(of: tooLong) == tooLong.uuidString)
        for number in 1..<StoreIdentifiers.countMax { identifiers.remember("store \(number)") }
        #expect(identifiers.text(of: identifiers.remember("store 1")) == "store 1")
        let tooMany = identifiers.remember("one more")
        #expect(identifiers.text(of: tooMany) == tooMany.uuidString)
    }

    @Test("the JSON of an identifier has the text of its store, and its URI the UUID")
    func json() throws {
        let uuid = StoreIdentifiers.shared.remember("json of a test")
        let identifier = PersistentIdentifier(store: uuid, entityName: "Article", key: 7)
        #expect(identifier.storeIdentifier == "json of a test")
        #expect(identifier.uriRepresentation == "x-coredata://\(uuid.uuidString)/Article/p7")
        let data = try JSONEncoder().encode(identifier)
        #expect(String(decoding: data, as: UTF8.self).contains("json of a test"))
        #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: data) == identifier)
    }

    @Test(
        "the text of a store is remembered from JSON, and one that contradicts the URI is refused")
    func decoding() throws {
        let text = "never opened in this process"
        let uuid = StoreIdentifiers.uuid(of: text)
        func json(_ storeIdentifier: String) -> Data {
            let uri = "x-coredata://\(uuid.uuidString)/Article/p7"
            let parts = #""uriRepresentation":"\#(uri)","storeIdentifier":"\#(storeIdentifier)""#
            return Data(#"{"implementation":{\#(parts)}}"#.utf8)
        }
        let unnamed = try JSONDecoder().decode(
            PersistentIdentifier.self, from: json(uuid.uuidString))
        #expect(unnamed.storeIdentifier == uuid.uuidString)
        let named = try JSONDecoder().decode(PersistentIdentifier.self, from: json(text))
        #expect(named == unnamed)
        #expect(unnamed.storeIdentifier == text)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PersistentIdentifier.self, from: json("another"))
        }
    }
}
