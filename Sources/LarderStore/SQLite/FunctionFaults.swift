import LarderModel

/// Passes a typed error out of an SQL function, from which SQLite takes only a text.
///
/// There is one per connection, used on its thread. A caller whose statement fails checks it first.
final class FunctionFaults {
    private var fault: LarderError?

    /// Stores the error and ends the statement.
    func report(_ error: LarderError) -> FunctionResult {
        fault = fault ?? error
        return .error(error.message)
    }

    /// Removes and returns the error of the statement that has just failed; nil if no function
    /// reported one.
    func take() -> LarderError? {
        defer { fault = nil }
        return fault
    }
}
