import Foundation
import LarderClient
import Testing

@testable import BrowserWeb

@Suite("Forms that change objects", .timeLimit(.minutes(5)))
struct EditTests {
    /// The fields of a form as a browser sends them, unchanged.
    private func fields(of html: String) -> [(String, String)] {
        var fields: [(String, String)] = []
        let inputs = html.matches(of: /<input([^>]*)>/).map(\.1)
        for input in inputs {
            guard let name = input.firstMatch(of: /name="([^"]*)"/)?.1 else { continue }
            let isBox = input.contains("type=\"checkbox\"")
            if isBox, !input.contains(" checked") { continue }
            let value = input.firstMatch(of: /value="([^"]*)"/)?.1 ?? ""
            fields.append((String(name), unescaped(value)))
        }
        for area in html.matches(of: /<textarea[^>]*name="([^"]*)"[^>]*>\n([^<]*)<\/textarea>/) {
            let text = unescaped(area.2).replacing("\n", with: "\r\n")
            fields.append((String(area.1), String(text)))
        }
        for choice in html.matches(of: /<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/) {
            let selected = choice.2.firstMatch(of: /value="([^"]*)" selected/)?.1 ?? ""
            fields.append((String(choice.1), String(selected)))
        }
        return fields
    }

    private func unescaped(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&amp;", with: "&")
    }

    private func changed(
        _ fields: [(String, String)], _ name: String, _ value: String
    ) -> [(String, String)] {
        fields.filter { $0.0 != name } + [(name, value)]
    }

    @Test("a form that is sent unchanged changes nothing, and its changed fields alone are stored")
    func editing() async throws {
        let store = try await FilledStore(isEditable: true)
        let identifier = try PersistentIdentifier(
            text: "Book/p1", in: store.client.server.storeIdentifier)
        let before = try #require(try await store.client.object(for: identifier))
        let form = fields(of: try await store.pages.get("/edit/Book/p1").text)
        #expect(form.contains { $0 == ("v.title", markup) })
        let same = try await store.pages.post("/edit/Book/p1", form)
        #expect(same.status == 303)
        #expect(same.headers[.location] == "/object/Book/p1")
        #expect(try await store.client.object(for: identifier) == before)

        var sent = changed(form, "v.pages", " 250 ")
        sent = changed(sent, "v.summary", "two\r\nlines")
        sent = changed(sent, "v.rating", "")
        sent = changed(sent, "v.isLent", "true")
        sent = changed(sent, "v.details", #"{"a": [1]}"#)
        sent = changed(sent, "v.tags", "Tag/p2")
        sent = changed(sent, "v.author", "")
        #expect(try await store.pages.post("/edit/Book/p1", sent).status == 303)
        let after = try #require(try await store.client.object(for: identifier))
        #expect(after["pages"] == 250)
        #expect(after["summary"] == "two\nlines")
        #expect(after["rating"] == .null)
        #expect(after["isLent"] == true)
        #expect(after["details"] == .json(#"{"a": [1]}"#))
        #expect(after["author"] == .null)
        #expect(after["title"] == before["title"])
        #expect(after.version == before.version + 1)
        #expect(
            try await store.client.objects(for: [identifier], properties: ["tags"]).first?["tags"]
                == .objects([
                    PersistentIdentifier(
                        store: store.client.server.storeIdentifier, entityName: "Tag", key: 2)
                ]))
    }

    @Test("nil and the empty text of an optional string are two values of a form")
    func nilAndEmpty() async throws {
        let store = try await FilledStore(isEditable: true)
        let identifier = try PersistentIdentifier(
            text: "Book/p3", in: store.client.server.storeIdentifier)
        let form = fields(of: try await store.pages.get("/edit/Book/p3").text)
        #expect(form.contains { $0 == ("nil.summary", "1") })
        let empty = form.filter { $0.0 != "nil.summary" }
        #expect(try await store.pages.post("/edit/Book/p3", empty).status == 303)
        #expect(try await store.client.object(for: identifier)?["summary"] == "")
        let again = fields(of: try await store.pages.get("/edit/Book/p3").text)
        #expect(!again.contains { $0.0 == "nil.summary" })
        let back = again + [("nil.summary", "1")]
        #expect(try await store.pages.post("/edit/Book/p3", back).status == 303)
        #expect(try await store.client.object(for: identifier)?["summary"] == .null)
    }

    @Test("a wrong value has its message at the field, and the form keeps what was typed")
    func validation() async throws {
        let store = try await FilledStore(isEditable: true)
        let form = fields(of: try await store.pages.get("/edit/Book/p1").text)
        let wrong: [(String, String, String)] = [
            ("pages", "many", "Expected a whole number"),
            ("pages", "-1", "must not be less than 0"),
            ("pages", "9999999999", "Expected a whole number"), ("price", "1,5", "decimal point"),
            ("published", "yesterday", "Expected a date"), ("code", "x", "Expected a UUID"),
            ("details", "{", "column"), ("title", "", "Book.title"),
            ("author", "Ann", "identifier"), ("author", "Tag/p1", "Author"),
            ("tags", "Tag/p1 Tag/x", "identifier"),
        ]
        for (name, text, message) in wrong {
            let answer = try await store.pages.post(
                "/edit/Book/p1", changed(form, "v.\(name)", text))
            #expect(answer.status == 400, "\(name)=\(text)")
            let field =
                answer.text.components(separatedBy: "<div class=\"field\"")
                .first { $0.contains("data-name=\"\(name)\"") } ?? ""
            #expect(field.contains("id=\"message.\(name)\""), "\(name)=\(text): \(answer.text)")
            #expect(field.contains(message), "\(name)=\(text): \(field)")
            #expect(field.contains("aria-invalid=\"true\""))
        }
        let identifier = try PersistentIdentifier(
            text: "Book/p1", in: store.client.server.storeIdentifier)
        #expect(try await store.client.object(for: identifier)?.version == 1)
        let unique = try await store.pages.post("/new/Tag", [("v.name", "tag 2")])
        #expect(unique.status == 400)
        #expect(unique.text.contains("id=\"message.name\""))
        #expect(try await store.pages.post("/new/Thing", []).status == 404)
    }

    @Test("a new object gets the values of its form, and defaults where nothing was typed")
    func inserting() async throws {
        let store = try await FilledStore(isEditable: true)
        let form = fields(of: try await store.pages.get("/new/Book").text)
        #expect(form.contains { $0 == ("v.pages", "0") })
        var sent = changed(form, "v.title", "New <b>")
        sent = changed(sent, "v.author", "Author/p1")
        let answer = try await store.pages.post("/new/Book", sent)
        #expect(answer.headers[.location] == "/object/Book/p122", "\(answer.text)")
        let page = try await store.pages.get("/object/Book/p122").text
        #expect(page.contains("<h1>New &lt;b&gt;</h1>"))
        let book = try await store.client.fetch("Book", where: "title == \"New <b>\"").first
        #expect(book?["summary"] == .null)
        #expect(book?["isLent"] == false)
    }

    @Test("a form of an object that somebody else has changed shows both values")
    func conflict() async throws {
        let store = try await FilledStore(isEditable: true)
        let identifier = try PersistentIdentifier(
            text: "Book/p5", in: store.client.server.storeIdentifier)
        let form = fields(of: try await store.pages.get("/edit/Book/p5").text)
        _ = try await store.client.update(
            identifier, ["title": "Theirs", "pages": 77])
        var sent = changed(form, "v.title", "Mine")
        sent = changed(sent, "v.rating", "3")
        let answer = try await store.pages.post("/edit/Book/p5", sent)
        #expect(answer.status == 409)
        #expect(answer.text.contains("Somebody else has changed this object"))
        #expect(answer.text.contains("Stored meanwhile: <span class=\"text\">Theirs</span>"))
        let mine = fields(of: answer.text)
        #expect(mine.contains { $0 == ("v.title", "Mine") })
        #expect(mine.contains { $0 == ("v.pages", "77") })
        #expect(try await store.client.object(for: identifier)?["title"] == "Theirs")
        #expect(try await store.pages.post("/edit/Book/p5", mine).status == 303)
        let stored = try await store.client.object(for: identifier)
        #expect(stored?["title"] == "Mine")
        #expect(stored?["pages"] == 77)
        #expect(stored?["rating"] == 3.0)
    }

    @Test("a deletion shows what it deletes, and is refused after a change and by a deny rule")
    func deletion() async throws {
        let store = try await FilledStore(isEditable: true)
        let author = try await store.pages.get("/delete/Author/p1").text
        #expect(author.contains("<li>121 Book:"))
        #expect(author.contains("Book.loans: 1"))
        #expect(author.contains("Book.tags: 2"))
        let denied = try await store.pages.post("/delete/Author/p1", [("version", "1")])
        #expect(denied.status == 409)
        #expect(denied.text.contains("class=\"error\""))
        #expect(try await store.client.count("Author") == 1)
        #expect(try await store.pages.post("/delete/Book/p9", [("version", "7")]).status == 409)
        let done = try await store.pages.post("/delete/Book/p9", [("version", "1")])
        #expect(done.headers[.location] == "/rows/Book")
        #expect(try await store.client.count("Book") == 120)
        #expect(try await store.pages.get("/delete/Book/p9").status == 404)
    }

    @Test("a form that is too long or not of these pages is refused with a page")
    func longForms() async throws {
        let store = try await FilledStore(isEditable: true)
        let long = try await store.pages.post(
            "/edit/Book/p1", [("v.title", String(repeating: "x", count: Fields.bytesMax))])
        #expect(long.status == 413)
        #expect(long.text.contains("The form is too long"))
        let bad = try await store.pages.send(
            .post, "/edit/Book/p1", host: "localhost", body: "a=%FF")
        #expect(bad.status == 400)
    }
}
