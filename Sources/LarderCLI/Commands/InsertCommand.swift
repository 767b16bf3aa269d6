import ArgumentParser
import LarderModel
import LarderPrograms

struct InsertCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert",
        abstract: "Insert one or more objects in one transaction and print their URIs.",
        discussion: """
            EXAMPLES:
              larder insert Article title="First light" wordCount=120 category="$tech"
              larder insert Article title=Notes tags:='["a","b"]' category:=null
              larder insert Booking room=7 day=2026-03-01 \
                --unless 'Booking where room == 7 AND day == %@' --arg 2026-03-01
              larder insert Article --json '{"title": "x", "published": "2026-01-31"}'
              jq -c '.[]' articles.json | larder insert Article -

            key=text converts the text to the type of the property; key= is the empty string. \
            key:=JSON takes a JSON value; key:=null is nil. A to-one relationship is the URI of an \
            object, a to-many relationship a list: key:='["URI", …]'. With --upsert, an object \
            that already has the unique values is updated and its URI printed. For many objects, \
            use import.
            """)

    @Argument(help: ArgumentHelp("Entity to insert into.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp(
            "key=text or key:=JSON; - for JSON lines on standard input.", valueName: "key=value"))
    var assignments: [String] = []

    @Option(help: ArgumentHelp("The object as JSON.", valueName: "document"))
    var json: String?

    @Flag(help: "Update the object that already has the unique values, if there is one.")
    var upsert = false

    @OptionGroup var conditions: ConditionOptions
    @OptionGroup var values: ArgumentOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    private var readsLines: Bool { assignments == ["-"] }

    mutating func validate() throws {
        if json != nil && !assignments.isEmpty {
            throw ValidationError("--json and key=value cannot be combined")
        }
        if !readsLines { _ = try Assignment.all(assignments) }
        try conditions.check(values)
    }

    func run(_ session: StoreSession) throws {
        let decoder = try session.decoder(entity.name, values.dates)
        let objects: [ObjectContent]
        if readsLines {
            objects = try lines(decoder)
        } else if let json {
            guard case .object(let members) = try JSONValue(parsing: json) else {
                throw LarderError(.malformedValue, "--json must be a JSON object")
            }
            objects = [try decoder.content(members)]
        } else {
            objects = [try decoder.content(Assignment.all(assignments))]
        }
        let changes = objects.enumerated().map { index, content in
            Change.insert(
                PersistentIdentifier(temporary: "\(index)", entityName: entity.name),
                values: content.values, edits: content.edits)
        }
        let result = try conditions.save(
            ChangeSet(changes, onUniqueConflict: upsert ? .upsert : .error), values, in: session,
            idempotency)
        var writer = options.format.makeWriter()
        try writer.write(all: result.inserted.map { [.object($0)] }, names: ["@id"])
    }

    private func lines(_ decoder: ObjectDecoder) throws(LarderError) -> [ObjectContent] {
        var reader = JSONLinesObjectSource(
            try InputFile("-"), decoder, bytesMax: LineReader.changeSetBytesMax)
        var objects: [ObjectContent] = []
        while let object = try reader.next() {
            guard objects.count < Limits.changesMax else {
                throw LarderError(
                    .resourceExhausted,
                    "the input has more than the maximum of \(Limits.changesMax) objects",
                    hint: "use import, which has no limit")
            }
            objects.append(object.content)
        }
        return objects
    }
}
