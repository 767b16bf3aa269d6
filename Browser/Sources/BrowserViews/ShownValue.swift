public import HTMLPages
public import LarderClient

/// A value of the store as a page shows it: cut to a length, so that a page has a bounded size.
public enum ShownValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case text(String, isCut: Bool)
    case date(String)
    case uuid(String)
    case url(String, isCut: Bool)
    case json(String, isCut: Bool)
    /// Data; the number of bytes and the type of image are unknown in a list of rows.
    case data(byteCount: Int?, imageType: String?)
    case object(ShownObject)
    /// The number of objects of a to-many relationship.
    case count(Int64)

    /// - Parameter charactersMax: The longest text.
    public init(_ value: Value, charactersMax: Int) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int, .float, .double, .decimal: self = .number(value.text)
        case .string(let text):
            let (text, isCut) = Self.cut(text, charactersMax)
            self = .text(text, isCut: isCut)
        case .date: self = .date(value.text)
        case .uuid: self = .uuid(value.text)
        case .url:
            let (text, isCut) = Self.cut(value.text, charactersMax)
            self = .url(text, isCut: isCut)
        case .json(let text):
            let (text, isCut) = Self.cut(text, charactersMax)
            self = .json(text, isCut: isCut)
        case .data(let data):
            self = .data(byteCount: data.count, imageType: ImageType.of(data.prefix(16)))
        case .object(let identifier): self = .object(ShownObject(identifier, label: nil))
        case .objects(let identifiers): self = .count(Int64(identifiers.count))
        }
    }

    private static func cut(_ text: String, _ charactersMax: Int) -> (String, isCut: Bool) {
        // A character may have any number of scalars, so bytes have a maximum, too.
        let bytesMax = charactersMax * 32
        let isLong = text.utf8.count > bytesMax
        var start = isLong ? String(decoding: text.utf8.prefix(bytesMax), as: UTF8.self) : text
        // The first bytes may end within a scalar.
        while isLong, start.unicodeScalars.last == "\u{FFFD}" { start.unicodeScalars.removeLast() }
        let end = start.index(
            start.startIndex, offsetBy: charactersMax, limitedBy: start.endIndex)
        let isCut = isLong || end.map { $0 < start.endIndex } ?? false
        return (String(start[..<(end ?? start.endIndex)]), isCut)
    }
}

/// An object with the text by which a reader recognizes it.
public struct ShownObject: Equatable, Sendable {
    public var identifier: PersistentIdentifier
    /// Nil if the entity has no attribute for it, or the object no value.
    public var label: String?

    public init(_ identifier: PersistentIdentifier, label: String?) {
        self.identifier = identifier
        self.label = label
    }

    public var text: String {
        guard let label, !label.isEmpty else { return identifier.shortText }
        return label
    }

    public var link: HTML {
        """
        <a href="\(Link.object(identifier))" title="\(identifier.shortText)">\(text)</a>
        """
    }
}

/// The types of image that a page shows. SVG is not among them, because it can contain scripts.
public enum ImageType {
    /// The type by the first bytes; nil for other data.
    public static func of(_ start: some Collection<UInt8>) -> String? {
        let bytes = Array(start.prefix(12))
        func begins(_ with: [UInt8], at offset: Int = 0) -> Bool {
            bytes.dropFirst(offset).starts(with: with)
        }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if begins([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) { return "image/gif" }
        if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) { return "image/webp" }
        return nil
    }
}

extension ShownValue {
    /// Whether a column of such values is aligned to the right.
    public var isNumber: Bool {
        switch self {
        case .number, .count: true
        default: false
        }
    }

    /// The value in a cell of a table.
    public var cell: HTML {
        switch self {
        case .text(let text, let isCut): "<span class=\"text\">\(text)\(Self.more(isCut))</span>"
        case .json(let text, let isCut): "<code class=\"text\">\(text)\(Self.more(isCut))</code>"
        case .data: "<span class=\"quiet\">data</span>"
        default: short
        }
    }

    /// The value on the page of its object.
    ///
    /// - Parameter address: Where the whole value is, for data and for a text that is cut.
    public func whole(at address: String) -> HTML {
        switch self {
        case .text(let text, let isCut):
            Self.folded(text, name: "Text", "<div class=\"text\">\(text)</div>")
                + Self.whole(isCut, address)
        case .json(let text, let isCut):
            JSONView.html(text, isCut: isCut) + Self.whole(isCut, address)
        case .data(let byteCount, let imageType):
            Self.data(byteCount ?? 0, imageType, address)
        default: short
        }
    }

    private var short: HTML {
        switch self {
        case .null: "<span class=\"nil\">nil</span>"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): "\(text)"
        case .date(let text): Self.date(text)
        case .uuid(let text): "<code>\(text)</code>"
        case .url(let text, let isCut): Self.url(text, isCut)
        case .object(let object): object.link
        case .count(let count): "\(count)"
        case .text, .json, .data: ""
        }
    }

    /// `2026-01-31T08:15:00Z` with a space and the name of the zone, which people read.
    private static func date(_ text: String) -> HTML {
        let parts = text.split(separator: "T", maxSplits: 1)
        guard text.hasSuffix("Z"), parts.count == 2 else { return "\(text)" }
        let time = parts[1].dropLast()
        let shown = time == "00:00:00" ? String(parts[0]) : "\(parts[0]) \(time)"
        return "<time datetime=\"\(text)\">\(shown)<span class=\"quiet\"> UTC</span></time>"
    }

    /// A link only for the schemes that a browser opens without running anything.
    private static func url(_ text: String, _ isCut: Bool) -> HTML {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard !isCut, ["http", "https"].contains(scheme) else {
            return "<span class=\"text\">\(text)\(more(isCut))</span>"
        }
        return "<a class=\"text\" href=\"\(text)\" rel=\"noopener noreferrer\">\(text)</a>"
    }

    private static func data(_ byteCount: Int, _ imageType: String?, _ address: String) -> HTML {
        let size = "\(byteCount) \(byteCount == 1 ? "byte" : "bytes")"
        let link: HTML = "<a href=\"\(address)\" download>\(size)</a>"
        guard imageType != nil else { return link }
        return """
            <img class="data" src="\(address)" alt="Image, \(size)" loading="lazy"><br>\(link)
            """
    }

    /// A long text is folded.
    static func folded(_ text: String, name: HTML, _ html: HTML) -> HTML {
        let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
        guard text.utf8.count > 600 || lines > 8 else { return html }
        let length = "\(text.count) characters, \(lines) \(lines == 1 ? "line" : "lines")"
        let start = String(text.prefix(80).prefix { !$0.isNewline })
        return """
            <details><summary>\(name): \(start)… <span class="quiet">\(length)</span></summary>
            \(html)</details>
            """
    }

    private static func more(_ isCut: Bool) -> String { isCut ? "…" : "" }

    private static func whole(_ isCut: Bool, _ address: String) -> HTML {
        guard isCut else { return "" }
        return """
            <p class="quiet">The page shows the beginning of the value. \
            <a href="\(address)" download>Download it all</a></p>
            """
    }
}

extension HTML {
    static func + (left: HTML, right: HTML) -> HTML { "\(left)\(right)" }
}
