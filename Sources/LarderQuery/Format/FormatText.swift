import LarderModel

/// The text of a format string and its name in error messages.
struct FormatText: Hashable, Sendable {
    /// The role of the text in the query: `predicate`, `having`.
    let name: String
    let bytes: [UInt8]

    init(_ text: String, name: String) {
        self.name = name
        bytes = Array(text.utf8)
    }

    /// An error at a byte of the text, with its column counted in characters.
    func failure(
        _ code: ErrorCode, _ sentence: String, hint: String? = nil, at offset: Int
    ) -> LarderError {
        locating(LarderError(code, sentence, hint: hint), at: offset)
    }

    /// The error with the column of a byte.
    func locating(_ error: LarderError, at offset: Int) -> LarderError {
        let before = String(decoding: bytes[..<min(offset, bytes.count)], as: UTF8.self)
        var located = error
        located.column = before.count + 1
        located.message = "\(name), column \(before.count + 1): \(error.message)"
        return located
    }
}

/// The positions of the parts of an expression in its format string, so that an error can name a
/// column.
package struct FormatSourceMap: Sendable {
    let text: FormatText
    private struct Part {
        var expression: QueryExpression
        /// The byte offset of the part, or of its operator.
        var start: Int
        /// The byte offsets of the steps of a key path; empty for other parts.
        var steps: [Int]
        /// The index of the part that this one is an operand of.
        var parent: Int?
    }

    /// Operands precede the parts that contain them.
    private var parts: [Part] = []

    /// The equal parts among which the meant one is searched, and the containers by which it is
    /// recognized. The search runs on an event loop, for an error in any text.
    private static let candidatesMax = 16
    private static let containersMax = 8

    init(_ text: FormatText) { self.text = text }

    /// The number of parts, which is that of the nodes of the expression.
    package var count: Int { parts.count }

    mutating func add(_ expression: QueryExpression, at start: Int, steps: [Int] = []) {
        var index = parts.count - 1
        for operand in expression.children.reversed() {
            // The base of a key path has no part of its own, and the operands are close to the end.
            var candidate = index
            while candidate >= 0, parts[candidate].parent != nil { candidate -= 1 }
            guard candidate >= 0, parts[candidate].expression == operand else { continue }
            parts[candidate].parent = parts.count
            index = candidate - 1
        }
        parts.append(Part(expression: expression, start: start, steps: steps))
    }

    /// The map of a tree that has other expressions in place of some parts.
    package func replacing(_ bound: [QueryExpression: QueryExpression]) -> FormatSourceMap {
        var map = self
        for index in parts.indices {
            if let new = bound[parts[index].expression] { map.parts[index].expression = new }
        }
        return map
    }

    /// Returns the error with the column of the part that it is about, or unchanged if it already
    /// has a column or the text has no such part.
    ///
    /// - Parameter path: The part and the expressions that contain it, from the inside out;
    ///   intermediate ones may be missing. If several parts are equal, the one closest to its
    ///   containers is meant, among the first 16, or else the first.
    /// - Parameter step: The index of the step that the error is about, if the part is a key path.
    package func locating(
        _ error: LarderError, at path: [QueryExpression], step: Int? = nil
    ) -> LarderError {
        guard error.column == nil, let expression = path.first else { return error }
        let candidates = parts.indices.lazy.filter { parts[$0].expression == expression }
            .prefix(Self.candidatesMax)
        let containers = path.dropFirst().prefix(Self.containersMax)
        let nearest = candidates.map { (part: $0, distances: distances(from: $0, containers)) }
            .min { $0.distances.lexicographicallyPrecedes($1.distances) }?.part
        guard let part = nearest.map({ parts[$0] }) else { return error }
        let isStep = step.map(part.steps.indices.contains) ?? false
        return text.locating(error, at: isStep ? part.steps[step ?? 0] : part.start)
    }

    package func locating(_ error: LarderError, at expression: QueryExpression) -> LarderError {
        locating(error, at: [expression])
    }

    /// The number of levels between each pair of consecutive expressions, from a part to its
    /// containers.
    private func distances(from index: Int, _ containers: ArraySlice<QueryExpression>) -> [Int] {
        var index = index
        var distances: [Int] = []
        for expression in containers {
            var distance = 0
            var outer = parts[index].parent
            while let next = outer, parts[next].expression != expression {
                outer = parts[next].parent
                distance += 1
            }
            guard let found = outer else { return distances + [.max] }
            distances.append(distance)
            index = found
        }
        return distances
    }
}
