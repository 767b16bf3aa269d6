import ArgumentParser
import LarderModel
import LarderQuery

/// A bulk update or delete of the objects of an entity, as the options describe it.
struct BulkChange {
    var selection: SelectionOptions
    let predicate: PredicateOptions
    let arguments: ArgumentOptions
    let dates: DateOptions
    let sort: [SortArgument]
    let conditions: ConditionOptions
    let idempotency: IdempotencyOption
    let format: OutputFormat

    /// The name of the number of deleted objects. A dry run of a deletion makes it and undoes it,
    /// because delete rules decide which other objects are deleted.
    static let deleted = "deleted"

    /// The values of the conditions, the predicate, the sort keys and the expressions.
    private var parameters: QueryParameters { arguments.parameters(dates) }

    /// Whether an option was given that requires an entity. Conditions take values too.
    var isGiven: Bool {
        selection.all || selection.ids || selection.dryRun || selection.yes
            || selection.limit != nil || !sort.isEmpty || predicate.excludesSubentities
            || predicate.format != nil
            || conditions.isEmpty && arguments.isGiven
    }

    /// - Throws: A usage error unless exactly one of `--where` and `--all` is given, and for a dry
    ///   run with conditions, which would not be checked.
    func check() throws {
        guard !selection.dryRun || conditions.isEmpty && idempotency.key.isEmpty else {
            throw ValidationError(
                "--dry-run cannot be combined with --unless, --expect and --idempotency-key")
        }
        guard selection.limit != nil || sort.isEmpty else {
            throw ValidationError("--sort requires --limit; all objects that match are changed")
        }
        guard selection.limit.map({ $0 >= 0 }) != false else {
            throw ValidationError("--limit must not be negative")
        }
        guard (predicate.format == nil) == selection.all else {
            throw ValidationError(
                selection.all
                    ? "--where and --all cannot be combined"
                    : "--where is required with an entity; to apply to all objects, pass --all")
        }
    }

    private func objects(
        of entityName: String, _ parameters: QueryParameters
    ) -> ObjectSelection {
        ObjectSelection(
            entityName, where: predicate.predicate, sort: sort.map(\.key),
            limit: selection.limit, arguments: parameters.arguments,
            variables: parameters.variables, argumentsAreText: true,
            assumesUTC: parameters.assumesUTC, wantsIdentifiers: selection.ids,
            includesSubentities: !predicate.excludesSubentities)
    }

    /// Saves one change and prints the URIs of the objects, or a number.
    ///
    /// - Parameters:
    ///   - creations: The changes that create the objects that the change names.
    ///   - name: The name of the number in the output.
    ///   - change: Makes the change of the selected objects.
    ///   - number: Takes the number from the result.
    func save(
        _ entityName: String, in session: StoreSession, after creations: [Change] = [],
        expressions: [(name: String, text: String)] = [], name: String,
        change: (ObjectSelection) -> Change, number: (SaveResult) -> Int64
    ) throws {
        if selection.dryRun, selection.ids || name != Self.deleted {
            return try printMatching(
                entityName, in: session, hasExpressions: !expressions.isEmpty)
        }
        if !selection.dryRun { try confirm(name, entityName) }
        var parameters = parameters
        var changes = ChangeSet(conditions: try conditions.take(from: &parameters))
        changes.isDryRun = selection.dryRun
        changes.changes = creations + [change(objects(of: entityName, parameters))]
        let texts = conditions.texts + predicate.texts + SortArgument.texts(sort) + expressions
        let result = try PredicateFailure.attachingFormat(texts, self.parameters.arguments) {
            try session.save(changes, idempotencyKey: idempotency.key)
        }
        guard let result else { return }
        var writer = format.makeWriter()
        if selection.ids {
            let identifiers = result.affected.flatMap(\.identifiers)
            try writer.write(all: identifiers.map { [.object($0)] }, names: ["@id"])
        } else {
            try writer.write(number: number(result), name: name, format)
        }
    }
}

extension BulkChange {
    /// Prints what the change would apply to. Nothing is locked: later changes are not seen.
    ///
    /// - Parameter hasExpressions: Whether arguments follow those of the predicate.
    private func printMatching(
        _ entityName: String, in session: StoreSession, hasExpressions: Bool
    ) throws {
        var parameters = parameters
        if hasExpressions { parameters.arguments = selectionArguments(parameters.arguments) }
        guard selection.ids || selection.limit != nil else {
            return try printMatching(session.count(entityName, predicate, parameters))
        }
        parameters.limit = selection.limit
        let texts = predicate.texts + SortArgument.texts(sort)
        try PredicateFailure.attachingFormat(texts, parameters.arguments) {
            let fetch = Fetch(
                entityName, where: predicate.predicate, sort: sort.map(\.key),
                selection: .identifiers, includesSubentities: !predicate.excludesSubentities)
            let batches = try session.client.stream(.fetch(fetch), parameters)
            guard selection.ids else {
                var count: Int64 = 0
                while let batch = try batches.next() { count += Int64(batch.rowCount) }
                return try printMatching(count)
            }
            var printer = ResultPrinter(
                format, store: session.storeIdentifier, columns: [.identifier])
            while let batch = try batches.next() { try printer.print(batch) }
            try printer.end()
        }
    }

    private func printMatching(_ count: Int64) throws {
        var writer = format.makeWriter()
        try writer.write(number: count, name: "matching", format)
    }

    /// The arguments of the predicate and the sort keys; those of the expressions follow them. All
    /// of them if a text has an error, which the server reports.
    private func selectionArguments(_ arguments: [QueryArgument]) -> [QueryArgument] {
        var used = 0
        do {
            if let format = predicate.format {
                used = try PredicateFormat.parse(format, arguments: arguments).argumentsUsed
            }
            for key in sort {
                used += try PredicateFormat.parseExpression(
                    key.text, arguments: arguments, firstArgument: used
                ).argumentsUsed
            }
        } catch {
            return arguments
        }
        return Array(arguments.prefix(used))
    }

    /// Asks before every object of an entity is changed, if a person can answer.
    ///
    /// - Parameter verb: `deleted` or `updated`.
    private func confirm(_ verb: String, _ entityName: String) throws {
        guard selection.all, !selection.yes, Confirmation.isPossible else { return }
        let entity = EscapedText.escaped(entityName)
        guard Confirmation.isGiven("All objects of \(entity) will be \(verb).") else {
            throw LarderError(
                .cancelled, "nothing was \(verb)", hint: "answer y, or pass --yes")
        }
    }
}
