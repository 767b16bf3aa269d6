import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms

/// The objects of an entity that a bulk update or delete applies to.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var predicate: PredicateOptions

    @Flag(help: "Apply to every object of the entity. Required if --where is omitted.")
    var all = false

    @OptionGroup var sortOption: SortOption

    @Option(
        help: ArgumentHelp(
            "Apply to at most this number of objects, the first in the order of --sort.",
            valueName: "n"))
    var limit: Int64?

    @Flag(help: "Print the URIs of the objects instead of their number.")
    var ids = false

    @Flag(help: "Change nothing; print the number of objects that match, or with --ids their URIs.")
    var dryRun = false

    @Flag(help: "Do not ask before --all changes every object. Only a terminal is asked.")
    var yes = false

    private var sort: [SortArgument] { sortOption.keys }

    /// Whether an option was given that requires an entity. Conditions take values too.
    func isGiven(besides conditions: ConditionOptions) -> Bool {
        all || ids || dryRun || yes || limit != nil || !sort.isEmpty
            || predicate.excludesSubentities || predicate.format != nil
            || conditions.isEmpty && predicate.values.isGiven
    }

    /// Whether an argument is an entity: a URI contains a colon, a short identifier a slash, the
    /// name of an entity neither.
    static func isEntity(_ target: String) -> Bool {
        !target.contains(":") && !target.contains("/")
    }

    /// - Throws: A usage error unless exactly one of `--where` and `--all` is given, and for a dry
    ///   run with conditions, which would not be checked.
    func check(_ conditions: ConditionOptions, _ idempotency: IdempotencyOption) throws {
        guard !dryRun || conditions.isEmpty && idempotency.key.isEmpty else {
            throw ValidationError(
                "--dry-run cannot be combined with --unless, --expect and --idempotency-key")
        }
        guard limit != nil || sort.isEmpty else {
            throw ValidationError("--sort requires --limit; all objects that match are changed")
        }
        guard limit.map({ $0 >= 0 }) != false else {
            throw ValidationError("--limit must not be negative")
        }
        guard (predicate.format == nil) == all else {
            throw ValidationError(
                all
                    ? "--where and --all cannot be combined"
                    : "--where is required with an entity; to apply to all objects, pass --all")
        }
    }

    private func selection(
        of entityName: String, _ parameters: QueryParameters
    ) -> ObjectSelection {
        ObjectSelection(
            entityName, where: predicate.predicate, sort: sort.map(\.key), limit: limit,
            arguments: parameters.arguments, variables: parameters.variables,
            argumentsAreText: true,
            assumesUTC: parameters.assumesUTC, wantsIdentifiers: ids,
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
        expressions: [(name: String, text: String)] = [], _ conditions: ConditionOptions,
        _ idempotency: IdempotencyOption, _ options: GlobalOptions, name: String,
        change: (ObjectSelection) -> Change, number: (SaveResult) -> Int64
    ) throws {
        if dryRun {
            return try printMatching(
                entityName, in: session, hasExpressions: !expressions.isEmpty, options)
        }
        try confirm(name, entityName)
        var parameters = predicate.parameters()
        var changes = ChangeSet(conditions: try conditions.take(from: &parameters))
        changes.changes = creations + [change(selection(of: entityName, parameters))]
        let texts = conditions.texts + predicate.texts + SortArgument.texts(sort) + expressions
        let arguments = predicate.parameters().arguments
        let result = try PredicateFailure.attachingFormat(texts, arguments) {
            try session.client.save(changes, idempotencyKey: idempotency.key)
        }
        var writer = options.format.makeWriter()
        if ids {
            let identifiers = result.affected.flatMap(\.identifiers)
            try writer.write(all: identifiers.map { [.object($0)] }, names: ["@id"])
        } else {
            try writer.write(number: number(result), name: name, options.format)
        }
    }
}

extension SelectionOptions {
    /// Prints what the change would apply to. Nothing is locked: later changes are not seen.
    ///
    /// - Parameter hasExpressions: Whether arguments follow those of the predicate.
    private func printMatching(
        _ entityName: String, in session: StoreSession, hasExpressions: Bool,
        _ options: GlobalOptions
    ) throws {
        var parameters = predicate.parameters()
        if hasExpressions { parameters.arguments = selectionArguments(parameters.arguments) }
        guard ids || limit != nil else {
            let count = try session.count(entityName, predicate, parameters)
            return try printMatching(count, options)
        }
        parameters.limit = limit
        let texts = predicate.texts + SortArgument.texts(sort)
        try PredicateFailure.attachingFormat(texts, parameters.arguments) {
            let fetch = Fetch(
                entityName, where: predicate.predicate, sort: sort.map(\.key),
                selection: .identifiers, includesSubentities: !predicate.excludesSubentities)
            let batches = try session.client.stream(.fetch(fetch), parameters)
            guard ids else {
                var count: Int64 = 0
                while let batch = try batches.next() { count += Int64(batch.rowCount) }
                return try printMatching(count, options)
            }
            var printer = ResultPrinter(
                options.format, store: session.storeIdentifier, columns: [.identifier])
            while let batch = try batches.next() { try printer.print(batch) }
            try printer.end()
        }
    }

    private func printMatching(_ count: Int64, _ options: GlobalOptions) throws {
        var writer = options.format.makeWriter()
        try writer.write(number: count, name: "matching", options.format)
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
        guard all, !yes, isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return }
        let entity = EscapedText.escaped(entityName)
        StandardError.write("All objects of \(entity) will be \(verb). Continue? [y/N] ")
        let answer = readLine(strippingNewline: true)?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw LarderError(
                .cancelled, "nothing was \(verb)", hint: "answer y, or pass --yes")
        }
    }
}
