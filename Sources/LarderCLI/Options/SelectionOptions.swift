import ArgumentParser
import LarderModel

/// The objects of an entity that a bulk update or delete applies to.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var predicate: PredicateOptions

    @Flag(help: "Apply to every object of the entity. Required if --where is omitted.")
    var all = false

    @Flag(help: "Print the URIs of the objects instead of their number.")
    var ids = false

    /// Whether any of these options was given.
    var isGiven: Bool {
        all || ids || predicate.excludesSubentities || predicate.format != nil
            || !predicate.arguments.isEmpty
            || !predicate.variables.isEmpty
    }

    /// Whether an argument is an entity: a URI contains a colon, the name of an entity does not.
    static func isEntity(_ target: String) -> Bool { !target.contains(":") }

    /// - Throws: A usage error unless exactly one of `--where` and `--all` is given.
    func check() throws {
        guard (predicate.format == nil) == all else {
            throw ValidationError(
                all
                    ? "--where and --all cannot be combined"
                    : "--where is required with an entity; to apply to all objects, pass --all")
        }
    }

    func selection(of entityName: String) -> ObjectSelection {
        let parameters = predicate.parameters()
        return ObjectSelection(
            entityName, where: predicate.predicate, arguments: parameters.arguments,
            variables: parameters.variables, argumentsAreText: true, wantsIdentifiers: ids,
            includesSubentities: !predicate.excludesSubentities)
    }

    /// Saves one change and prints the URIs of the objects, or a number.
    ///
    /// - Parameters:
    ///   - name: The name of the number in the output.
    ///   - number: Takes the number from the result.
    func save(
        _ change: Change, in session: StoreSession,
        expressions: [(name: String, text: String)] = [],
        _ idempotency: IdempotencyOption, _ options: GlobalOptions, name: String,
        number: (SaveResult) -> Int64
    ) throws {
        let result = try PredicateFailure.attachingFormat(predicate.texts + expressions) {
            try session.client.save(ChangeSet([change]), idempotencyKey: idempotency.key)
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
