import ArgumentParser
import LarderModel

/// An entity's name as an argument; the shell completes it with the names that the store has.
struct EntityName: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.name = argument
    }

    static var defaultCompletionKind: CompletionKind {
        .custom { words, _, _ in names(words) }
    }

    /// The entities of the store that the words of an unfinished command line speak of. Completion
    /// never complains: without a server there are no names.
    private static func names(_ words: [String]) -> [String] {
        var arguments: [String] = []
        for option in ["--socket", "--store", "--schema"] {
            guard let place = words.lastIndex(of: option), place + 1 < words.count else { continue }
            arguments += [option, words[place + 1]]
        }
        arguments += ["--timeout", "1s"]
        do {
            let options = try GlobalOptions.parse(arguments)
            return try OpenStore.with(options) { store in
                try store.client.schema().entities.map(\.name)
            }
        } catch {
            return []
        }
    }
}
