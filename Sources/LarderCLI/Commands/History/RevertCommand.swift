import ArgumentParser
import LarderClient
import LarderModel

struct RevertCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Undo a transaction, or give an object the values that it had.",
        discussion: """
            EXAMPLES:
              larder revert 4711 --dry-run
              larder revert 4711
              larder revert Book/p7 --to 4710

            Needs the values before the changes, which the history has for entities with \
            "history": "values" in the schema. Prints what is changed: the kind of change, the \
            object, the property, its value now and its former value. It is one transaction, which \
            can be reverted in turn.

            A transaction cannot be undone if a later one has changed the same properties, or if \
            the history does not have a value. Then nothing is changed, each conflict is named, \
            and the exit status is 3. Deleted objects are inserted again, with new URIs, \
            which are printed. Many-to-many relationships are not in the history.

            With --to, the object gets the values that it had after that transaction, whatever has \
            changed it since.
            """)

    @Argument(
        help: ArgumentHelp(
            "Token or number of a transaction, or the URI of an object.",
            valueName: "token or uri"))
    var target: String

    @Option(
        help: ArgumentHelp(
            "For an object: the token or number of the transaction after which it had the values.",
            valueName: "token"))
    var to: TokenArgument?

    @Flag(help: "Print what would be changed, and change nothing.")
    var dryRun = false

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    var author: String? { authorOption.author }

    /// A token has dots and colons, too, but no slash.
    private var isObject: Bool { target.contains("/") }

    func validate() throws {
        guard isObject == (to != nil) else {
            throw ValidationError(
                isObject
                    ? "--to is required with an object" : "--to requires the URI of an object")
        }
    }

    func run(_ session: StoreSession) throws {
        let reversal = try session.client.snapshot { try self.reversal(session, $0) }
        guard reversal.conflicts.isEmpty else {
            let count = reversal.conflicts.count
            throw LarderError(
                .versionConflict,
                "\(target) cannot be reverted: there \(count == 1 ? "is" : "are") \(count) "
                    + "conflict\(count == 1 ? "" : "s")",
                problems: reversal.conflicts)
        }
        var inserted: [PersistentIdentifier] = []
        if !dryRun, !reversal.changes.isEmpty {
            inserted = try session.client.save(ChangeSet(reversal.changes)).inserted
        }
        let new = reversal.newIdentifiers(inserted)
        var writer = output.format.makeWriter()
        try writer.write(
            all: reversal.lines.map { line in
                [
                    .string(line.change.name),
                    .object(line.change == .inserted ? new(line.identifier) : line.identifier),
                    line.property.map { .string($0) } ?? .null, line.from,
                    line.to.mappingObject(new),
                ]
            }, names: ["change", "@id", "property", "from", "to"])
    }

    private func reversal(_ session: StoreSession, _ snapshot: StoreClient) throws -> Reversal {
        guard isObject, let to else {
            guard let token = TokenArgument(argument: target) else {
                throw ValidationError("a token or the URI of an object is required")
            }
            return try TransactionReversal.reversal(
                of: token.token(on: session.client.server), snapshot)
        }
        let identifier = try session.identifier(target)
        return try reversal(
            of: identifier, to: to.token(on: session.client.server), snapshot)
    }

    /// Gives an object the values that it had at a position.
    private func reversal(
        of identifier: PersistentIdentifier, to token: HistoryToken, _ snapshot: StoreClient
    ) throws -> Reversal {
        let history = try ObjectHistory(of: identifier, after: token, snapshot)
        var reversal = Reversal(try snapshot.schema())
        guard !history.steps.contains(where: { $0.kind == .inserted }) else {
            throw LarderError(
                .objectNotFound,
                "\(identifier.shortText) did not exist after transaction \(token.number)",
                hint: "larder delete deletes it")
        }
        let changed = Set(history.steps.lazy.flatMap(\.properties).map(\.name)).sorted()
        let restored = changed.filter {
            let kind = reversal.kind(of: $0, in: identifier.entityName)
            if kind != .computed, history.values[$0]?.value == nil {
                reversal.addConflict(identifier, ".\($0): the history does not have its value")
            }
            return kind == .recorded
        }
        guard let object = history.object else {
            let isRecorded =
                reversal.schema.entity(named: identifier.entityName)?.recordsValues ?? false
            guard isRecorded else {
                reversal.addConflict(identifier, ": the history does not have its values")
                return reversal
            }
            let values = history.values.compactMapValues(\.value).filter {
                reversal.kind(of: $0.key, in: identifier.entityName) == .recorded
            }
            reversal.insert(identifier, values)
            return reversal
        }
        var values: [String: Value] = [:]
        for name in restored { values[name] = history.values[name]?.value }
        reversal.update(object, to: values)
        return reversal
    }
}
