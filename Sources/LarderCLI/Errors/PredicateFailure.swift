import LarderModel

/// An error in a format string, together with the text of the string.
struct PredicateFailure: Error {
    let error: LarderError
    let format: String

    /// Runs a call that sends these format strings, each with the name that error messages use.
    ///
    /// - Throws: `PredicateFailure` for an error with a column. Its message begins with the name
    ///   of the format string.
    static func attachingFormat<Result>(
        _ formats: [(name: String, text: String)], _ call: () throws -> Result
    ) throws -> Result {
        do {
            return try call()
        } catch let error as LarderError where error.column != nil {
            let named = formats.first { error.message.hasPrefix("\($0.name), column ") }
            guard let format = named?.text else { throw error }
            throw PredicateFailure(error: error, format: format)
        }
    }
}
