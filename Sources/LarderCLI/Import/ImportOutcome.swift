/// The part of a file that an import committed before an error, as the hint of the error.
enum ImportOutcome {
    /// - Parameter lastLine: The line of the last committed object; nil if it is unknown.
    static func hint(_ fileName: String, lastLine: Int?, objectCount: Int64) -> String {
        guard objectCount > 0 else { return "nothing from \(fileName) was committed" }
        guard let lastLine else { return "the first \(objectCount) objects were committed" }
        return "the objects up to line \(lastLine) were committed (\(objectCount) objects)"
    }
}
