/// The part of a file that an import committed before an error, as the hint of the error.
enum ImportOutcome {
    /// - Parameter lastLine: The line of the last committed object; nil if it is unknown.
    static func hint(_ fileName: String, lastLine: Int?, objectCount: Int64) -> String {
        guard objectCount > 0 else { return "nothing from \(fileName) was committed" }
        let isOne = objectCount == 1
        guard let lastLine else {
            return isOne
                ? "the first object was committed"
                : "the first \(objectCount) objects were committed"
        }
        return isOne
            ? "the object up to line \(lastLine) was committed"
            : "the objects up to line \(lastLine) were committed (\(objectCount) objects)"
    }
}
