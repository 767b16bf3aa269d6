public import HTMLPages

/// A whole page: its title, where it is in the navigation, and what keeps it up to date.
public struct Page: Sendable {
    public enum Section: String, CaseIterable, Sendable {
        case entities, schema, query, history, activity
    }

    public var title: String
    public var section: Section?
    public var main: HTML
    /// The address of the server-sent events that the page's script follows; nil for none.
    public var events: String?
    /// The address of the contents, which the page's script reads again every 2 seconds; nil for
    /// never.
    public var refreshAddress: String?
    /// The page is loaded again after this number of seconds; nil for never.
    public var refreshSeconds: Int?

    public init(
        _ title: String, in section: Section? = nil, events: String? = nil,
        refreshAddress: String? = nil, refreshSeconds: Int? = nil, _ main: HTML
    ) {
        self.title = title
        self.section = section
        self.main = main
        self.events = events
        self.refreshAddress = refreshAddress
        self.refreshSeconds = refreshSeconds
    }

    /// - Parameter store: The name of the store, which is in the title of every page.
    public func html(store: String, isEditable: Bool) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">\(refresh)
        <title>\(title) · \(store)</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/browse.css">
        <script src="/browse.js" defer></script>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header><nav aria-label="Pages"><a class="store" href="/">\(store)</a>
        \(Section.allCases.map(link))
        <span class="mode quiet">\(isEditable ? "editable" : "read-only")</span></nav></header>
        <main id="main" tabindex="-1"\(data("events", events))\(data("refresh", refreshAddress))>
        \(main)
        </main>
        <footer class="quiet">\(Self.keys)</footer>
        </body>
        </html>

        """
    }

    private static let keys: HTML = """
        <span><kbd>j</kbd> <kbd>k</kbd> next and previous row</span>
        <span><kbd>Enter</kbd> open</span> <span><kbd>/</kbd> filter</span>
        <span><kbd>n</kbd> next page</span>
        """

    private var refresh: HTML? {
        refreshSeconds.map { "\n<meta http-equiv=\"refresh\" content=\"\($0)\">" }
    }

    private func data(_ name: HTML, _ address: String?) -> HTML? {
        address.map { " data-\(name)=\"\($0)\"" }
    }

    private func link(_ section: Section) -> HTML {
        let current: HTML = section == self.section ? " aria-current=\"page\"" : ""
        return "<a href=\"\(section.address)\"\(current)>\(section.name)</a>"
    }
}

extension Page.Section {
    var name: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    var address: String {
        switch self {
        case .entities: Link.entities
        case .schema: Link.schema
        case .query: Link.query
        case .history: Link.history
        case .activity: Link.activity
        }
    }
}

/// A page that says what is wrong and what to do.
public func errorPage(
    _ title: String, _ sentence: String, hint: String? = nil, refreshSeconds: Int? = nil
) -> Page {
    let advice: HTML? = hint.map { "\n<p>\($0)</p>" }
    return Page(
        title, refreshSeconds: refreshSeconds,
        """
        <h1>\(title)</h1>
        <p class="error" role="alert">\(sentence)</p>\(advice)
        <p><a href="\(Link.entities)">All entities</a></p>
        """)
}
