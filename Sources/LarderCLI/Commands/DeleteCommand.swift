import ArgumentParser
import LarderModel

struct DeleteCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes objects in one transaction, and prints how many went.",
        discussion: """
            EXAMPLES:
              larder delete "$uri"
              larder fetch Article --where 'wordCount == 0' --ids | xargs larder delete

            All or none: if one of the objects does not exist, nothing is deleted and the status \
            is 4. The number counts what delete rules took with them.
            """)

    @Argument(help: ArgumentHelp("The objects.", valueName: "uri"))
    var uris: [String]

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    func run(_ store: OpenStore) throws {
        let changes = try uris.map {
            Change.delete(try PersistentIdentifier(uriRepresentation: $0), ifVersion: nil)
        }
        let result = try store.client.save(
            ChangeSet(changes), idempotencyKey: idempotency.key)
        var writer = options.format.makeWriter()
        try writer.write(number: result.deletedCount, name: "deleted", options.format)
    }
}
