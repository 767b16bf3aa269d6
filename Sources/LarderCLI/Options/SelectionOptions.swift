import ArgumentParser
import LarderModel

/// The objects of an entity that a bulk update or delete applies to.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var predicate: PredicateOptions

    @Flag(help: "Apply to every object of the entity. Required if --where is omitted.")
    var all = false

    @Flag(help: "Print the URIs of the objects instead of their number.")
    var ids = false

    /// Whether an option was given that requires an entity. Conditions take values too.
    func isGiven(besides conditions: ConditionOptions) -> Bool {
        all || ids || predicate.excludesSubentities || predicate.format != nil
            || conditions.isEmpty && predicate.values.isGiven
    }

    /// Whether an argument is an entity: a URI contains a colon, a short identifier a slash, the
    /// name of an entity neither.
    static func isEntity(_ target: String) -> Bool {
        !target.contains(":") && !target.contains("/")
    }

    /// - Throws: A usage error unless exactly one of `--where` and `--all` is given.
    func check() throws {
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
            entityName, where: predicate.predicate, arguments: parameters.arguments,
            variables: parameters.variables, argumentsAreText: true, wantsIdentifiers: ids,
            includesSubentities: !predicate.excludesSubentities)
    }

    /// Saves one change and prints the URIs of the objects, or a number.
    ///
    /// - Parameters:
    ///   - name: The name of the number in the output.
    ///   - change: Makes the change of the selected objects.
    ///   - number: Takes the number from the result.
    func save(
        _ entityName: String, in session: StoreSession,
        expressions: [(name: String, text: String)] = [], _ conditions: ConditionOptions,
        _ idempotency: IdempotencyOption, _ options: GlobalOptions, name: String,
        change: (ObjectSelection) -> Change, number: (SaveResult) -> Int64
    ) throws {
        var parameters = predicate.parameters()
        var changes = ChangeSet(conditions: try conditions.take(from: &parameters))
        changes.changes = [change(selection(of: entityName, parameters))]
        let texts = predicate.texts + expressions + conditions.texts
        let result = try PredicateFailure.attachingFormat(texts) {
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
