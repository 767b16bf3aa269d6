import ArgumentParser
import LarderModel

/// The name of an entity as an argument. Shell completion suggests the entities of the store.
struct EntityName: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.name = argument
    }

    static var defaultCompletionKind: CompletionKind {
        .custom { words, _, _ in names(words) }
    }

    /// The entities of the store that an unfinished command line names; empty after any error,
    /// because completion must not print errors.
    private static func names(_ words: [String]) -> [String] {
        var arguments: [String] = []
        for option in ["--socket", "--store", "--schema"] {
            guard let index = words.lastIndex(of: option), index + 1 < words.count else { continue }
            arguments += [option, words[index + 1]]
        }
        arguments += ["--timeout", "1s"]
        do {
            let options = try ConnectionOptions.parse(arguments)
            return try StoreSession.with(options) { session in
                try session.client.schema().entities.map(\.name)
            }
        } catch {
            return []
        }
    }
}
