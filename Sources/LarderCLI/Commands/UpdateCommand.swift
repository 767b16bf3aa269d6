import ArgumentParser
import LarderModel

struct UpdateCommand: PendingCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Update one object, or all objects that match a predicate.",
        discussion: """
            EXAMPLES:
              larder update "$uri" wordCount=130 title="Second light"
              larder update "$uri" category:=null --if-version 3
              larder update "$uri" category.name=arts
              larder update "$uri" wordCount=130 --base wordCount=120 --merge storeWins
              larder update "$tag" articles:='{"@add": ["x-coredata://…/Article/p7"]}'
              larder update Article --where 'category.name == "tech"' category:=null
              larder update Article --all --set 'wordCount=wordCount * 2'

            Values have the same syntax as for insert, with category.name=arts for a related \
            object; a to-many relationship also takes edits, as for save.

            With a URI, prints the new version of the object. With --if-version, the object is \
            updated only if it still has that version; with --base, only if the properties still \
            have these values. Otherwise the exit status is 3, unless --merge resolves the \
            conflict: storeWins sets the properties that still have their --base value, callerWins \
            sets all given properties, overwrite sets the properties of --base too, and rollback \
            changes nothing.

            With an entity, updates all objects that match --where in one transaction and prints \
            their number, or with --ids their URIs. --set computes a property from the old values \
            of each object. To update several individual objects, use save.
            """)

    @Argument(
        help: ArgumentHelp("URI of the object, or an entity.", valueName: "uri or entity"),
        completion: StoreCompletion.entity)
    var target: String

    @Argument(
        help: ArgumentHelp(
            "New value of a property: key=text or key:=JSON.", valueName: "key=value"),
        completion: StoreCompletion.assignment)
    var assignments: [String] = []

    @Option(
        name: .customLong("set"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Property and the expression for its new value. Can be repeated.",
            valueName: "key=expression"), completion: StoreCompletion.assignedExpression)
    var expressions: [String] = []

    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var sortOption: SortOption
    @OptionGroup var selection: SelectionOptions

    @Option(help: ArgumentHelp("Update only if the object still has this version.", valueName: "n"))
    var ifVersion: Int64?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Value of a property as it was read: key=text or key:=JSON. Can be repeated.",
            valueName: "key=value"), completion: StoreCompletion.assignment)
    var base: [String] = []

    @Option(help: ArgumentHelp("How to resolve a version conflict.", valueName: "policy"))
    var merge: MergePolicy = .error

    @OptionGroup var creation: CreationOption
    @OptionGroup var conditions: ConditionOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var idempotency: IdempotencyOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    var author: String? { authorOption.author }

    /// The change if the argument is an entity.
    private var bulkChange: BulkChange {
        BulkChange(
            selection: selection, predicate: predicate, arguments: arguments, dates: dates,
            sort: sortOption.keys, conditions: conditions, idempotency: idempotency,
            format: output.format)
    }

    mutating func validate() throws {
        _ = try Assignment.all(assignments + base)
        _ = try namedExpressions()
        try creation.check(idempotency)
        guard !assignments.isEmpty || !expressions.isEmpty else {
            throw ValidationError("no changes given; pass key=value")
        }
        guard SelectionOptions.isEntity(target) else {
            guard !bulkChange.isGiven, expressions.isEmpty else {
                throw ValidationError(
                    "--where, --all, --limit, --ids, --set, --dry-run and --yes require an entity "
                        + "instead of a URI")
            }
            return
        }
        guard ifVersion == nil, base.isEmpty, merge == .error else {
            throw ValidationError(
                "--if-version, --base and --merge require a URI instead of an entity")
        }
        try bulkChange.check()
    }

    /// The expressions of `--set` with their properties.
    private func namedExpressions() throws -> [(name: String, text: String)] {
        try expressions.map { expression in
            guard case (let name?, let text) = ExpressionSplitter.named(expression) else {
                let shown = EscapedText.escaped(String(expression.prefix(40)))
                throw ValidationError("--set: '\(shown)' is not of the form key=expression")
            }
            return (name, text)
        }
    }

    func run(_ session: StoreSession) throws {
        guard !SelectionOptions.isEntity(target) else { return try updateAll(session) }
        let identifier = try session.identifier(target)
        let (content, creations) = try self.content(
            assignments, of: identifier.entityName, in: session,
            creates: creation.createRelated)
        let base = try self.content(base, of: identifier.entityName, in: session, creates: false)
            .content.values(orThrow: "--base takes whole lists, not edits")
        let change = Change.update(
            identifier, ifVersion: ifVersion, values: content.values, base: base,
            edits: content.edits)
        let result = try conditions.save(
            ChangeSet(creations + [change], mergePolicy: merge), arguments.parameters(dates),
            in: session, idempotency)
        guard let result else { return }
        let version = result.updatedVersions.first ?? 0
        var writer = output.format.makeWriter()
        if output.format.isJSON {
            try writer.write(
                all: [[.object(identifier), .int(version)]], names: ["@id", "@version"])
        } else {
            try writer.write(number: version, name: "@version", output.format)
        }
    }

    /// The values and edits that the arguments give, and the changes that create related objects.
    private func content(
        _ arguments: [String], of entityName: String, in session: StoreSession, creates: Bool
    ) throws -> (content: ObjectContent, creations: [Change]) {
        var decoder = try session.decoder(entityName, dates)
        decoder.namesRelatedObjects = true
        let content = try decoder.content(Assignment.all(arguments))
        var related = try RelatedObjects(session, creates: creates)
        try related.beginSet([content])
        return (try related.resolved(content), related.creations)
    }

    private func updateAll(_ session: StoreSession) throws {
        let (content, creations) = try self.content(
            assignments, of: target, in: session,
            creates: creation.createRelated && !selection.dryRun)
        let values =
            try content
            .values(orThrow: "a bulk update takes attributes and to-one relationships only")
            .sorted { $0.key < $1.key }
        let expressions = try namedExpressions()
        let assignments =
            expressions.map { PropertyAssignment($0.name, .format($0.text)) }
            + values.map { PropertyAssignment($0.key, to: $0.value) }
        try bulkChange.save(
            target, in: session, after: creations,
            expressions: expressions.map { ("value of \($0.name)", $0.text) }, name: "updated",
            change: { .updateAll($0, set: assignments) }, number: { $0.affected.first?.count ?? 0 })
    }
}
