import Foundation
import Hummingbird
import LarderClient
import Testing

@testable import BrowserWeb

@Suite("Pages without a browser", .timeLimit(.minutes(5)))
struct HandlerTests {
    /// Markup that a text of the store must not become on any page.
    private func expectEscaped(_ text: String, _ place: String) {
        #expect(!text.contains("<script>alert"), "\(place)")
        #expect(!text.contains("alert('x')"), "\(place)")
        #expect(!text.contains("\u{202E}"), "\(place)")
        #expect(!text.contains("&lt;h"), "\(place): HTML of the page is escaped")
    }

    @Test("every page of a store has its objects, and shows markup in them as text")
    func pages() async throws {
        let store = try await FilledStore()
        let expected: [(String, String)] = [
            ("/", ">Book</a></th><td class=\"number\" data-count=\"/count/Book\">…</td>"),
            ("/rows/Book", "data-id=\"Book/p50\""), ("/rows/Author", "Ann &lt;script&gt;"),
            ("/rows/Tag?sort=name", "tag 2"), ("/rows/Thing", "data-id=\"Note/p1\""),
            ("/rows/Book?where=isLent%20==%20true", "No object satisfies the filter."),
            ("/object/Author/p1", "<img class=\"data\" src=\"/value/Author/p1/portrait\""),
            ("/object/Author/p1", "<a class=\"text\" href=\"https://example.org/a?b=c&amp;d=e\""),
            ("/object/Book/p1", "Note.about <a href="), ("/object/Book/p1", "<details"),
            ("/object/Book/p1", "&lt;b&gt;</span>: <details>"),
            ("/object/Note/p1", "<dt>about"), ("/history", "inserted 121 Book"),
            ("/history/Book/p1", "inserted <a href=\"/object/Book/p1\">"),
            ("/schema", "<svg "), ("/schema?entity=Book", "delete rule deny"),
            ("/query?entity=Book&where=pages%20%3E%20100", "<td class=\"number\">120</td>"),
            (
                "/query?entity=Book&where=&group=isLent&group=pages&function=count&of=",
                "class=\"bar\""
            ),
            ("/query?entity=Book&where=&group=pages&function=sum&of=pages", "class=\"curve\""),
            ("/activity", "larder-browse"), ("/count/Book", "121"),
        ]
        for (path, text) in expected where path != "/activity" {
            let answer = try await store.pages.get(path)
            #expect(answer.status == 200, "\(path)")
            #expect(answer.text.contains(text), "\(path) lacks \(text): \(answer.text)")
            expectEscaped(answer.text, path)
        }
        let activity = try await store.pages.get("/activity")
        #expect(activity.text.contains("<h2>Connections</h2>"))
        #expect(activity.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
    }

