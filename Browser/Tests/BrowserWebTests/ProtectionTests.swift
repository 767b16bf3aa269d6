import Hummingbird
import Synchronization
import Testing

@testable import BrowserWeb

@Suite("Who may use the pages", .timeLimit(.minutes(5)))
struct ProtectionTests {
    private final class Keys: Sendable {
        private let keys = Mutex<[String]>([])
        func add(_ key: String) { keys.withLock { $0.append(key) } }
        var all: [String] { keys.withLock { $0 } }
        var last: String { all.last ?? "" }
    }

    @Test("a key opens the pages once, for the browser that has the cookie of its session")
    func keys() async throws {
        let store = try await FilledStore(needsKey: true)
        let keys = Keys()
        store.pages.access.begin { keys.add($0) }
        #expect(keys.all.count == 1)
        for path in ["/", "/rows/Book", "/events/rows/Book", "/value/Book/p1/title"] {
            let refused = try await store.pages.get(path)
            #expect(refused.status == 403)
            #expect(refused.text.contains("Open the last address that larder browse has printed"))
            #expect(!refused.text.contains("Book</a>"))
        }
        for wrong in ["", "?key=", "?key=x", "?key=\(keys.last.dropLast())0x"] {
            #expect(try await store.pages.get("/key\(wrong)").status == 403)
        }
        let first = keys.last
        let exchanged = try await store.pages.get("/key?key=\(first)")
        #expect(exchanged.status == 303)
        let cookie = try #require(exchanged.headers[.setCookie])
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        let session = String(cookie.prefix { $0 != ";" })
        #expect(try await store.pages.get("/", headers: [.cookie: session]).status == 200)
        #expect(
            try await store.pages.get("/", headers: [.cookie: "a=b; \(session)"]).status == 200)
        #expect(
            try await store.pages.get("/", headers: [.cookie: session + "0"]).status == 403)

        // The key is used: another browser is refused, and this one is not.
        let reused = try await store.pages.get("/key?key=\(first)")
        #expect(reused.status == 403)
        #expect(reused.text.contains("each opens one browser"))
        let twice = try await store.pages.get("/key?key=\(first)", headers: [.cookie: session])
        #expect(twice.status == 303)
        // Another key was reported.
        #expect(keys.all.count == 2)
        #expect(keys.last != first)
        #expect(try await store.pages.get("/key?key=\(keys.last)").status == 303)
    }

    @Test("the oldest session ends when there are more than the maximum")
    func sessions() {
        let access = Access(needsKey: true)
        let keys = Keys()
        access.begin { keys.add($0) }
        let sessions = (0...Access.sessionsMax).map { _ in access.session(for: keys.last) ?? "" }
        #expect(!access.admits(session: sessions[0]))
        #expect(sessions.dropFirst().allSatisfy { access.admits(session: $0) })
    }

    @Test("a request for another host or from another origin is refused, also with a session")
    func origins() async throws {
        let store = try await FilledStore(isEditable: true)
        for host in ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", ""] {
            let refused = try await store.pages.get("/", host: host)
            #expect(refused.status == 403, "\(host)")
            #expect(refused.text.contains("localhost or 127.0.0.1"))
        }
        for host in ["localhost", "127.0.0.1", "localhost:8080"] {
            #expect(try await store.pages.get("/", host: host).status == 200)
        }
        store.pages.browse.port = 8080
        #expect(try await store.pages.get("/", host: "localhost:8080").status == 200)
        #expect(try await store.pages.get("/", host: "localhost:8081").status == 403)
        store.pages.browse.port = nil
        let foreign: [HTTPFields] = [
            [.origin: "http://example.org"], [.origin: "null"], [.origin: "http://localhost:1"],
            [.origin: "https://localhost"],
        ]
        for headers in foreign {
            let refused = try await store.pages.post(
                "/delete/Book/p2", [("version", "1")], headers: headers)
            #expect(refused.status == 403, "\(headers)")
            #expect(refused.text.contains("A page of another site"))
            #expect(try await store.pages.get("/rows/Book", headers: headers).status == 403)
        }
        let site = try #require(HeaderName.fetchSite)
        for sender in ["cross-site", "same-site", "none"] {
            let refused = try await store.pages.post(
                "/delete/Book/p2", [("version", "1")], headers: [site: sender])
            #expect(refused.status == 403)
        }
        #expect(try await store.client.count("Book") == 121)
        let own = try await store.pages.post(
            "/delete/Book/p2", [("version", "1")],
            headers: [.origin: "http://localhost", site: "same-origin"])
        #expect(own.status == 303)
        #expect(try await store.client.count("Book") == 120)
    }
}

@Suite("Fields of forms")
struct FieldsTests {
    @Test("fields are decoded as a browser encodes them")
    func decoding() throws {
        let fields = try Fields(encoded: "a=1+2%2B&b=%C3%A9&a=x&c&d=l1%0D%0Al2&=e&n=12")
        #expect(fields["a"] == "1 2+")
        #expect(fields.all("a") == ["1 2+", "x"])
        #expect(fields["b"] == "é")
        #expect(fields.has("c") && fields["c"].isEmpty && !fields.has("x"))
        #expect(fields["d"] == "l1\nl2")
        #expect(fields.number("n") == 12 && fields.number("a") == 0)
        #expect(fields.number("n", max: 5) == 5)
    }

    @Test("text that no browser sends is refused")
    func malformed() {
        for text in ["a=%", "a=%4", "a=%zz", "a=%FF", "%00=a", "a=%C3"] {
            #expect(throws: BrowseError.malformedForm) { try Fields(encoded: text) }
        }
        let many = String(repeating: "a&", count: Fields.countMax + 1)
        #expect(throws: BrowseError.malformedForm) { try Fields(encoded: many) }
        #expect(throws: Never.self) {
            try Fields(encoded: String(repeating: "a&", count: Fields.countMax))
        }
    }
}
