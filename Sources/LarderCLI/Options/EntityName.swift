import ArgumentParser

/// The name of an entity as an argument. Shell completion suggests the entities of the store.
struct EntityName: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.name = argument
    }

    static var defaultCompletionKind: CompletionKind { StoreCompletion.entity }
}