    /// The address of a link to another page of rows; nil if there is none.
    private func link(_ id: String, in text: String) -> String? {
        let link = text.matches(of: /id="(next|previous)" rel="[a-z]*" href="([^"]*)"/)
            .first { $0.1 == id }
        return link.map { String($0.2.replacing("&amp;", with: "&")) }
    }

    @Test("pages of rows have each object once, by a keyset cursor with ties and nil, also back")
    func paging() async throws {
        let store = try await FilledStore()
        for sort in ["", "pages:desc", "published", "author.name"] {
            var path: String? = "/rows/Book?sort=\(sort)"
            var found: [Substring] = []
            var pages: [[Substring]] = []
            var last = ""
            while let next = path {
                last = try await store.pages.get(next).text
                let rows = last.matches(of: /data-id="(Book\/p\d+)"/).map(\.1)
                found += rows
                pages.append(rows)
                #expect(rows.count <= RowsReader.rowsMax)
                path = link("next", in: last)
            }
            #expect(pages.count == 3, "\(sort)")
            for expected in pages.dropLast().reversed() {
                let previous = try #require(link("previous", in: last))
                last = try await store.pages.get(previous).text
                #expect(last.matches(of: /data-id="(Book\/p\d+)"/).map(\.1) == expected)
            }
            #expect(link("previous", in: last) == nil)
            #expect(found.count == 121, "\(sort)")
            #expect(Set(found).count == 121, "\(sort)")
        }
        let last = try await store.pages.get("/rows/Book?sort=pages&offset=120&n=120").text
        #expect(last.contains("Rows 121 to 121"))
        #expect(last.contains("data-id=\"Book/p1\""))
    }

    @Test("the data of an object is sent as a file that a browser does not interpret")
    func values() async throws {
        let store = try await FilledStore()
        let image = try await store.pages.get("/value/Author/p1/portrait")
        #expect(image.headers[.contentType] == "image/png")
        #expect(image.bytes == [UInt8](png))
        let html = Data("<html><script>1</script>".utf8)
        _ = try await store.client.update(
            PersistentIdentifier(text: "Author/p1", in: store.client.server.storeIdentifier),
            ["portrait": .data(html)])
        let other = try await store.pages.get("/value/Author/p1/portrait")
        #expect(other.headers[.contentType] == "application/octet-stream")
        #expect(other.headers[.contentDisposition]?.hasPrefix("attachment") == true)
        #expect(other.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
        let text = try await store.pages.get("/value/Book/p1/summary")
        #expect(text.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(try await store.pages.get("/value/Book/p1/tags").status == 404)
    }

    @Test("a bad address has a page that says what is wrong, and no other page is lost")
    func badAddresses() async throws {
        let store = try await FilledStore()
        let expected: [(String, Int, String)] = [
            ("/nowhere", 404, "This page does not exist"),
            ("/rows/Books", 404, "Is Book meant?"), ("/rows/%3Cb%3E", 404, "no entity %3Cb%3E"),
            ("/object/Book/p99999", 404, "Book/p99999 does not exist."),
            ("/object/Book/x", 404, "does not exist"), ("/object/Book/p0", 404, "does not exist"),
            ("/object/Nobody/p1", 404, "This entity does not exist"),
            ("/value/Book/p1/nothing", 404, "This value does not exist"),
            ("/rows/Book?where=pages%20%3D%3D", 400, "column 9"),
            ("/rows/Book?where=nam%20%3D%3D%201", 400, "UNKNOWN_PROPERTY"),
            ("/rows/Book?sort=nam", 400, "UNKNOWN_PROPERTY"),
            ("/rows/Book?after=x", 400, "not one of these pages"),
            ("/rows/Book?after=%5B%221%22%2C%222%22%5D", 400, "not one of these pages"),
            ("/rows/Book?where=%FF", 400, "not one of these pages"),
            ("/rows/Book?where=%0", 400, "not one of these pages"),
            ("/rows/Book?where=%00", 400, "not one of these pages"),
            ("/query?entity=Book&where=&function=sum&of=", 400, "needs an expression"),
            ("/query?entity=Book&where=&function=&of=pages", 400, "has no function"),
            ("/query?entity=Book&where=(", 400, "<mark>"),
            ("/query?entity=No&where=", 404, "This entity does not exist"),
            ("/edit/Book/p1", 403, "The pages are read-only"),
            ("/new/Book", 403, "The pages are read-only"),
            ("/delete/Book/p1", 403, "The pages are read-only"),
        ]
        for (path, status, text) in expected {
            let answer = try await store.pages.get(path)
            #expect(answer.status == status, "\(path)")
            #expect(answer.text.contains(text), "\(path) lacks \(text): \(answer.text)")
            expectEscaped(answer.text, path)
        }
        let long = try await store.pages.get(
            "/rows/Book?where=" + Pages.encoded(String(repeating: "(", count: 2_000)))
        #expect(long.status == 400)
        let clamped = try await store.pages.get("/rows/Book?n=99999999999999999999&offset=-1")
        #expect(clamped.status == 200)
        for form in [[("version", "1")], []] {
            let answer = try await store.pages.post("/edit/Book/p1", form)
            #expect(answer.status == 403)
        }
    }

    @Test("a page says that the server does not answer, and is loaded again until it does")
    func restart() async throws {
        let store = try await FilledStore()
        #expect(try await store.pages.get("/rows/Book").status == 200)
        store.server.stop()
        let lost = try await store.pages.get("/rows/Book")
        #expect(lost.status == 503)
        #expect(lost.text.contains("The server does not answer"))
        #expect(lost.text.contains("http-equiv=\"refresh\" content=\"2\""))
        let again = try await StoreServer(in: store.server.folder)
        let other = try await again.connect()
        #expect(try await other.count("Book") == 121)
        #expect(try await store.pages.get("/rows/Book").status == 200)
    }
}
