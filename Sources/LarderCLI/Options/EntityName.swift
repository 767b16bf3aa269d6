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
        .custom { words, _, _ in schema(words)?.entities.map(\.name) ?? [] }
    }

    /// Suggests the properties of the first entity on an unfinished command line, for an option
    /// whose value is a list separated by commas.
    static var propertyCompletion: CompletionKind {
        .custom { words, _, prefix in
            guard let schema = schema(words),
                let entity = words.lazy.compactMap({ schema.entity(named: $0) }).first
            else { return [] }
            let start = prefix.lastIndex(of: ",").map { prefix[...$0] } ?? ""
            let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            return names.map { start + $0 }
        }
    }

    /// The schema of the store that an unfinished command line names; nil after any error, because
    /// completion must not print errors.
    private static func schema(_ words: [String]) -> Schema? {
        var arguments: [String] = []
        for option in ["--socket", "--store", "--schema"] {
            guard let index = words.lastIndex(of: option), index + 1 < words.count else { continue }
            arguments += [option, words[index + 1]]
        }
        arguments += ["--timeout", "1s"]
        do {
            let options = try ConnectionOptions.parse(arguments)
            return try StoreSession.with(options) { session in
                try session.client.schema()
            }
        } catch {
            return nil
        }
    }
}
