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
    private struct Part {
        var expression: QueryExpression
        /// The byte at which it begins, or at which its operator does.
        var start: Int
        /// The place of the part that it is an operand of.
        var parent: Int?
    }

    /// Operands before what they are operands of.
    private var parts: [Part] = []

    init(_ text: FormatText) { self.text = text }

    var count: Int { parts.count }

    mutating func add(_ expression: QueryExpression, at start: Int) {
        var place = parts.count - 1
        for operand in expression.children.reversed() {
            // A key path's base has no place of its own, and the next operand is not far.
            var candidate = place
            while candidate >= 0, parts[candidate].parent != nil { candidate -= 1 }
            guard candidate >= 0, parts[candidate].expression == operand else { continue }
            parts[candidate].parent = parts.count
            place = candidate - 1
        }
        parts.append(Part(expression: expression, start: start))
    }

    /// The error with the column of the part that it is about; as it is if it has a column
    /// already, or if no such part stands in the text.
    ///
    /// - Parameter path: The part, and what it is in, from the inside out, perhaps with gaps.
    ///   Of equal parts the one that is nearest to what it is in is meant, or the first.
    public func locating(_ error: LarderError, at path: [QueryExpression]) -> LarderError {
        guard error.column == nil, let expression = path.first else { return error }
        let candidates = parts.indices.filter { parts[$0].expression == expression }
        let nearest = candidates.min {
            distances(from: $0, path).lexicographicallyPrecedes(distances(from: $1, path))
        }
        return nearest.map { text.locating(error, at: parts[$0].start) } ?? error
    }

    public func locating(_ error: LarderError, at expression: QueryExpression) -> LarderError {
        locating(error, at: [expression])
    }

    /// How many parts outward from a part each further expression of a path is found.
    private func distances(from place: Int, _ path: [QueryExpression]) -> [Int] {
        var place = place
        var distances: [Int] = []
        for expression in path.dropFirst() {
            var distance = 0
            var outer = parts[place].parent
            while let next = outer, parts[next].expression != expression {
                outer = parts[next].parent
                distance += 1
            }
            guard let found = outer else { return distances + [.max] }
            distances.append(distance)
            place = found
        }
        return distances
    }
}
