/// Suggests known names for a misspelled one.
///
/// The search is bounded, because it runs on the event loop that received the name. Without a
/// bound, one request with an unknown name would delay all others by the size of the schema.
package enum NameSuggestion {
    /// A hint with the nearest name within two single-character edits; nil if there is none among
    /// the names that the search reaches.
    package static func hint(for name: String, among known: some Sequence<String>) -> String? {
        guard var search = NameSearch(for: name) else { return nil }
        for candidate in known {
            guard search.consider(candidate) else { break }
        }
        return search.nearest.map { "did you mean \"\($0)\"?" }
    }

    /// Appends the hint to one of many problems. The problems of an error beyond the first
    /// `LarderError.problemsMax` are not shown, so no name is looked up for them: a schema may
    /// have very many names, and very many of them may be wrong.
    package static func appended(
        to message: String, for name: String, among known: @autoclosure () -> some Sequence<String>,
        after problemCount: Int
    ) -> String {
        guard problemCount < LarderError.problemsMax, let hint = hint(for: name, among: known())
        else { return message }
        return "\(message); \(hint)"
    }
}

/// A search for the known name that is nearest to a misspelled one, ignoring the case of ASCII
/// letters.
struct NameSearch {
    /// Known names of one search. More exist only in the largest schemas.
    static let candidatesMax = 10_000
    /// Bytes of known names that are compared in one search: some 0.2 milliseconds. Most names
    /// differ after a few bytes, and so all names of a usual schema are compared.
    static let comparedBytesMax = 32 << 10
    private static let editsMax = 2

    private let name: [UInt8]
    private var best: (distance: Int, name: String)?
    private(set) var candidateCount = 0
    private(set) var comparedBytes = 0
    /// The distances of the prefixes of a candidate to a prefix of the name. Only those near the
    /// diagonal are valid; the others are above the maximum.
    private var row: [Int] = []

    /// Begins a search; nil for a text that is longer than a name.
    init?(for name: String) {
        guard name.utf8.count <= Limits.nameBytesMax else { return nil }
        self.name = name.utf8.map(Self.folded)
    }

    var nearest: String? { best?.name }

    /// Compares a known name.
    ///
    /// - Returns: false if the search has reached one of its bounds.
    mutating func consider(_ candidate: String) -> Bool {
        guard candidateCount < Self.candidatesMax, comparedBytes < Self.comparedBytesMax else {
            return false
        }
        candidateCount += 1
        let byteCount = candidate.utf8.count
        guard abs(byteCount - name.count) <= Self.editsMax else { return true }
        let distance = distance(to: candidate.utf8.map(Self.folded))
        guard distance <= Self.editsMax, distance < byteCount else { return true }
        if best.map({ (distance, candidate) < $0 }) ?? true { best = (distance, candidate) }
        return true
    }

    /// The Levenshtein distance; more than ``editsMax`` for every larger one.
    private mutating func distance(to candidate: [UInt8]) -> Int {
        let tooFar = Self.editsMax + 1
        row.removeAll(keepingCapacity: true)
        for index in 0...candidate.count { row.append(min(index, tooFar)) }
        for (line, byte) in name.enumerated() {
            comparedBytes += 1
            let first = max(0, line - Self.editsMax)
            let end = min(candidate.count, line + Self.editsMax + 1)
            guard first < end else { return tooFar }
            var diagonal = row[first]
            row[first] = first == 0 ? min(line + 1, tooFar) : tooFar
            var least = row[first]
            for index in first..<end {
                let replaced = diagonal + (byte == candidate[index] ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = min(replaced, diagonal + 1, row[index] + 1, tooFar)
                least = min(least, row[index + 1])
            }
            if least == tooFar { return tooFar }
        }
        return row[candidate.count]
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}
