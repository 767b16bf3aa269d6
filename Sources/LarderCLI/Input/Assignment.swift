import ArgumentParser
import LarderModel

/// A `key=text` or `key:=JSON` argument of `insert` and `update`.
struct Assignment {
    enum Content {
        /// Text that is converted to the property's type. For a string property, it is the value.
        case text(String)
        case json(String)
        /// An empty field of a CSV file.
        case null
    }

    let name: String
    let content: Content

    init(name: String, content: Content) {
        self.name = name
        self.content = content
    }

    init?(argument: String) {
        guard let end = argument.firstIndex(of: "=") else { return nil }
        let key = argument[..<end]
        let rest = String(argument[argument.index(after: end)...])
        let isJSON = key.hasSuffix(":")
        self.name = String(isJSON ? key.dropLast() : key)
        self.content = isJSON ? .json(rest) : .text(rest)
        guard !name.isEmpty else { return nil }
    }
}

extension Assignment {
    /// - Throws: `ValidationError`, a usage error, for the first argument of another form.
    static func all(_ arguments: [String]) throws -> [Assignment] {
        try arguments.map { argument in
            guard let assignment = Assignment(argument: argument),
                assignment.name.last?.isWhitespace == false
            else {
                let shown = EscapedText.escaped(String(argument.prefix(40)))
                let hasSpace = argument.contains("=") || arguments.contains { $0.hasPrefix("=") }
                throw ValidationError(
                    "'\(shown)' is not of the form key=text or key:=JSON"
                        + (hasSpace ? "; write no space before the sign" : ""))
            }
            return assignment
        }
    }
}
