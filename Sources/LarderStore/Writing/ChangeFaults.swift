import LarderModel

/// The faults of one change set, in the order in which they were found.
struct ChangeFaults {
    /// More are not looked for: nobody reads them, and the reply has to stay short.
    static let countMax = 100

    private(set) var first: LarderError?
    private var lines: [String] = []

    var isEmpty: Bool { first == nil }
    var isFull: Bool { lines.count >= ChangeFaults.countMax }

    /// - Parameter change: The place of the change at fault; nil where the set as a whole is.
    mutating func add(_ error: LarderError, change: Int?) {
        guard !isFull else { return }
        if first == nil { first = error }
        lines.append(change.map { "changes[\($0)]: \(error.message)" } ?? error.message)
    }

    /// All faults as one error: the first, and all in its list, each with its place. The only fault
    /// of a set of one change needs no list.
    func error(changeCount: Int) -> LarderError? {
        guard var error = first else { return nil }
        guard changeCount > 1 || lines.count > 1 else { return error }
        error.faults = lines
        let others = lines.count - 1
        if others > 0 {
            error.message +=
                ", and the change set has \(others)\(isFull ? " or more" : "") other "
                + (others == 1 ? "fault" : "faults")
        }
        return error
    }
}
