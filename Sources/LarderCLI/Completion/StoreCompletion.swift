import ArgumentParser
import LarderModel

/// Completes arguments by the schema of the store that an unfinished command line names.
///
/// The scripts for bash, zsh and fish and `larder shell` ask the same functions. A function gets
/// the words of the line and the argument up to the cursor, and returns whole arguments.
enum StoreCompletion {
    /// An entity.
    static let entity = CompletionKind.custom { words, _, _ in
        schema(words)?.entities.map(\.name) ?? []
    }

    /// A predicate, or expressions that are separated by commas.
    static let expression = expression(modifiers: [])

    /// Sort keys.
    static let sortKeys = expression(modifiers: [
        "asc", "desc", "nilsfirst", "nilslast", "caseinsensitive", "localized",
    ])

    private static func expression(modifiers: [String]) -> CompletionKind {
        .custom { words, _, argument in
            guard let context = context(words) else { return [] }
            return context.completed(argument, modifiers: modifiers)
        }
    }

    /// `key=` of a property.
    static let assignment = CompletionKind.custom { words, _, argument in
        guard !argument.contains("="), let context = context(words) else { return [] }
        return context.assignments(argument)
    }

    /// `key=` of a property, and an expression.
    static let assignedExpression = CompletionKind.custom { words, _, argument in
        guard let context = context(words) else { return [] }
        return argument.contains("=")
            ? context.completed(argument, modifiers: []) : context.assignments(argument)
    }

    /// A column of `aggregate`.
    static let column = CompletionKind.custom { words, _, argument in
        guard !argument.contains(":"), !argument.contains(" ") else {
            return context(words)?.completed(argument, modifiers: []) ?? []
        }
        let start = argument.lastIndex(of: "=").map { argument[...$0] } ?? ""
        return AggregateFunction.allCases.map {
            start + ($0 == .count ? $0.rawValue : $0.rawValue + ":")
        }
    }

    /// `ENTITY where PREDICATE`, after a number or not.
    static let condition = CompletionKind.custom { words, _, argument in
        guard let schema = schema(words) else { return [] }
        let parts = argument.split(separator: " ")
        guard argument.contains(" where "),
            let entity = parts.lazy.compactMap({ schema.entity(named: String($0)) }).first
        else {
            let start = argument.lastIndex(of: " ").map { argument[...$0] } ?? ""
            return schema.entities.map { start + $0.name }
        }
        return ExpressionCompletion(schema: schema, entity: entity)
            .completed(argument, modifiers: [])
    }

    /// The first entity on the line, also as part of a short identifier.
    private static func context(_ words: [String]) -> ExpressionCompletion? {
        guard let schema = schema(words) else { return nil }
        let entity = words.lazy.compactMap { word in
            schema.entity(named: String(word.prefix { $0 != "/" }))
        }.first
        return entity.map { ExpressionCompletion(schema: schema, entity: $0) }
    }

    /// The schema of the store; nil after any error, because completion must not print errors.
    private static func schema(_ words: [String]) -> Schema? {
        var arguments: [String] = []
        for option in ["--socket", "--store", "--schema"] {
            guard let index = words.lastIndex(of: option), index + 1 < words.count else { continue }
            arguments += [option, words[index + 1]]
        }
        arguments += ["--timeout", "1s"]
        do {
            let options = try ConnectionOptions.parse(arguments)
            return try StoreSession.with(options) { session in
                try session.client.schema()
            }
        } catch {
            return nil
        }
    }
}
