import LarderModel
import LarderQuery

extension StoreView {
    /// Checks that a query can be planned.
    ///
    /// - Throws: errors of the query that need no data; with a hint if its section causes one.
    func check(
        _ query: Query, _ parameters: QueryParameters, isSectioned: Bool
    ) throws(LarderError) {
        do {
            _ = try plan(query, parameters)
        } catch {
            guard isSectioned, error.hint == nil, case .fetch(var fetch) = query,
                !fetch.sort.isEmpty
            else { throw error }
            fetch.sort.removeFirst()
            guard (try? plan(.fetch(fetch), parameters)) != nil else { throw error }
            throw LarderError(
                error.code, error.message,
                hint: "the section is sort key 1, an expression with one value for each object",
                column: error.column)
        }
    }
}
