import ArgumentParser
import LarderModel
import LarderPrograms

struct InsertCommand: PendingCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert",
        abstract: "Insert one or more objects in one transaction and print their URIs.",
        discussion: """
            EXAMPLES:
              larder insert Article title="First light" wordCount=120 category="$tech"
              larder insert Article title=Notes category.name=tech --create-related
              larder insert Article title=Notes tags:='["a","b"]' category:=null
              larder insert Booking room=7 --unless 'Booking where room == 7'
              larder insert Article --json '{"title": "x", "published": "2026-01-31"}'
              jq -c '.[]' articles.json | larder insert Article -

            key=text converts the text to the type of the property; key= is the empty string. \
            key:=JSON takes a JSON value; key:=null is nil. A to-one relationship is the URI of an \
            object, a to-many relationship a list: key:='["URI", …]'. Unique values name a related \
            object too: category.name=text, or in JSON {"category": {"name": "text"}}. With \
            --upsert, an object that already has the unique values is updated and its URI printed. \
            For many objects, use import.
            """)

    @Argument(help: ArgumentHelp("Entity to insert into.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp(
            "key=text or key:=JSON; - for JSON lines on standard input.", valueName: "key=value"),
        completion: StoreCompletion.assignment)
    var assignments: [String] = []

    @Option(help: ArgumentHelp("The object as JSON.", valueName: "document"))
    var json: String?

    @Flag(help: "Update the object that already has the unique values, if there is one.")
    var upsert = false

    @OptionGroup var creation: CreationOption
    @OptionGroup var conditions: ConditionOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    var author: String? { authorOption.author }

    private var readsLines: Bool { assignments == ["-"] }

    mutating func validate() throws {
        if json != nil && !assignments.isEmpty {
            throw ValidationError("--json and key=value cannot be combined")
        }
        if !readsLines { _ = try Assignment.all(assignments) }
        try conditions.check(arguments)
        try creation.check(idempotency)
    }

    func run(_ session: StoreSession) throws {
        var decoder = try session.decoder(entity.name, dates)
        decoder.namesRelatedObjects = true
        let objects: [SourceObject]
        var fileName: String?
        if readsLines {
            let input = try InputFile("-")
            fileName = input.name
            objects = try lines(input, decoder)
        } else if let json {
            guard case .object(let members) = try JSONValue(parsing: json) else {
                throw LarderError(.malformedValue, "--json must be a JSON object")
            }
            objects = [SourceObject(try decoder.content(members))]
        } else {
            objects = [SourceObject(try decoder.content(Assignment.all(assignments)))]
        }
        var related = try RelatedObjects(session, creates: creation.createRelated)
        let (changes, lines) = try related.inserts(objects, of: decoder.entity, fileName)
        let result: SaveResult?
        do {
            result = try conditions.save(
                ChangeSet(changes, onUniqueConflict: upsert ? .upsert : .error),
                arguments.parameters(dates), in: session, idempotency)
        } catch let error as LarderError {
            throw fileName.flatMap {
                ChangeLineNumbers(
                    fileName: $0, lines: lines, conditionLines: conditions.all.map { _ in nil }
                ).locating(error)
            } ?? error
        }
        guard let result else { return }
        var writer = output.format.makeWriter()
        // The objects that were created come first, and are not printed.
        let inserted = result.inserted.suffix(objects.count)
        try writer.write(all: inserted.map { [.object($0)] }, names: ["@id"])
    }

    private func lines(
        _ input: InputFile, _ decoder: ObjectDecoder
    ) throws(LarderError) -> [SourceObject] {
        var reader = try JSONObjectSource(
            input, decoder, bytesMax: LineReader.changeSetBytesMax)
        var objects: [SourceObject] = []
        while let object = try reader.next() {
            guard objects.count < Limits.changesMax else {
                throw LarderError(
                    .resourceExhausted,
                    "the input has more than the maximum of \(Limits.changesMax) objects",
                    hint: "use import, which has no limit")
            }
            objects.append(object)
        }
        return objects
    }
}
