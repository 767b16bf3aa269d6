import LarderModel

/// Joins the texts of the elements of a collection, for the function `join`.
package struct JoinedTexts {
    /// The index of an element in a collection that has an order. Keys decide between equal ones.
    package struct Position: Comparable, Sendable {
        let index: Int64
        let key: Int64

        package init(_ index: Int64, key: Int64 = 0) {
            self.index = index
            self.key = key
        }

        package static func < (left: Position, right: Position) -> Bool {
            (left.index, left.key) < (right.index, right.key)
        }
    }

    /// The texts are in memory until all are known.
    package static let countMax = 1 << 20

    private var elements: [(text: String, position: Position?)] = []
    private var byteCount = 0
    private var isTooLong = false
    private var hasTooManyTexts = false

    package init() {}

    /// Adds an element. All elements of a collection have a position, or none.
    package mutating func add(_ text: String, at position: Position?) {
        if isTooLong || hasTooManyTexts { return }
        byteCount += text.utf8.count
        hasTooManyTexts = elements.count >= Self.countMax
        isTooLong = byteCount > Limits.functionTextBytesMax
        if isTooLong || hasTooManyTexts {
            elements = []
        } else {
            elements.append((text, position))
        }
    }

    /// The texts in the order of their positions, or else by their Unicode scalars; nil if there
    /// are none.
    ///
    /// - Throws: `resourceExhausted` for too many texts and for a text that is too long.
    package func text(
        separatedBy separator: String, _ interruption: Interruption
    ) throws(LarderError) -> String? {
        guard !hasTooManyTexts else {
            throw LarderError(
                .resourceExhausted, "join takes at most \(Self.countMax) texts of a collection",
                hint: "join those of a SUBQUERY")
        }
        let separators = max(0, elements.count - 1)
        let (bytes, overflows) = separators.multipliedReportingOverflow(by: separator.utf8.count)
        guard !isTooLong, !overflows, bytes <= Limits.functionTextBytesMax - byteCount else {
            throw ScalarFunction.join.tooLong
        }
        if elements.isEmpty { return nil }
        var interruption = interruption
        let sorted = elements.sorted { left, right in
            if interruption.isDue() { return false }
            if let left = left.position, let right = right.position { return left < right }
            return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        }
        // Characters may combine where two strings meet.
        return sorted.lazy.map(\.text).joined(separator: separator).normalized(interruption)
    }
}
