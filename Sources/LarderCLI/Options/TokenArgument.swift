import ArgumentParser
import LarderClient
import LarderModel

/// A position in the history as an argument: a token, or the number of a transaction of the store.
///
/// A number is easier to type. Only a token is rejected by a store that it does not belong to.
struct TokenArgument: ExpressibleByArgument {
    private let text: String

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.text = argument
    }

    /// - Throws: `malformedToken`.
    func token(on server: ServerDescription) throws(LarderError) -> HistoryToken {
        if let number = Int64(text), number >= 0 { return server.token(after: number) }
        do throws(LarderError) {
            return try HistoryToken(text)
        } catch {
            var error = error
            error.hint =
                "pass the number of a transaction, or a token; `larder history token` prints the "
                + "current one"
            throw error
        }
    }
}
