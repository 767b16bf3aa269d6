import LarderModel

/// An error about a format string, and the text of it.
struct PredicateFailure: Error {
    let error: LarderError
    let format: String

    /// Runs a call that asks with these format strings, by their names; an error that names a
    /// column is joined with the one that it is about, whose name it begins with.
    static func joining<Result>(
        _ formats: [(name: String, text: String)], _ call: () throws -> Result
    ) throws -> Result {
        do {
            return try call()
        } catch let error as LarderError where error.column != nil {
            let culprit = formats.first { error.message.hasPrefix("\($0.name), column ") }
            guard let format = culprit?.text else { throw error }
            throw PredicateFailure(error: error, format: format)
        }
    }
}
