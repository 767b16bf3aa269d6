import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@Suite("Identifiers")
struct PersistentIdentifierTests {
    let store: UUID
    let permanent: PersistentIdentifier

    init() throws {
        store = try #require(UUID(uuidString: "0F8FAD5B-D9CB-469F-A165-70867728950E"))
        permanent = PersistentIdentifier(store: store, entityName: "Article", key: 42)
    }

    @Test("the URI of an identifier is parsed, or rejected with the invalid part")
    func scripts() throws {
        try runScripts(in: "identifiers") { uri in
            let identifier = try PersistentIdentifier(uriRepresentation: uri)
            return [
                "store \(identifier.storeIdentifier ?? "none")",
                "entity \(identifier.entityName)",
                "key \(identifier.key)",
                "uri \(identifier)",
                "json \(identifier.jsonRepresentation)",
            ].joined(separator: "\n")
        }
    }

    @Test("a temporary name with any text is preserved in the URI and the JSON")
    func temporaryNames() throws {
        for name in ["a", "a/b", "100%", "é 日本", "🏳️‍🌈", "\u{0}\n\"\\", "?#[]@", "t", "%41"] {
            let identifier = PersistentIdentifier(temporary: name, entityName: "Article")
            let uri = identifier.uriRepresentation
            #expect(uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            #expect(try PersistentIdentifier(uriRepresentation: uri) == identifier)
            let json = Data(identifier.jsonRepresentation.utf8)
            #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: json) == identifier)
        }
    }

    @Test("the JSON of an identifier equals the encoder's with sorted keys, and can be decoded")
    func jsonRepresentation() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let encoded = try encoder.encode(permanent)
        #expect(String(decoding: encoded, as: UTF8.self) == permanent.jsonRepresentation)
        #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: encoded) == permanent)
    }

    @Test("the JSON of an identifier may be its URI alone, and contradicting parts are rejected")
    func jsonParts() throws {
        let uri = permanent.uriRepresentation
        func decoded(_ parts: String) throws -> PersistentIdentifier {
            let json = #"{"implementation":{"uriRepresentation":"\#(uri)"\#(parts)}}"#
            return try JSONDecoder().decode(PersistentIdentifier.self, from: Data(json.utf8))
        }
        #expect(try decoded("") == permanent)
        #expect(try decoded(#","primaryKey":"p42","isTemporary":false"#) == permanent)
        for part in [
            #""primaryKey":"p43""#, #""isTemporary":true"#, #""entityName":"Author""#,
            #""storeIdentifier":"\#(UUID().uuidString)""#,
        ] {
            #expect(throws: DecodingError.self) { try decoded("," + part) }
        }
    }

    @Test("the text of an identifier with ten million bytes is rejected")
    func hugeText() {
        let start = "x-coredata://\(store.uuidString)/"
        let long = String(repeating: "9", count: 10_000_000)
        for text in [long, start + long, "\(start)Article/p\(long)", start + "///" + long] {
            let error = #expect(throws: LarderError.self) {
                try PersistentIdentifier(uriRepresentation: text)
            }
            #expect(error?.code == .malformedIdentifier)
            #expect((error?.message.utf8.count ?? 0) < 200)
        }
    }

    @Test("a short identifier belongs to the given store, and a URI to its own")
    func shortIdentifiers() throws {
        let identifier = PersistentIdentifier(store: store, entityName: "Article", key: 7)
        #expect(identifier.shortText == "Article/p7")
        #expect(try PersistentIdentifier(text: "Article/p7", in: store) == identifier)
        let other = PersistentIdentifier(store: UUID(), entityName: "Article", key: 7)
        #expect(try PersistentIdentifier(text: other.uriRepresentation, in: store) == other)
        let temporary = PersistentIdentifier(temporary: "a/p7", entityName: "Article")
        #expect(temporary.shortText == temporary.uriRepresentation)
        let rejected = [
            "", "/", "p7", "/p7", "Article/", "Article/p", "Article/p0", "Article/p07",
            "Article/p-7", "Article/p 7", "Article/p9223372036854775808", "Article/p7/",
            "/Article/p7", "Art icle/p7", "Article/t7", "Article/P7", "Article/p\u{0667}",
        ]
        for text in rejected {
            let error = #expect(throws: LarderError.self, "\(text)") {
                try PersistentIdentifier(text: text, in: store)
            }
            #expect(error?.code == .malformedIdentifier)
        }
    }

    @Test("identifiers are ordered by store, entity and number")
    func order() {
        let ordered = [
            PersistentIdentifier(temporary: "z", entityName: "Article"),
            PersistentIdentifier(store: store, entityName: "Article", key: 9),
            PersistentIdentifier(store: store, entityName: "Article", key: 10),
            PersistentIdentifier(store: store, entityName: "Author", key: 1),
        ]
        #expect(ordered.reversed().sorted() == ordered)
    }

    @Test("a damaged URI is rejected, or parses to an identifier with that URI")
    func fuzz() throws {
        var generator = SeededGenerator.fromEnvironment("identifiers")
        let samples = [
            permanent.uriRepresentation,
            PersistentIdentifier(temporary: "é 1", entityName: "A_1").uriRepresentation,
        ]
        for sample in samples {
            for _ in 0..<RandomTesting.iterations() {
                let text = Fuzzing.mutated(sample, alphabet: Fuzzing.alphabet, using: &generator)
                do throws(LarderError) {
                    let identifier = try PersistentIdentifier(uriRepresentation: text)
                    let again = try PersistentIdentifier(
                        uriRepresentation: identifier.uriRepresentation)
                    #expect(again == identifier)
                } catch {
                    #expect(error.code == .malformedIdentifier)
                }
            }
        }
    }
}
