import ArgumentParser
import LarderModel

struct DeleteCommand: PendingCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete objects in one transaction and print their number.",
        discussion: """
            EXAMPLES:
              larder delete "$uri"
              larder delete "$uri" --if-version 3 --merge callerWins
              larder delete Article --where 'published < %@' --arg 2020-01-01

            If one of the objects does not exist, nothing is deleted and the exit status is 4. The \
            number includes the objects that cascading delete rules removed.

            With --if-version, the object is deleted only if it still has that version. Otherwise \
            the exit status is 3, unless --merge resolves the conflict: callerWins and overwrite \
            delete the object, storeWins and rollback keep it.

            With an entity, all objects that match --where are deleted. --ids prints their URIs \
            instead of the number.

            With --dry-run, the objects are deleted and then restored in the same transaction, so \
            that the number includes those of delete rules, and errors are found.
            """)

    @Argument(
        help: ArgumentHelp("URIs of the objects, or an entity.", valueName: "uri or entity"),
        completion: StoreCompletion.entity)
    var targets: [String]

    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var sortOption: SortOption
    @OptionGroup var selection: SelectionOptions

    @Option(help: ArgumentHelp("Delete only if the object still has this version.", valueName: "n"))
    var ifVersion: Int64?

    @Option(help: ArgumentHelp("How to resolve a version conflict.", valueName: "policy"))
    var merge: MergePolicy = .error

    @OptionGroup var conditions: ConditionOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    var author: String? { authorOption.author }

    private var isEntity: Bool { targets.count == 1 && SelectionOptions.isEntity(targets[0]) }

    /// The change if the argument is an entity.
    private var bulkChange: BulkChange {
        BulkChange(
            selection: selection, predicate: predicate, arguments: arguments, dates: dates,
            sort: sortOption.keys, conditions: conditions, idempotency: idempotency,
            format: output.format)
    }

    mutating func validate() throws {
        guard isEntity else {
            var bulkChange = bulkChange
            bulkChange.selection.dryRun = false
            guard !bulkChange.isGiven else {
                throw ValidationError(
                    "--where, --all, --limit, --ids and --yes require an entity instead of a URI")
            }
            guard ifVersion == nil || targets.count == 1 else {
                throw ValidationError("--if-version requires exactly one object")
            }
            return
        }
        guard ifVersion == nil, merge == .error else {
            throw ValidationError("--if-version and --merge require a URI instead of an entity")
        }
        try bulkChange.check()
    }

    func run(_ session: StoreSession) throws {
        if isEntity {
            return try bulkChange.save(
                targets[0], in: session, name: BulkChange.deleted, change: { .deleteAll($0) },
                number: { $0.deletedCount })
        }
        let changes = try targets.map {
            let identifier = try PersistentIdentifier(text: $0, in: session.storeIdentifier)
            return Change.delete(identifier, ifVersion: ifVersion)
        }
        var set = ChangeSet(changes, mergePolicy: merge)
        set.isDryRun = selection.dryRun
        let result = try conditions.save(
            set, arguments.parameters(dates), in: session, idempotency)
        guard let result else { return }
        var writer = output.format.makeWriter()
        try writer.write(number: result.deletedCount, name: BulkChange.deleted, output.format)
    }
}
