import ArgumentParser
import LarderModel

struct UpdateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Changes properties of one object, and prints its new version.",
        discussion: """
            EXAMPLES:
              larder update "$uri" wordCount=130 title="Second light"
              larder update "$uri" category:=null --if-version 3
              larder update "$uri" wordCount=130 --base wordCount=120 --merge storeWins
              larder update "$tag" articles:='{"@add": ["x-coredata://…/Article/p7"]}'

            Values are written as for insert; a to-many relationship also takes edits, as in save. \
            With --if-version nothing is changed unless that is \
            still the object's version, with --base unless the properties still have these values: \
            then the status is 3, and it is for the caller to read the object again. --merge \
            chooses otherwise: storeWins sets the properties that still have their --base, \
            callerWins all that are given, overwrite the others of --base too, rollback nothing. \
            To change several objects at once see save.
            """)

    @Argument(help: ArgumentHelp("The object.", valueName: "uri"))
    var uri: String

    @Argument(help: ArgumentHelp("key=text or key:=JSON.", valueName: "key=value"))
    var assignments: [String]

    @Option(help: ArgumentHelp("Only if the object has this version.", valueName: "n"))
    var ifVersion: Int64?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A property as it was read, key=text or key:=JSON; may be repeated.",
            valueName: "key=value"))
    var base: [String] = []

    @Option(help: ArgumentHelp("What becomes of a conflict.", valueName: "policy"))
    var merge: MergePolicy = .error

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    mutating func validate() throws { _ = try Assignment.all(assignments + base) }

    func run(_ store: OpenStore) throws {
        let identifier = try PersistentIdentifier(uriRepresentation: uri)
        let decoder = try ObjectDecoder(identifier.entityName, in: store.client.schema())
        let content = try decoder.content(Assignment.all(assignments))
        let base = try decoder.content(Assignment.all(base))
        guard base.edits.isEmpty else {
            throw LarderError(.wrongType, "--base has whole lists, as they were read")
        }
        let version = try store.client.update(
            identifier, content.values, edits: content.edits, ifVersion: ifVersion,
            base: base.values, mergePolicy: merge, idempotencyKey: idempotency.key)
        var writer = options.format.makeWriter()
        if options.format.isJSON {
            try writer.write(
                all: [[.object(identifier), .int(version)]], names: ["@id", "@version"])
        } else {
            try writer.write(number: version, name: "@version", options.format)
        }
    }
}
