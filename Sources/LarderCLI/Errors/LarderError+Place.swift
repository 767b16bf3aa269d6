import LarderModel

extension LarderError {
    /// The same error, with the line of a file in front of its sentence.
    func at(line: Int, of fileName: String) -> LarderError {
        var placed = self
        placed.message = "\(fileName), line \(line): \(message)"
        return placed
    }

    func at(lines: ClosedRange<Int>, of fileName: String) -> LarderError {
        if lines.count == 1 { return at(line: lines.lowerBound, of: fileName) }
        var placed = self
        placed.message =
            "\(fileName), lines \(lines.lowerBound) to \(lines.upperBound): \(message)"
        return placed
    }

    func hinting(_ hint: String) -> LarderError {
        var hinted = self
        hinted.hint = self.hint.map { "\($0); \(hint)" } ?? hint
        return hinted
    }
}
