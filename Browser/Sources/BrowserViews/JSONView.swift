import HTMLPages
import LarderClient

/// A JSON document as a tree that a reader folds. Each text of it is escaped.
enum JSONView {
    /// Elements and members that are shown; further ones are counted.
    static let valuesMax = 2_000

    static func html(_ text: String, isCut: Bool) -> HTML {
        guard !isCut, let value = try? JSONValue(parsing: text) else {
            return ShownValue.folded(text, name: "JSON", "<pre class=\"json\">\(text)</pre>")
        }
        var left = valuesMax
        return "<div class=\"json\">\(tree(value, depth: 0, &left))</div>"
    }

    private static func tree(_ value: JSONValue, depth: Int, _ left: inout Int) -> HTML {
        switch value {
        case .array(let elements):
            let parts = list(elements, depth, &left) { _ in "" }
            return folded(parts, "[", "]", elements.count, "element", depth)
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            let parts = list(sorted.map(\.value), depth, &left) {
                "<span class=\"key\">\(sorted[$0].key)</span>: "
            }
            return folded(parts, "{", "}", members.count, "member", depth)
        default: return "<span class=\"\(kind(value))\">\(value.text)</span>"
        }
    }

    private static func list(
        _ values: [JSONValue], _ depth: Int, _ left: inout Int, _ key: (Int) -> HTML
    ) -> [HTML] {
        var parts: [HTML] = []
        for (index, value) in values.enumerated() {
            guard left > 0 else {
                parts.append("<li class=\"quiet\">and \(values.count - index) more</li>")
                break
            }
            left -= 1
            parts.append("<li>\(key(index))\(tree(value, depth: depth + 1, &left))</li>")
        }
        return parts
    }

    private static func folded(
        _ parts: [HTML], _ opening: HTML, _ closing: HTML, _ count: Int, _ noun: String,
        _ depth: Int
    ) -> HTML {
        guard count > 0 else { return "\(opening)\(closing)" }
        let isOpen: HTML = depth < 1 && count <= 20 ? " open" : ""
        return """
            <details\(isOpen)><summary>\(opening) <span class="quiet">\(count) \
            \(count == 1 ? noun : noun + "s")</span> \(closing)</summary>
            <ul>\(parts)</ul></details>
            """
    }

    private static func kind(_ value: JSONValue) -> HTML {
        switch value {
        case .string: "string"
        case .null: "nil"
        default: "number"
        }
    }
}
