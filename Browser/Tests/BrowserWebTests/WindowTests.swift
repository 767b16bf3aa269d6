import Chromium
import Foundation
import LarderClient
import Testing

@testable import BrowserWeb

@Suite("Pages in a browser", .timeLimit(.minutes(10)))
struct WindowTests {
    @Test("a reader goes from entities to rows, filters, sorts, pages and follows links by clicks")
    func reading() async throws {
        let opened = try await OpenedStore()
        let window = try await opened.open("/")
        try await window.shows("Book")
        try await window.shows("121")
        try await window.click("a[href='/rows/Book']")
        try await window.shows("Rows 1 to 50")
        try await window.shows("121")
        try await window.click("#next")
        try await window.shows("to 100")
        try await window.type("pages > 118", into: "#where")
        try await window.click("form.filter button")
        try await window.shows("to 3")
        try await window.type("pages > ", into: "#where")
        try await window.click("form.filter button")
        try await window.shows("MALFORMED_PREDICATE")
        #expect(try await window.evaluate("document.querySelector('#where').value") == "pages >")
        try await window.type("pages > 110", into: "#where")
        try await window.click("form.filter button")
        try await window.shows("to 11")
        try await window.click("th a[href*='sort=title']")
        try await window.shows("▲")
        try await window.click("th[aria-sort=ascending] a")
        try await window.shows("▼")
        #expect(try await window.text(of: "th[aria-sort=descending]").contains("title"))
        try await window.click("#rows tr:first-child th a")
        try await window.shows("Related objects")
        try await window.click("[data-name=author] dd a")
        try await window.shows("books 121")
        try await window.click("[data-name=books] h3 a")
        try await window.shows("Rows 1 to 50")
        try await window.shows("121")
    }

