import LarderModel

/// An error about a predicate, and the format string in which it stands.
struct PredicateFailure: Error {
    let error: LarderError
    let format: String

    /// Runs a call that asks with these format strings; an error that names a column is joined
    /// with the one that it is about.
    static func joining<Result>(
        _ formats: [String?], _ call: () throws -> Result
    ) throws -> Result {
        do {
            return try call()
        } catch let error as LarderError where error.column != nil {
            let given = formats.compactMap { $0 }
            let culprit = given.count == 1 ? given[0] : given.first(where: isMalformed)
            guard let culprit else { throw error }
            throw PredicateFailure(error: error, format: culprit)
        }
    }

    /// Of several, the culprit is the first that cannot be read even without a schema.
    private static func isMalformed(_ format: String) -> Bool {
        do throws(LarderError) {
            _ = try PredicateFormat.parse(format)
            return false
        } catch {
            return true
        }
    }
}
