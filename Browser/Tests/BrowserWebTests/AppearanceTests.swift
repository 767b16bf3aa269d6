import Chromium
import Foundation
import LarderClient
import Testing

/// The pages that are checked as a whole.
private let paths = [
    "/", "/rows/Book", "/rows/Book?where=(", "/object/Book/p1", "/object/Author/p1", "/history",
    "/schema", "/schema?entity=Book", "/query?entity=Book&where=&group=pages&function=sum&of=pages",
    "/query?entity=Book&where=&group=isLent&group=pages&function=count&of=", "/activity",
    "/edit/Book/p1", "/new/Book", "/delete/Author/p1", "/nowhere",
]

/// The file of axe, an accessibility checker; nil if the tests run without it.
private let axe = ProcessInfo.processInfo.environment["LARDER_AXE"]

@Suite("Pages as people see them", .timeLimit(.minutes(15)))
struct AppearanceTests {
    @Test("no page is wider than a phone, and each has a title, one heading and labelled fields")
    func phone() async throws {
        let opened = try await OpenedStore(["--edit"])
        let window = try await opened.open("/")
        try await window.appear(width: 360, height: 740)
        for path in paths {
            try await window.go(to: opened.server.page(path))
            try await window.shows("library")
            let width = try await window.evaluate("document.documentElement.scrollWidth")
            #expect(Int(width) ?? .max <= 360, "\(path) has \(width) pixels")
            #expect(
                try await window.evaluate("document.querySelectorAll('h1').length") == "1",
                "\(path)")
            let unlabelled = try await window.evaluate(
                """
                [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
                  .filter(field => !field.labels.length && !field.ariaLabel).length
                """)
            #expect(unlabelled == "0", "\(path)")
        }
    }

    @Test("axe finds nothing on any page, in light and dark colours", .enabled(if: axe != nil))
    func accessibility() async throws {
        let script = try String(contentsOfFile: axe ?? "", encoding: .utf8)
        let opened = try await OpenedStore(["--edit"])
        let window = try await opened.open("/")
        for isDark in [false, true] {
            try await window.appear(width: 1_100, height: 800, isDark: isDark)
            for path in paths {
                try await window.go(to: opened.server.page(path))
                try await window.shows("library")
                try await window.evaluate("(() => { \(script); })()")
                let found = try await window.evaluate(
                    """
                    axe.run().then(result => result.violations.map(violation =>
                      `${violation.impact} ${violation.id}: ${violation.nodes.slice(0, 3)
                        .map(node => node.html.slice(0, 150)).join(" | ")}`).join("\\n"))
                    """)
                #expect(found == "", "\(path), dark: \(isDark): \(found)")
            }
        }
    }

    @Test(
        "axe finds a field without a label and a text that is hard to read",
        .enabled(if: axe != nil))
    func plantedFaults() async throws {
        let script = try String(contentsOfFile: axe ?? "", encoding: .utf8)
        let opened = try await OpenedStore()
        let window = try await opened.open("/rows/Book")
        try await window.shows("library")
        try await window.evaluate(
            """
            (() => {
              document.querySelector("label[for=where]").remove();
              const text = document.createElement("p");
              text.textContent = "hard to read";
              text.style.color = "#ccc";
              document.querySelector("main").append(text);
              \(script);
            })()
            """)
        let found = try await window.evaluate(
            "axe.run().then(result => result.violations.map(violation => violation.id).sort())")
        #expect(found == "color-contrast,label")
    }

    @Test("the first row of a large store is shown, and the time is printed")
    func largeStore() async throws {
        let environment = ProcessInfo.processInfo.environment["LARDER_BROWSE_OBJECTS"]
        let count = environment.flatMap { Int($0) } ?? 20_000
        let store = try await StoreServer()
        let client = try await store.connect()
        let rows = (0..<count).lazy.map { number -> [Value] in
            [.string("Book \(number)"), .int(Int64(number % 900))]
        }
        _ = try client.insertAll(
            Insertion("Book"), properties: ["title", "pages"], rows: rows)
        let server = try await BrowseServer(store)
        let browser = try await Chromium()
        let window = try await browser.open(server.keyAddress)
        try await window.shows("Entities")
        let pages = [
            ("/", "Entities"), ("/rows/Book", "Rows 1 to 50"),
            ("/rows/Book?sort=title", "Rows 1 to 50"),
            ("/rows/Book?where=pages%20%3C%20500", "Rows 1 to 50"),
        ]
        for (path, text) in pages {
            try await window.go(to: server.page(path))
            try await window.shows(text)
            let time = try await window.evaluate(
                """
                (() => {
                  const entry = performance.getEntriesByType("navigation")[0];
                  return `${Math.round(entry.responseEnd)} ms for the rows, ` +
                    `${Math.round(entry.domContentLoadedEventEnd)} ms until they are shown`;
                })()
                """)
            print("\(count) objects, \(path): \(time)")
        }
        try await window.go(to: server.page("/rows/Book"))
        try await window.shows("Rows 1 to 50")
        try await window.evaluate("new Promise(done => setTimeout(done, 300))")
        let start = ContinuousClock.now
        _ = try await client.update(
            PersistentIdentifier(text: "Book/p3", in: client.server.storeIdentifier),
            ["title": "Changed by another process"])
        try await window.shows("Changed by another process")
        print("\(count) objects, a change is on the screen after \(ContinuousClock.now - start)")
    }
}
