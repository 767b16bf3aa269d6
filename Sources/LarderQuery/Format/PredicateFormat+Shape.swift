import LarderModel

extension PredicateFormat {
    /// A format string with `%@` for each literal, so that it has no values. nil and names stay.
    ///
    /// It reads tokens only, so that it needs no arguments. From a part that is not valid on, the
    /// text is `…`.
    package static func shape(of text: String) -> String {
        var lexer = FormatLexer(FormatText(text, name: ""))
        let bytes = lexer.bytes
        var shape: [UInt8] = []
        var end = 0
        while true {
            guard let token = try? lexer.next() else {
                return String(decoding: shape, as: UTF8.self) + "…"
            }
            // The space before the token.
            shape += bytes[end..<token.start]
            end = lexer.position
            if token.kind == .end { return String(decoding: shape, as: UTF8.self) }
            shape += token.isLiteral ? Array("%@".utf8) : Array(bytes[token.start..<end])
        }
    }
}

extension FormatToken {
    fileprivate var isLiteral: Bool {
        switch kind {
        case .string, .integer, .fraction: true
        case .name: [.true, .yes, .false, .no].contains(keyword)
        default: false
        }
    }
}
