/// Suggests known names for a misspelled one.
public enum NameSuggestion {
    /// A hint with the nearest name within two single-character edits; nil if there is none.
    public static func hint(for name: String, among known: some Sequence<String>) -> String? {
        let nearest = known.lazy
            .map { (distance: distance(name, $0), name: $0) }
            .filter { $0.distance <= 2 && $0.distance < $0.name.count }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        return nearest.map { "did you mean \"\($0.name)\"?" }
    }

    /// Appends the hint to one of many problems. The problems of an error beyond the first
    /// `LarderError.problemsMax` are not shown, so no name is looked up for them: a schema may
    /// have very many names, and very many of them may be wrong.
    static func appended(
        to message: String, for name: String, among known: @autoclosure () -> some Sequence<String>,
        after problemCount: Int
    ) -> String {
        guard problemCount < LarderError.problemsMax, name.utf8.count <= Limits.nameBytesMax,
            let hint = hint(for: name, among: known())
        else { return message }
        return "\(message); \(hint)"
    }

    /// The Levenshtein distance of two names, ignoring case. All distances above 2 return 3.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased().utf8)
        let right = Array(right.lowercased().utf8)
        guard abs(left.count - right.count) <= 2 else { return 3 }
        var row = Array(0...right.count)
        for (lineIndex, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = lineIndex + 1
            for index in right.indices {
                let replaced = diagonal + (byte == right[index] ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = min(replaced, diagonal + 1, row[index] + 1)
            }
        }
        return min(row[right.count], 3)
    }
}