    @Test("markup in values is shown as text and is never run")
    func markupInValues() async throws {
        let opened = try await OpenedStore()
        for path in ["/rows/Book", "/object/Book/p1", "/object/Author/p1", "/history"] {
            let window = try await opened.open(path)
            try await window.shows("Book")
            #expect(
                try await window.evaluate("document.querySelectorAll('main script').length") == "0")
            #expect(try await window.evaluate("document.querySelectorAll('main i').length") == "0")
        }
        let window = try await opened.open("/object/Book/p1")
        try await window.shows("<script>alert('x')</script>\"&⟦U+202E⟧")
        // The policy of the page admits no script but its own.
        let inserted = try await window.evaluate(
            """
            new Promise(resolve => {
              const script = document.createElement("script");
              script.textContent = "window.wasRun = true";
              document.body.append(script);
              setTimeout(() => resolve(window.wasRun === true), 50);
            })
            """)
        #expect(inserted == "false")
    }

    @Test("rows light up as another client changes, adds and deletes objects")
    func liveRows() async throws {
        let opened = try await OpenedStore()
        let window = try await opened.open("/rows/Book?sort=pages:desc")
        let later = try await opened.open("/rows/Book")
        try await window.shows("Book 120")
        try await later.shows("Book 30")
        try await window.evaluate("new Promise(done => setTimeout(done, 300))")
        _ = try await opened.client.update(opened.identifier("Book/p120"), ["title": "Changed"])
        try await window.shows("Changed")
        #expect(
            try await window.evaluate("document.querySelector('tr.changed').dataset.id")
                == "Book/p120")
        try await window.shows("Rows: 1 changed")
        _ = try await opened.client.insert("Book", ["title": "Newest", "pages": 999])
        try await window.shows("Newest")
        #expect(
            try await window.evaluate("document.querySelector('tr.added').dataset.id")
                == "Book/p122")
        try await window.shows("122")
        try await opened.client.delete(opened.identifier("Book/p122"))
        try await window.shows("Book 121")
        #expect(
            try await window.evaluate("document.querySelector('[data-id=\"Book/p122\"]')")
                == "null")
        // A relationship that changes from its other side, and a page with a cursor.
        _ = try await opened.client.update(opened.identifier("Author/p1"), ["name": "Bea"])
        try await window.shows("Bea")
        try await later.click("#next")
        try await later.shows("Book 60")
        try await later.evaluate("new Promise(done => setTimeout(done, 300))")
        _ = try await opened.client.update(opened.identifier("Book/p61"), ["title": "On page 2"])
        try await later.shows("On page 2")
    }

    @Test("the page of an object shows changes of others, and its last values after its deletion")
    func liveObject() async throws {
        let opened = try await OpenedStore(["--edit"])
        let window = try await opened.open("/object/Book/p7")
        try await window.shows("Book 6")
        try await window.evaluate("new Promise(done => setTimeout(done, 300))")
        _ = try await opened.client.update(opened.identifier("Book/p7"), ["pages": 4321])
        try await window.shows("4321")
        try await window.shows("Somebody has changed this object.")
        #expect(
            try await window.evaluate("document.querySelector('.changed').dataset.name") == "pages")
        try await opened.client.delete(opened.identifier("Book/p7"))
        try await window.shows("This object was deleted.")
        try await window.shows("4321")
        #expect(try await window.evaluate("document.getElementById('actions').hidden") == "true")
        try await window.evaluate("location.reload()")
        try await window.shows("Book/p7 does not exist.")
    }

    @Test("keys move along the rows, open an object, focus the filter and leave it")
    func keyboard() async throws {
        let opened = try await OpenedStore()
        let window = try await opened.open("/rows/Book?sort=pages")
        try await window.shows("Book 1")
        let focused =
            "document.activeElement.closest('tr')?.dataset.id ?? document.activeElement.id"
        try await window.press("j")
        #expect(try await window.evaluate(focused) == "Book/p2")
        try await window.press("j")
        try await window.press("j")
        try await window.press("k")
        #expect(try await window.evaluate(focused) == "Book/p3")
        try await window.press("/")
        #expect(try await window.evaluate(focused) == "where")
        try await window.press("Escape", code: 27)
        try await window.press("n")
        try await window.shows("to 100")
        try await window.press("j")
        try await window.press("Enter")
        try await window.shows("Version 1")
    }

    @Test("an object is edited, added and deleted by clicks, and a conflict shows both values")
    func editing() async throws {
        let opened = try await OpenedStore(["--edit"])
        let window = try await opened.open("/object/Book/p5")
        try await window.shows("Book 4")
        try await window.click("#actions a[href='/edit/Book/p5']")
        try await window.shows("Save")
        try await window.type("many", into: "[id='v.pages']")
        try await window.click("form.fields button")
        try await window.shows("Expected a whole number")
        try await window.type("45", into: "[id='v.pages']")
        try await window.type("Mine", into: "[id='v.title']")
        _ = try await opened.client.update(opened.identifier("Book/p5"), ["title": "Theirs"])
        try await window.click("form.fields button")
        try await window.shows("Stored meanwhile: Theirs")
        try await window.click("form.fields button")
        try await window.shows("Version 3")
        #expect(try await window.text(of: "h1") == "Mine")

        try await window.click("#actions a.danger")
        try await window.shows("No other object is deleted.")
        try await window.click("form button.danger")
        try await window.shows("Rows 1 to 50")
        #expect(try await opened.client.count("Book") == 120)
        try await window.click("a[href='/new/Book']")
        try await window.shows("New Book")
        try await window.type("Added <b>", into: "[id='v.title']")
        try await window.type("Author/p1", into: "[id='v.author']")
        try await window.click("form.fields button")
        try await window.shows("Version 1")
        #expect(try await window.text(of: "h1") == "Added <b>")
    }

    @Test("a page says that the server is away, and shows changes again when it is back")
    func restart() async throws {
        let opened = try await OpenedStore()
        let window = try await opened.open("/rows/Tag")
        try await window.shows("tag 2")
        let loading = try await opened.open("/rows/Author")
        try await loading.shows("Ann")
        try await window.evaluate("new Promise(done => setTimeout(done, 300))")
        opened.store.stop()
        try await window.shows("The server does not answer.")
        try await loading.evaluate("location.reload()")
        try await loading.shows("This page is loaded again every 2 seconds")
        let again = try await StoreServer(in: opened.store.folder)
        let client = try await again.connect()
        _ = try await client.update(opened.identifier("Tag/p2"), ["name": "after the restart"])
        try await window.shows("after the restart")
        try await loading.shows("Ann")
    }

    @Test("a second browser with a used key, and a page of another origin, are refused with advice")
    func strangers() async throws {
        let opened = try await OpenedStore()
        let other = try await Chromium()
        let window = try await other.open(opened.server.keyAddress)
        try await window.shows("each opens one browser")
        try await window.go(to: opened.server.page("/rows/Book"))
        try await window.shows("This browser has no key for the store.")
        // The first browser opens the address again, and is let in by its session.
        try await opened.browser.open(opened.server.keyAddress).shows("Entities")

        // Another port is another origin on the same host, to which cookies are sent.
        let stranger = try await BrowseServer(opened.store)
        let page = try await opened.browser.open(stranger.page("/nowhere"))
        try await page.shows("This browser has no key")
        let target = opened.server.page("/delete/Book/p3").absoluteString
        try await page.evaluate(
            """
            (() => {
              const form = document.createElement("form");
              form.method = "post";
              form.action = "\(target)";
              document.body.append(form);
              form.submit();
            })()
            """)
        #expect(try await opened.client.count("Book") == 121)
        let read = try await page.evaluate(
            "fetch('\(opened.server.page("/rows/Book"))', { credentials: 'include' })"
                + ".then(() => 'read', () => 'refused')")
        #expect(read == "refused")
    }
}
