import LarderModel

/// The faults of one change set, in the order in which they were found.
struct ChangeFaults {
    /// More are not looked for: nobody reads them, and the reply has to stay short.
    static let countMax = 100

    private(set) var first: LarderError?
    private var details: [ChangeFault] = []

    var isEmpty: Bool { first == nil }
    var isFull: Bool { details.count >= ChangeFaults.countMax }

    /// - Parameter change: The place of the change at fault; nil where the set as a whole is.
    mutating func add(_ error: LarderError, change: Int?) {
        guard !isFull else { return }
        if first == nil { first = error }
        var fault =
            error.details.first ?? ChangeFault(error.code, error.message, uri: error.uri)
        fault.change = change
        details.append(fault)
    }

    /// All faults as one error: the first, and all in its lists, each with its place. As lines they
    /// are left out where they would only repeat the sentence: a single fault of a single change.
    func error(changeCount: Int) -> LarderError? {
        guard var error = first else { return nil }
        error.details = details
        guard changeCount > 1 || details.count > 1 else { return error }
        error.faults = details.map { fault in
            fault.change.map { "changes[\($0)]: \(fault.message)" } ?? fault.message
        }
        let others = details.count - 1
        if others > 0 {
            error.message +=
                ", and the change set has \(others)\(isFull ? " or more" : "") other "
                + (others == 1 ? "fault" : "faults")
        }
        return error
    }
}
