import ArgumentParser
import LarderModel

/// What `fetch` and `explain` ask for: which objects, in which order, and what of them.
struct FetchOptions: ParsableArguments {
    @OptionGroup var predicate: PredicateOptions

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            Orders by an expression, a key path above all; may be repeated. Behind it :desc, \
            :nilsfirst or :nilslast, :caseinsensitive or :localized.
            """, valueName: "expression"))
    var sort: [SortArgument] = []

    @Option(help: ArgumentHelp("At most so many rows.", valueName: "n"))
    var limit: Int64?

    @Option(help: ArgumentHelp("Leaves out the first rows.", valueName: "n"))
    var offset: Int64?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Only what comes after this place: a value for each --sort, nil for nil, and last the \
            object's URI; given once each.
            """, valueName: "value"))
    var after: [String] = []

    @Option(
        help: ArgumentHelp(
            "The columns: [name=]EXPRESSION, @id, @entity, @version, separated by commas.",
            valueName: "expression,…"))
    var select: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Prints related objects inside the objects, in JSON; may be repeated.",
            valueName: "keypath"))
    var prefetch: [String] = []

    @Flag(help: "Each row once; needs --select.")
    var distinct = false

    @Flag(help: "Identifiers only: the same as --select @id.")
    var ids = false

    mutating func validate() throws {
        if limit.map({ $0 < 0 }) == true { throw ValidationError("--limit is a number from 0") }
        if offset.map({ $0 < 0 }) == true { throw ValidationError("--offset is a number from 0") }
        if ids && select != nil { throw ValidationError("--ids and --select exclude each other") }
        if let select { try ResultColumn.validate(list: select) }
        if distinct && select == nil { throw ValidationError("--distinct needs --select") }
        if !after.isEmpty && (distinct || offset != nil) {
            throw ValidationError("--after excludes --distinct and --offset")
        }
        if !prefetch.isEmpty && (select != nil || ids) {
            throw ValidationError("--prefetch excludes --select and --ids")
        }
        guard let columns else { return }
        if distinct && columns.contains(where: \.isIdentity) {
            throw ValidationError("--distinct rows have no @id, @entity or @version")
        }
    }

    /// The columns asked for; nil for whole objects.
    var columns: [ResultColumn]? {
        if ids { return [.identifier] }
        return select.map(ResultColumn.list)
    }

    /// The texts that errors may be about, by the names that they have there.
    var texts: [(name: String, text: String)] {
        let selected = (columns ?? []).compactMap(\.text).enumerated().map { index, text in
            (name: "selected column \(index + 1)", text: text)
        }
        return predicate.texts + selected + SortArgument.texts(sort)
    }

    var parameters: QueryParameters {
        var parameters = predicate.parameters(limit: limit, offset: offset)
        parameters.after = after.map(Self.place)
        return parameters
    }

    /// The word `nil` is nil; a string that is this word has a backslash in front.
    private static func place(_ text: String) -> Value {
        if text == "nil" { return .null }
        let isEscaped = text.first == "\\" && text.drop { $0 == "\\" } == "nil"
        return .string(isEscaped ? String(text.dropFirst()) : text)
    }

    func query(_ entityName: String) -> Query {
        .fetch(
            Fetch(
                entityName, where: predicate.predicate, sort: sort.map(\.key),
                selection: columns.map(ResultColumn.selection) ?? .objects, isDistinct: distinct,
                prefetch: prefetch, includesSubentities: !predicate.excludesSubentities))
    }
}
