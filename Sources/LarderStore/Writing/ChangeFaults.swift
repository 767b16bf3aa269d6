import LarderModel

/// The faults of one change set, in the order in which they were found.
struct ChangeFaults {
    /// More are not looked for: nobody reads them, and the reply has to stay short.
    static let countMax = 100

    /// None or one: an error is large, and most sets have none.
    private var firsts: [LarderError] = []
    private var details: [ChangeFault] = []

    var first: LarderError? { firsts.first }
    var isEmpty: Bool { firsts.isEmpty }
    var count: Int { details.count }
    var isFull: Bool { details.count >= ChangeFaults.countMax }

    /// - Parameter change: The place of the change at fault; nil where the set as a whole is.
    mutating func add(_ error: LarderError, change: Int?) {
        guard !isFull else { return }
        if isEmpty { firsts = [error] }
        var fault =
            error.details.first ?? ChangeFault(error.code, error.message, uri: error.uri)
        fault.change = change
        details.append(fault)
    }

    /// Takes over the faults of a part, whose first change stands at this place of the whole.
    mutating func add(_ part: ChangeFaults, from place: Int) {
        if isEmpty { firsts = part.firsts }
        for var fault in part.details where !isFull {
            fault.change = fault.change.map { place + $0 }
            details.append(fault)
        }
    }

    /// All faults as one error: the first, and all in its lists, each with its place. As lines they
    /// are left out where they would only repeat the sentence: a single fault of a single change.
    ///
    /// - Parameters:
    ///   - places: What the places are of.
    ///   - whole: What they are in, for the sentence.
    func error(
        changeCount: Int, places: String = "changes", in whole: String = "the change set"
    ) -> LarderError? {
        guard var error = first else { return nil }
        error.details = details
        guard changeCount > 1 || details.count > 1 else { return error }
        error.faults = details.map { fault in
            fault.change.map { "\(places)[\($0)]: \(fault.message)" } ?? fault.message
        }
        let others = details.count - 1
        if others > 0 {
            error.message +=
                ", and \(whole) has \(others)\(isFull ? " or more" : "") other "
                + (others == 1 ? "fault" : "faults")
        }
        return error
    }
}
