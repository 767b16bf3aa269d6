import LarderModel

/// The line numbers of the changes in a file.
///
/// The store identifies a change by its index in the set (`changes[2]: …`). This type replaces the
/// index with the line.
struct ChangeLineNumbers {
    let fileName: String
    /// The line of each change.
    let lines: [Int]
    /// The line of each condition; nil for one that is not in the file.
    var conditionLines: [Int?] = []

    /// The error with line numbers instead of indexes, and the first line before its message; nil
    /// if the error names no change and no condition of the file.
    func locating(_ error: LarderError) -> LarderError? {
        let problems = error.problems.map { problem -> (line: Int?, text: String) in
            guard let (index, message) = Self.split(problem), lines.indices.contains(index) else {
                return (nil, problem)
            }
            return (lines[index], "line \(lines[index]): \(message)")
        }
        var located = error
        // The message of the error already contains a single problem.
        located.problems = problems.count > 1 ? problems.map(\.text) : []
        let line = conditionLine(of: error) ?? problems.compactMap(\.line).first
        return line.map { located.at(line: $0, of: fileName) }
    }

    private func conditionLine(of error: LarderError) -> Int? {
        guard let index = error.details.first?.condition, conditionLines.indices.contains(index)
        else { return nil }
        return conditionLines[index]
    }

    /// The index and the message of `changes[2]: message`.
    private static func split(_ problem: String) -> (index: Int, message: Substring)? {
        let start = "changes["
        guard problem.hasPrefix(start) else { return nil }
        let rest = problem.dropFirst(start.count)
        guard let end = rest.firstIndex(of: "]"), let index = Int(rest[..<end]),
            rest[end...].hasPrefix("]: ")
        else { return nil }
        return (index, rest[end...].dropFirst(3))
    }
}
