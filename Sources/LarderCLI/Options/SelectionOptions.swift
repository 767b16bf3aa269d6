import ArgumentParser
import LarderModel

/// Which objects of an entity a change is about.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var predicate: PredicateOptions

    @Flag(help: "All objects of the entity; nothing else stands for that.")
    var all = false

    @Flag(help: "Print the URIs of the objects instead of their number.")
    var ids = false

    /// Whether any of these was given.
    var isGiven: Bool {
        all || ids || predicate.excludesSubentities || predicate.format != nil
            || !predicate.arguments.isEmpty
            || !predicate.variables.isEmpty
    }

    /// Whether a target is an entity: a URI has a colon, and no entity's name has.
    static func isEntity(_ target: String) -> Bool { !target.contains(":") }

    /// - Throws: A usage error unless just one of a predicate and `--all` says which objects.
    func check() throws {
        guard (predicate.format == nil) == all else {
            throw ValidationError(
                all
                    ? "--where and --all exclude each other"
                    : "an entity needs --where, or --all for all of its objects")
        }
    }

    func selection(of entityName: String) -> ObjectSelection {
        let parameters = predicate.parameters()
        return ObjectSelection(
            entityName, where: predicate.predicate, arguments: parameters.arguments,
            variables: parameters.variables, argumentsAreText: true, wantsIdentifiers: ids,
            includesSubentities: !predicate.excludesSubentities)
    }

    /// Saves one change, and prints the objects' URIs, or a number under a name.
    func save(
        _ change: Change, in store: OpenStore, expressions: [(name: String, text: String)] = [],
        _ idempotency: IdempotencyOption, _ options: GlobalOptions, name: String,
        number: (SaveResult) -> Int64
    ) throws {
        let result = try PredicateFailure.joining(predicate.texts + expressions) {
            try store.client.save(ChangeSet([change]), idempotencyKey: idempotency.key)
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
