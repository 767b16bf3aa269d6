import LarderModel

/// The errors of one change set, in the order in which they were found.
package struct ChangeErrors {
    /// The maximum number of errors that are collected, so that the reply stays short.
    static let countMax = LarderError.problemsMax

    /// At most one error; an array, because an error is large and most sets have none.
    private var firsts: [LarderError] = []
    private var details: [ChangeViolation] = []

    package var isEmpty: Bool { firsts.isEmpty }
    package var count: Int { details.count }
    package var isFull: Bool { details.count >= ChangeErrors.countMax }

    /// - Parameters:
    ///   - change: The index of the change; nil for an error of the set as a whole.
    ///   - condition: The index of the condition; nil for an error elsewhere.
    mutating func add(_ error: LarderError, change: Int?, condition: Int? = nil) {
        guard !isFull else { return }
        if isEmpty { firsts = [error] }
        var detail =
            error.details.first ?? ChangeViolation(error.code, error.message, uri: error.uri)
        detail.change = change
        detail.condition = condition
        details.append(detail)
    }

    /// Adds the errors of a part whose first change has this index in the whole.
    mutating func add(_ part: ChangeErrors, from index: Int) {
        if isEmpty { firsts = part.firsts }
        for var detail in part.details where !isFull {
            detail.change = detail.change.map { index + $0 }
            details.append(detail)
        }
    }

    /// All errors as one: the first error, and all of them as its details, each with the index of
    /// its change. The lines in ``LarderError/problems`` are left out if they would only repeat the
    /// message, that is for a single error of a single change.
    ///
    /// - Parameters:
    ///   - elements: The things that the indices count.
    ///   - whole: The container of the elements, for the message.
    package func error(
        changeCount: Int, elements: String = "changes", in whole: String = "the change set"
    ) -> LarderError? {
        guard var error = firsts.first else { return nil }
        error.details = details
        guard changeCount > 1 || details.count > 1 else { return error }
        error.problems = details.map { detail in
            detail.change.map { "\(elements)[\($0)]: \(detail.message)" } ?? detail.message
        }
        let others = details.count - 1
        if others > 0 {
            error.message +=
                ", and \(whole) has \(others)\(isFull ? " or more" : "") other "
                + (others == 1 ? "error" : "errors")
        }
        return error
    }
}
