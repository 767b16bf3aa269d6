import ArgumentParser
import LarderModel
import LarderQuery

/// The conditions of a change set.
struct ConditionOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Change nothing if an object matches: 'Article where title == "x"', or 'Article' for \
            any object. Can be repeated.
            """, valueName: "entity [where format]"),
        completion: StoreCompletion.condition,
        transform: { try ConditionArgument($0, count: 0) })
    var unless: [ConditionArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Change nothing unless exactly n objects match: '3 Article where title == "x"'. Can be \
            repeated.
            """, valueName: "n entity [where format]"),
        completion: StoreCompletion.condition,
        transform: ConditionArgument.init(counted:))
    var expect: [ConditionArgument] = []

    var all: [ConditionArgument] { unless + expect }

    var isEmpty: Bool { all.isEmpty }

    /// The format strings, each with the name that error messages use.
    var texts: [(name: String, text: String)] {
        all.enumerated().compactMap { index, condition in
            condition.format.map { (Self.name(index), $0) }
        }
    }

    private static func name(_ index: Int) -> String { "condition \(index + 1)" }

    /// Takes the arguments of the conditions, which come before those of other predicates.
    ///
    /// - Throws: `PredicateFailure` for a format string with a syntax error.
    func take(from parameters: inout QueryParameters) throws -> [ChangeSet.Condition] {
        var used = 0
        let conditions = try all.enumerated().map { index, condition in
            let first = used
            if let format = condition.format {
                used += try PredicateFailure.attachingFormat([(Self.name(index), format)]) {
                    try PredicateFormat.parse(
                        format, arguments: parameters.arguments, firstArgument: used,
                        name: Self.name(index)
                    ).argumentsUsed
                }
            }
            guard used <= parameters.arguments.count else {
                throw LarderError(
                    .malformedPredicate,
                    "\(Self.name(index)) takes more arguments than were passed",
                    hint: "pass one --arg for each %@ and %K")
            }
            let objects = ObjectSelection(
                condition.entityName, where: condition.format.map { .format($0) },
                arguments: Array(parameters.arguments[first..<used]),
                variables: parameters.variables, argumentsAreText: true,
                assumesUTC: parameters.assumesUTC)
            return ChangeSet.Condition(objects, count: condition.count)
        }
        parameters.arguments.removeFirst(used)
        return conditions
    }

    /// Saves changes of a command that has no other predicate, under these conditions.
    ///
    /// - Returns: nil if the changes are pending.
    func save(
        _ changes: ChangeSet, _ parameters: QueryParameters, in session: StoreSession,
        _ idempotency: IdempotencyOption
    ) throws -> SaveResult? {
        var changes = changes
        // The conditions of the options come first, so that `texts` has their names.
        changes.conditions = try conditions(parameters) + changes.conditions
        return try PredicateFailure.attachingFormat(texts, parameters.arguments) {
            try session.save(changes, idempotencyKey: idempotency.key)
        }
    }

    private func conditions(_ parameters: QueryParameters) throws -> [ChangeSet.Condition] {
        var parameters = parameters
        let conditions = try take(from: &parameters)
        guard parameters.arguments.isEmpty else {
            throw LarderError(
                .malformedPredicate, "more arguments were passed than the conditions take",
                hint: "pass one --arg for each %@ and %K")
        }
        return conditions
    }

    /// - Throws: A usage error if there are values and no condition.
    func check(_ arguments: ArgumentOptions) throws {
        guard !isEmpty || !arguments.isGiven else {
            throw ValidationError("--arg and --variable require --unless or --expect")
        }
    }
}

/// `ENTITY` or `ENTITY where PREDICATE`, and the number of objects that must match.
struct ConditionArgument {
    let count: Int64
    let entityName: String
    let format: String?

    init(_ text: String, count: Int64) throws {
        let words = text.split(separator: " ", maxSplits: 2)
        guard let entityName = words.first, words.count == 1 || words.count == 3,
            words.count == 1 || words[1] == "where"
        else {
            throw ValidationError("write ENTITY or ENTITY where PREDICATE")
        }
        self.count = count
        self.entityName = String(entityName)
        format = words.count == 3 ? String(words[2]) : nil
    }

    /// The condition after a number.
    init(counted text: String) throws {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let count = Int64(words[0]), count >= 0 else {
            throw ValidationError("write N ENTITY or N ENTITY where PREDICATE")
        }
        try self.init(String(words[1]), count: count)
    }
}
