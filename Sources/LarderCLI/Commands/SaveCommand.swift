import ArgumentParser
import LarderModel

struct SaveCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Makes a set of changes in one transaction, all or none.",
        discussion: """
            EXAMPLES:
              larder save changes.jsonl
              larder save - <<'END'
              {"insert": {"@id": "t:a", "@entity": "Article", "title": "x", "category": "t:c"}}
              {"insert": {"@id": "t:c", "@entity": "Category", "name": "tech"}}
              {"update": {"@id": "x-coredata://…/Article/p7", "@version": 3, "title": "y"}}
              {"delete": {"@id": "x-coredata://…/Article/p8"}}
              END

            t:anything is a temporary name within the set, which may be used before the line that \
            inserts it. Prints the URIs of the inserted objects, a line each in the order of the \
            lines; as JSON with their temporary names (@temporary). An error names the line. A set \
            is one message to the server: beyond 16 MiB split the file.

            A to-many relationship is an array of URIs, the whole list, or an edit of it, which \
            leaves alone what others do to the list: {"@add": [URI, …]}, {"@remove": [URI, …]}, \
            {"@move": {"objects": [URI, …], "before": URI}}; places are "before", "after", "end" \
            ("first", "last") and "index", for @add too. Several edits are an array of them.

            An update may say how it knew the object: "@version", or "@base" with properties as \
            they were read. --merge says what becomes of it if the object has changed since; see \
            update.

            With --idempotency-key a command that was interrupted can be repeated as it was: the \
            set is done once.
            """)

    @Argument(
        help: ArgumentHelp("The changes as JSON lines; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @Flag(help: "Inserts update the objects that have their unique values already.")
    var upsert = false

    @Option(help: ArgumentHelp("What becomes of conflicts.", valueName: "policy"))
    var merge: MergePolicy = .error

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    func run(_ store: OpenStore) throws {
        let input = try InputFile(file)
        var lines = ChangeLines(schema: try store.client.schema())
        try lines.read(input)
        let inserted = try save(lines, input.name, store)
        let names = lines.changes.changes.compactMap(\.temporaryName)
        var writer = options.format.makeWriter()
        if options.format.isJSON {
            let rows = zip(names, inserted).map { [$0, .object($1)] }
            try writer.write(all: rows, names: ["@temporary", "@id"])
        } else {
            try writer.write(all: inserted.map { [.object($0)] }, names: ["@id"])
        }
    }

    private func save(
        _ lines: ChangeLines, _ fileName: String, _ store: OpenStore
    ) throws(LarderError) -> [PersistentIdentifier] {
        do throws(LarderError) {
            var changes = lines.changes
            changes.onUniqueConflict = upsert ? .upsert : .error
            changes.mergePolicy = merge
            return try store.client.save(changes, idempotencyKey: idempotency.key).inserted
        } catch {
            throw ChangePlaces(fileName: fileName, lines: lines.lines).naming(error) ?? error
        }
    }
}

extension Change {
    /// The name of an insert that has one of the user's, null for one that has none; nil for other
    /// changes.
    fileprivate var temporaryName: Value? {
        guard case .insert(let identifier, _, _) = self, case .temporary(let name) = identifier.key
        else { return nil }
        return TemporaryName.isOne(name) ? .string(name) : .null
    }
}
