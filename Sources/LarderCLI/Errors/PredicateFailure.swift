import LarderModel
import LarderPrograms
import LarderQuery

/// An error in a format string, together with the text of the string.
struct PredicateFailure: Error {
    let error: LarderError
    let format: String

    /// Runs a call that sends these format strings, each with the name that error messages use.
    ///
    /// - Parameter arguments: The arguments of the format strings, in their order. If they are
    ///   given, warnings about the format strings are printed to standard error.
    /// - Throws: `PredicateFailure` for an error with a column. Its message begins with the name
    ///   of the format string.
    static func attachingFormat<Result>(
        _ formats: [(name: String, text: String)], _ arguments: [QueryArgument]? = nil,
        _ call: () throws -> Result
    ) throws -> Result {
        if let arguments { warn(about: formats, arguments) }
        do {
            return try call()
        } catch let error as LarderError where error.column != nil {
            let named = formats.first { error.message.hasPrefix("\($0.name), column ") }
            guard let format = named?.text else { throw error }
            throw PredicateFailure(error: error, format: format)
        }
    }

    private static func warn(
        about formats: [(name: String, text: String)], _ arguments: [QueryArgument]
    ) {
        var rest = arguments[...]
        for (name, text) in formats {
            let found = PredicateFormat.warnings(of: text, arguments: rest, name: name)
            // The server reports the error of a text that cannot be parsed.
            guard let found else { return }
            rest = rest.dropFirst(found.argumentsUsed)
            for warning in found.warnings {
                let report = ErrorReport(warning, format: text)
                report.print(asJSON: LarderCommand.wantsJSON)
            }
        }
    }
}
