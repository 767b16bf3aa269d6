import ArgumentParser
import LarderModel

struct UpdateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Changes properties of one object, or of all that satisfy a predicate.",
        discussion: """
            EXAMPLES:
              larder update "$uri" wordCount=130 title="Second light"
              larder update "$uri" category:=null --if-version 3
              larder update "$uri" wordCount=130 --base wordCount=120 --merge storeWins
              larder update "$tag" articles:='{"@add": ["x-coredata://…/Article/p7"]}'
              larder update Article --where 'category.name == %@' --arg tech category:=null
              larder update Article --all --set 'wordCount=wordCount * 2'

            Values are written as for insert; a to-many relationship also takes edits, as in save. \
            With a URI the object's new version is printed. With \
            --if-version nothing is changed unless that is still the object's version, with --base \
            unless the properties still have these values: then the status is 3, and it is for the \
            caller to read the object again. --merge chooses otherwise: storeWins sets the \
            properties that still have their --base, callerWins all that are given, overwrite the \
            others of --base too, rollback nothing. To change several objects by name see save.

            With an entity all objects that satisfy --where are changed in one transaction, and \
            how many they were is printed, or their URIs with --ids. --set computes a property of \
            each object as it was before.
            """)

    @Argument(help: ArgumentHelp("The object, or the entity.", valueName: "uri or entity"))
    var target: String

    @Argument(help: ArgumentHelp("key=text or key:=JSON.", valueName: "key=value"))
    var assignments: [String] = []

    @Option(
        name: .customLong("set"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A property and the expression that it becomes; may be repeated.",
            valueName: "key=expression"))
    var expressions: [String] = []

    @OptionGroup var selection: SelectionOptions

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

    mutating func validate() throws {
        _ = try Assignment.all(assignments + base)
        _ = try named()
        guard !assignments.isEmpty || !expressions.isEmpty else {
            throw ValidationError("nothing is said of what is to be changed: write key=value")
        }
        guard SelectionOptions.isEntity(target) else {
            guard !selection.isGiven, expressions.isEmpty else {
                throw ValidationError("--where, --all, --ids and --set need an entity, not a URI")
            }
            return
        }
        guard ifVersion == nil, base.isEmpty, merge == .error else {
            throw ValidationError("--if-version, --base and --merge need a URI, not an entity")
        }
        try selection.check()
    }

    /// The expressions by property.
    private func named() throws -> [(name: String, text: String)] {
        try expressions.map { expression in
            guard case (let name?, let text) = ExpressionText.named(expression) else {
                let shown = EscapedText.escaped(String(expression.prefix(40)))
                throw ValidationError("--set '\(shown)' is not key=expression")
            }
            return (name, text)
        }
    }

    func run(_ store: OpenStore) throws {
        guard !SelectionOptions.isEntity(target) else { return try updateAll(store) }
        let identifier = try PersistentIdentifier(uriRepresentation: target)
        let decoder = try ObjectDecoder(identifier.entityName, in: store.client.schema())
        let content = try decoder.content(Assignment.all(assignments))
        let base = try decoder.content(Assignment.all(base))
            .values(orElse: "--base has whole lists, as they were read")
        let version = try store.client.update(
            identifier, content.values, edits: content.edits, ifVersion: ifVersion,
            base: base, mergePolicy: merge, idempotencyKey: idempotency.key)
        var writer = options.format.makeWriter()
        if options.format.isJSON {
            try writer.write(
                all: [[.object(identifier), .int(version)]], names: ["@id", "@version"])
        } else {
            try writer.write(number: version, name: "@version", options.format)
        }
    }

    private func updateAll(_ store: OpenStore) throws {
        let decoder = try ObjectDecoder(target, in: store.client.schema())
        let values = try decoder.content(Assignment.all(assignments))
            .values(orElse: "an update of all takes attributes and to-one relationships")
            .sorted { $0.key < $1.key }
        let expressions = try named()
        let change = Change.updateAll(
            selection.selection(of: target),
            set: expressions.map { PropertyAssignment($0.name, .format($0.text)) }
                + values.map { PropertyAssignment($0.key, to: $0.value) })
        try selection.save(
            change, in: store,
            expressions: expressions.map { ("value of \($0.name)", $0.text) }, idempotency,
            options, name: "updated"
        ) { $0.affected.first?.count ?? 0 }
    }
}
