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

    /// All faults as one error: the first, with the others in its list.
    var error: LarderError? {
        guard var error = first else { return nil }
        guard lines.count > 1 else { return error }
        let others = lines.count - 1
        error.message +=
            ", and the change set has \(others)\(isFull ? " or more" : "") other "
            + (others == 1 ? "fault" : "faults")
        error.faults = lines
        return error
    }
}
