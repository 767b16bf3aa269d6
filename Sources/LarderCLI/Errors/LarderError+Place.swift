import LarderModel

extension LarderError {
    /// The same error, with the line of a file in front of its sentence.
    func at(line: Int, of fileName: String) -> LarderError {
        var placed = self
        placed.message = "\(fileName), line \(line): \(message)"
        return placed
    }

    /// The same for an error that may be about any of these lines, which are in order.
    func at(lines: [Int], of fileName: String) -> LarderError {
        guard let first = lines.first, let last = lines.last, first < last else {
            return lines.first.map { at(line: $0, of: fileName) } ?? self
        }
        var placed = self
        placed.message = "\(fileName), lines \(first) to \(last): \(message)"
        return placed
    }

    func hinting(_ hint: String) -> LarderError {
        var hinted = self
        hinted.hint = self.hint.map { "\($0); \(hint)" } ?? hint
        return hinted
    }
}
