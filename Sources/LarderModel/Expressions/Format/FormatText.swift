/// The text of a format string, and what it is to the one who wrote it.
struct FormatText: Hashable, Sendable {
    /// For sentences: `predicate`, `having`.
    let name: String
    let bytes: [UInt8]

    init(_ text: String, name: String) {
        self.name = name
        bytes = Array(text.utf8)
    }

    /// An error at a byte of the text; its column is counted in characters.
    func failure(
        _ code: ErrorCode, _ sentence: String, hint: String? = nil, at place: Int
    ) -> LarderError {
        locating(LarderError(code, sentence, hint: hint), at: place)
    }

    /// The error with the column of a byte.
    func locating(_ error: LarderError, at place: Int) -> LarderError {
        let before = String(decoding: bytes[..<min(place, bytes.count)], as: UTF8.self)
        var located = error
        located.column = before.count + 1
        located.message = "\(name), column \(before.count + 1): \(error.message)"
        return located
    }
}

/// Where in a format string its parts stand, so that an error about a part can point at it.
public struct FormatPlaces: Sendable {
    let text: FormatText
    /// Each part and the byte at which it begins, or at which its operator does.
    private var parts: [(expression: QueryExpression, start: Int)] = []

    init(_ text: FormatText) { self.text = text }

    var count: Int { parts.count }

    mutating func add(_ expression: QueryExpression, at start: Int) {
        parts.append((expression, start))
    }

    /// The error with the column of the part that it is about; as it is if it has a column already,
    /// or if no such part stands in the text. Of equal parts the first is meant.
    public func locating(_ error: LarderError, at expression: QueryExpression) -> LarderError {
        guard error.column == nil,
            let part = parts.first(where: { $0.expression == expression })
        else { return error }
        return text.locating(error, at: part.start)
    }
}
