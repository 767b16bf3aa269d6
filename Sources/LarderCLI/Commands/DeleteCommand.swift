import ArgumentParser
import LarderModel

struct DeleteCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes objects in one transaction, and prints how many went.",
        discussion: """
            EXAMPLES:
              larder delete "$uri"
              larder delete "$uri" --if-version 3 --merge callerWins
              larder delete Article --where 'wordCount == 0 AND published < %@' --arg 2020-01-01

            All or none: if one of the objects does not exist, nothing is deleted and the status \
            is 4. The number counts what delete rules took with them.

            With --if-version the object has to have that version still: else the status is 3, or \
            --merge decides. callerWins and overwrite delete it, storeWins and rollback leave it.

            With an entity all objects that satisfy --where are deleted; --ids prints their URIs \
            instead of the number.
            """)

    @Argument(help: ArgumentHelp("The objects, or the entity.", valueName: "uri or entity"))
    var targets: [String]

    @OptionGroup var selection: SelectionOptions

    @Option(help: ArgumentHelp("Only if the object has this version.", valueName: "n"))
    var ifVersion: Int64?

    @Option(help: ArgumentHelp("What becomes of a conflict.", valueName: "policy"))
    var merge: MergePolicy = .error

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    private var isEntity: Bool { targets.count == 1 && SelectionOptions.isEntity(targets[0]) }

    mutating func validate() throws {
        guard isEntity else {
            guard !selection.isGiven else {
                throw ValidationError("--where, --all and --ids need an entity, and no URI")
            }
            guard ifVersion == nil || targets.count == 1 else {
                throw ValidationError("--if-version is about one object")
            }
            return
        }
        guard ifVersion == nil, merge == .error else {
            throw ValidationError("--if-version and --merge need a URI, not an entity")
        }
        try selection.check()
    }

    func run(_ store: OpenStore) throws {
        if isEntity {
            return try selection.save(
                .deleteAll(selection.selection(of: targets[0])), in: store, idempotency, options,
                name: "deleted"
            ) { $0.deletedCount }
        }
        let changes = try targets.map {
            Change.delete(try PersistentIdentifier(uriRepresentation: $0), ifVersion: ifVersion)
        }
        let result = try store.client.save(
            ChangeSet(changes, mergePolicy: merge), idempotencyKey: idempotency.key)
        var writer = options.format.makeWriter()
        try writer.write(number: result.deletedCount, name: "deleted", options.format)
    }
}
