import LarderModel

/// Carries a typed error out of an SQL function: SQLite passes on only a text.
///
/// One a connection, used on its thread. Whoever runs a statement that fails looks here first.
final class FunctionFaults {
    private var fault: LarderError?

    /// Keeps the error, and ends the statement.
    func report(_ error: LarderError) -> FunctionResult {
        fault = fault ?? error
        return .error(error.message)
    }

    /// The error of the statement that has just failed, once; nil if no function reported one.
    func take() -> LarderError? {
        defer { fault = nil }
        return fault
    }
}
