import LarderModel

/// Where the changes of a set stand in the file that they were read from, so that an error of the
/// store, which knows places in the set (`changes[2]: …`), can name lines.
struct ChangePlaces {
    let fileName: String
    /// The line of each change.
    let lines: [Int]

    /// The error with lines for places, and the first line in front of its sentence; nil where it
    /// names no place.
    func naming(_ error: LarderError) -> LarderError? {
        let faults = error.faults.map { fault -> (line: Int?, text: String) in
            guard let (place, sentence) = Self.split(fault), lines.indices.contains(place) else {
                return (nil, fault)
            }
            return (lines[place], "line \(lines[place]): \(sentence)")
        }
        var named = error
        // A single one stands in the sentence already.
        named.faults = faults.count > 1 ? faults.map(\.text) : []
        return faults.compactMap(\.line).first.map { named.at(line: $0, of: fileName) }
    }

    /// The place and the sentence of `changes[2]: sentence`.
    private static func split(_ fault: String) -> (place: Int, sentence: Substring)? {
        let start = "changes["
        guard fault.hasPrefix(start) else { return nil }
        let rest = fault.dropFirst(start.count)
        guard let end = rest.firstIndex(of: "]"), let place = Int(rest[..<end]),
            rest[end...].hasPrefix("]: ")
        else { return nil }
        return (place, rest[end...].dropFirst(3))
    }
}
