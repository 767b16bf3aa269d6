import LarderModel

/// Finds the occurrences of a part in a sequence of elements, by the algorithm of Knuth, Morris and
/// Pratt: in linear time even if partial matches occur everywhere.
struct PartSearch<Element: Equatable> {
    private let part: [Element]
    /// borders[n] is the length of the longest proper prefix of part[...n] that is also its suffix.
    private var borders: [Int] = [0]
    /// The number of elements at the end of those searched that may begin an occurrence.
    private(set) var matched = 0

    /// Nil for an empty part, and after an interruption.
    init?(_ part: some Sequence<Element>, _ interruption: inout Interruption) {
        self.part = Array(part)
        guard !self.part.isEmpty else { return nil }
        borders.reserveCapacity(self.part.count)
        for element in self.part.dropFirst() {
            if interruption.isDue() { return nil }
            advance(element)
            borders.append(matched)
        }
        matched = 0
    }

    /// Returns whether an occurrence ends with the next element. The next occurrence begins after
    /// it.
    @inline(__always)
    mutating func isEnd(_ element: Element) -> Bool {
        advance(element)
        guard matched == part.count else { return false }
        matched = 0
        return true
    }

    @inline(__always)
    private mutating func advance(_ element: Element) {
        while matched > 0, part[matched] != element { matched = borders[matched - 1] }
        if part[matched] == element { matched += 1 }
    }
}
