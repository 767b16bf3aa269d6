import ArgumentParser
import LarderModel

/// What `fetch` and `explain` ask for: which objects, in which order, and what of them.
struct FetchOptions: ParsableArguments {
    @OptionGroup var predicate: PredicateOptions

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Orders by a key path, KEYPATH:desc downwards; may be repeated.", valueName: "keypath"))
    var sort: [SortArgument] = []

    @Option(help: ArgumentHelp("At most so many rows.", valueName: "n"))
    var limit: Int64?

    @Option(help: ArgumentHelp("Leaves out the first rows.", valueName: "n"))
    var offset: Int64?

    @Option(
        help: ArgumentHelp(
            "The columns: key paths, @id, @entity, @version, separated by commas.",
            valueName: "keypath,…"))
    var select: String?

    @Flag(help: "Each row once; needs --select.")
    var distinct = false

    @Flag(help: "Identifiers only: the same as --select @id.")
    var ids = false

    mutating func validate() throws {
        if limit.map({ $0 < 0 }) == true { throw ValidationError("--limit is a number from 0") }
        if offset.map({ $0 < 0 }) == true { throw ValidationError("--offset is a number from 0") }
        if ids && select != nil { throw ValidationError("--ids and --select exclude each other") }
        if distinct && select == nil { throw ValidationError("--distinct needs --select") }
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

    var parameters: QueryParameters { predicate.parameters(limit: limit, offset: offset) }

    func query(_ entityName: String) -> Query {
        .fetch(
            Fetch(
                entityName, where: predicate.predicate, sort: sort.map(\.key),
                selection: columns.map(ResultColumn.selection) ?? .objects, isDistinct: distinct))
    }
}
