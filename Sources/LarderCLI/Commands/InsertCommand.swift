import ArgumentParser
import LarderModel

struct InsertCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert",
        abstract: "Inserts one object, or several in one transaction, and prints their URIs.",
        discussion: """
            EXAMPLES:
              larder insert Article title="First light" wordCount=120 category="$tech"
              larder insert Article title=Notes tags:='["a","b"]' category:=null
              larder insert Article --json '{"title": "x", "published": "2026-01-31"}'
              jq -c '.[]' articles.json | larder insert Article -

            key=text takes the property's type from the schema; key= is the empty string. \
            key:=JSON takes JSON, and key:=null is nil. An object is its URI, a to-many \
            relationship key:='["URI", …]'. With --upsert, an object that has the unique values \
            already is updated with what is given, and its URI is printed. For many objects see \
            import.
            """)

    @Argument(help: ArgumentHelp("What to insert an object of.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp("key=text or key:=JSON; or - for JSON lines.", valueName: "key=value"))
    var assignments: [String] = []

    @Option(help: ArgumentHelp("The object as one JSON document.", valueName: "document"))
    var json: String?

    @Flag(help: "Updates the object that has the unique values already, if there is one.")
    var upsert = false

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    private var readsLines: Bool { assignments == ["-"] }

    mutating func validate() throws {
        if json != nil && !assignments.isEmpty {
            throw ValidationError("--json and key=value exclude each other")
        }
        if !readsLines { _ = try Assignment.all(assignments) }
    }

    func run(_ store: OpenStore) throws {
        let decoder = try ObjectDecoder(entity.name, in: store.client.schema())
        let objects: [ObjectContent]
        if readsLines {
            objects = try lines(decoder)
        } else if let json {
            guard case .object(let members) = try JSONValue(parsing: json) else {
                throw LarderError(.malformedValue, "--json is not an object")
            }
            objects = [try decoder.content(members)]
        } else {
            objects = [try decoder.content(Assignment.all(assignments))]
        }
        let changes = objects.enumerated().map { position, content in
            Change.insert(
                PersistentIdentifier(temporary: "\(position)", entityName: entity.name),
                values: content.values, edits: content.edits)
        }
        let result = try store.client.save(
            ChangeSet(changes, onUniqueConflict: upsert ? .upsert : .error),
            idempotencyKey: idempotency.key)
        var writer = options.format.makeWriter()
        try writer.write(all: result.inserted.map { [.object($0)] }, names: ["@id"])
    }

    private func lines(_ decoder: ObjectDecoder) throws(LarderError) -> [ObjectContent] {
        var reader = ObjectLines(
            try InputFile("-"), decoder, bytesMax: LineReader.changeSetBytesMax)
        var objects: [ObjectContent] = []
        while let object = try reader.next() {
            guard objects.count < Limits.changesMax else {
                throw LarderError(
                    .resourceExhausted, "more than \(Limits.changesMax) objects in one change set",
                    hint: "import takes any number")
            }
            objects.append(object.content)
        }
        return objects
    }
}
