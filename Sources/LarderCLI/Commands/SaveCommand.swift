import ArgumentParser
import LarderModel
import LarderPrograms
import LarderQuery

struct SaveCommand: PendingCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Apply a set of changes in one transaction.",
        discussion: """
            EXAMPLES:
              larder save changes.jsonl
              larder save - <<'END'
              {"unless": {"@entity": "Topic", "@where": "name == %@", "@args": ["tech"]}}
              {"insert": {"@id": "t:a", "@entity": "Note", "title": "x", "topic": "t:b"}}
              {"insert": {"@id": "t:b", "@entity": "Topic", "name": "tech"}}
              {"update": {"@id": "x-coredata://…/Note/p7", "@version": 3, "title": "y"}}
              {"delete": {"@id": "x-coredata://…/Note/p8"}}
              END

            t:NAME is a temporary name within the set. It may be used before the line that inserts \
            the object. Prints the URIs of the inserted objects, one per line, in the order of the \
            input; JSON output includes the temporary names (@temporary). Error messages name the \
            line. The set may have 64 MiB of text and 250,000 changes.

            A to-many relationship is either an array of URIs, which replaces the whole list, or \
            an edit, which preserves concurrent changes to the list: {"@add": [URI, …]}, \
            {"@remove": [URI, …]}, {"@move": {"objects": [URI, …], "before": URI}}. Positions for \
            @move and @add are "before", "after", "end" ("first" or "last") and "index". For \
            several edits, write an array of them.

            To detect concurrent changes, an update may contain "@version", or "@base" with the \
            values that were read. --merge resolves conflicts; see update.

            The conditions {"unless": {…}} and {"expect": {…, "@count": 3}} are checked before the \
            first change, like --unless and --expect. Otherwise the exit status is 3.

            With --idempotency-key, an interrupted command can be repeated: the set is applied \
            once.
            """)

    @Argument(
        help: ArgumentHelp(
            "File with the changes as JSON lines; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @Flag(help: "Update objects that already have the unique values of an insert.")
    var upsert = false

    @Option(help: ArgumentHelp("How to resolve version conflicts.", valueName: "policy"))
    var merge: MergePolicy = .error

    @OptionGroup var conditions: ConditionOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    var author: String? { authorOption.author }

    mutating func validate() throws { try conditions.check(arguments) }

    func run(_ session: StoreSession) throws {
        let input = try InputFile(file)
        var reader = ChangeSetReader(
            schema: try session.client.schema(), store: session.storeIdentifier,
            assumesUTC: dates.assumesUTC)
        try reader.read(input)
        guard let inserted = try save(reader, input.name, session) else { return }
        let names = reader.changes.changes.compactMap(\.temporaryName)
        var writer = output.format.makeWriter()
        if output.format.isJSON {
            let rows = zip(names, inserted).map { [$0, .object($1)] }
            try writer.write(all: rows, names: ["@temporary", "@id"])
        } else {
            try writer.write(all: inserted.map { [.object($0)] }, names: ["@id"])
        }
    }

    private func save(
        _ reader: ChangeSetReader, _ fileName: String, _ session: StoreSession
    ) throws -> [PersistentIdentifier]? {
        do {
            var changes = reader.changes
            changes.onUniqueConflict = upsert ? .upsert : .error
            changes.mergePolicy = merge
            return try conditions.save(
                changes, arguments.parameters(dates), in: session, idempotency
            )?.inserted
        } catch let error as LarderError {
            throw ChangeLineNumbers(
                fileName: fileName, lines: reader.lines,
                conditionLines: conditions.all.map { _ in nil } + reader.conditionLines
            ).locating(error) ?? error
        }
    }
}

extension Change {
    /// The temporary name that the input gives to an insert, null if it gives none; nil for other
    /// kinds of change.
    var temporaryName: Value? {
        guard case .insert(let identifier, _, _) = self, case .temporary(let name) = identifier.key
        else { return nil }
        return TemporaryName.isValid(name) ? .string(name) : .null
    }
}
