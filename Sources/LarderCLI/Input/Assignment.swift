import ArgumentParser
import LarderModel

/// `key=text` or `key:=JSON`, as `insert` and `update` take them.
struct Assignment {
    enum Content {
        /// What the property's type makes of it; for a string, itself, empty or not.
        case text(String)
        case json(String)
    }

    let name: String
    let content: Content

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
    /// - Throws: `ValidationError`, a usage error, that names the first that is none.
    static func all(_ arguments: [String]) throws -> [Assignment] {
        try arguments.map { argument in
            guard let assignment = Assignment(argument: argument) else {
                let shown = EscapedText.escaped(String(argument.prefix(40)))
                throw ValidationError("'\(shown)' is neither key=text nor key:=JSON")
            }
            return assignment
        }
    }
}
