import ArgumentParser
import LarderClient
import LarderModel

/// Completes arguments by the schema of the store that an unfinished command line names.
///
/// The scripts for bash, zsh and fish and `larder shell` ask the same functions. A function gets
/// the words of the line and the argument up to the cursor, and returns whole arguments.
enum StoreCompletion {
    /// Whether values of the store are proposed too.
    @TaskLocal static var proposesValues = false

    /// An entity.
    static let entity = CompletionKind.custom { words, _, _ in
        withStore(words) { $1.entities.map(\.name) }
    }

    /// A predicate, or expressions that are separated by commas.
    static let expression = expression(modifiers: [])

    /// Sort keys.
    static let sortKeys = expression(modifiers: [
        "asc", "desc", "nilsfirst", "nilslast", "caseinsensitive", "localized",
    ])

    private static func expression(modifiers: [String]) -> CompletionKind {
        .custom { words, _, argument in
            withContext(words) { $0.expression(argument, modifiers: modifiers) }
        }
    }

    /// `key=` of a property, and its value.
    static let assignment = CompletionKind.custom { words, _, argument in
        withContext(words) { context in
            argument.contains("=")
                ? context.values(ValueCompletion(assignment: argument))
                : context.names.assignments(argument)
        }
    }

    /// `key=` of a property, and an expression.
    static let assignedExpression = CompletionKind.custom { words, _, argument in
        withContext(words) { context in
            argument.contains("=")
                ? context.expression(argument, modifiers: [])
                : context.names.assignments(argument)
        }
    }

    /// A column of `aggregate`.
    static let column = CompletionKind.custom { words, _, argument in
        guard !argument.contains(":"), !argument.contains(" ") else {
            return withContext(words) { $0.expression(argument, modifiers: []) }
        }
        let start = argument.lastIndex(of: "=").map { argument[...$0] } ?? ""
        return AggregateFunction.allCases.map {
            start + ($0 == .count ? $0.rawValue : $0.rawValue + ":")
        }
    }

    /// `ENTITY where PREDICATE`, after a number or not.
    static let condition = CompletionKind.custom { words, _, argument in
        withStore(words) { client, schema in
            let parts = argument.split(separator: " ")
            guard argument.contains(" where "),
                let entity = parts.lazy.compactMap({ schema.entity(named: String($0)) }).first
            else {
                let start = argument.lastIndex(of: " ").map { argument[...$0] } ?? ""
                return schema.entities.map { start + $0.name }
            }
            let names = ExpressionCompletion(schema: schema, entity: entity)
            return Context(client: client, names: names).expression(argument, modifiers: [])
        }
    }

    /// Completes with the first entity on the line, also as part of a short identifier.
    private static func withContext(
        _ words: [String], _ complete: (Context) -> [String]
    ) -> [String] {
        withStore(words) { client, schema in
            let entity = words.lazy.compactMap { word in
                schema.entity(named: String(word.prefix { $0 != "/" }))
            }.first
            guard let entity else { return [] }
            let names = ExpressionCompletion(schema: schema, entity: entity)
            return complete(Context(client: client, names: names))
        }
    }

    /// Completes by the store of the line, and with nothing after any error, because completion
    /// must not print errors.
    private static func withStore(
        _ words: [String], _ complete: (StoreClient, Schema) -> [String]
    ) -> [String] {
        var arguments: [String] = []
        for option in ["--socket", "--store", "--schema"] {
            guard let index = words.lastIndex(of: option), index + 1 < words.count else { continue }
            arguments += [option, words[index + 1]]
        }
        arguments += ["--timeout", "1s"]
        do {
            let options = try ConnectionOptions.parse(arguments)
            return try StoreSession.with(options) { session in
                complete(session.client, try session.client.schema())
            }
        } catch {
            return []
        }
    }
}

/// The store and the entity by which an argument is completed.
private struct Context {
    let client: StoreClient
    let names: ExpressionCompletion

    func expression(_ argument: String, modifiers: [String]) -> [String] {
        if let value = ValueCompletion(comparisonIn: argument) { return values(value) }
        return names.completed(argument, modifiers: modifiers)
    }

    /// The argument with the values of an attribute that has few, after any error none.
    func values(_ value: ValueCompletion?) -> [String] {
        guard StoreCompletion.proposesValues, let value,
            let (entity, attribute) = names.attribute(at: value.path)
        else {
            return []
        }
        let key = QueryExpression.keyPath(.object, [attribute.name])
        switch attribute.type {
        case .bool: return value.arguments(["false", "true"])
        case .string: break
        default: return []
        }
        let rows = try? client.aggregate(
            entity.name, where: "\(key.format) BEGINSWITH %@",
            arguments: [.value(.string(value.typed))],
            groupBy: [QueryColumn(.tree(key), name: "value")], [.count],
            limit: Int64(ValueCompletion.valuesMax) + 1)
        guard let rows, rows.count <= ValueCompletion.valuesMax else { return [] }
        return value.arguments(rows.compactMap { $0["value"]?.text })
    }
}
