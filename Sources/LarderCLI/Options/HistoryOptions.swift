import ArgumentParser
import LarderModel

/// Which transactions of the history to print, and which of their changes.
struct HistoryOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Print changes of these entities only, or of one object.", valueName: "entity or uri"))
    var entities: [EntityName] = []

    @Option(
        name: .customLong("kind"),
        help: ArgumentHelp("Print changes of this kind only. Repeatable.", valueName: "kind"))
    var kinds: [HistoryRun.Kind] = []

    @Option(
        name: .customLong("property"),
        help: ArgumentHelp(
            "Of the updates, print only those of this property. Repeatable.",
            valueName: "property"))
    var properties: [String] = []

    @Option(
        name: .customLong("author"),
        help: ArgumentHelp(
            "Print transactions of this author only; '' is no author. Repeatable.",
            valueName: "name"))
    var authors: [String] = []

    @Option(
        name: .customLong("not-author"),
        help: ArgumentHelp("Omit transactions of this author. Repeatable.", valueName: "name"))
    var excludedAuthors: [String] = []

    @Option(
        name: .customLong("client"),
        help: ArgumentHelp(
            "Print transactions of this client program only. Repeatable.", valueName: "name"))
    var clients: [String] = []

    @Option(
        help: ArgumentHelp(
            "Print transactions from this time on: ISO 8601, or a time ago: 90s, 15m, 2h, 7d.",
            valueName: "time"))
    var since: TimeArgument?

    @Option(help: ArgumentHelp("Print transactions before this time.", valueName: "time"))
    var until: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Print transactions after this token or number of a transaction.", valueName: "token"))
    var after: TokenArgument?

    @Option(
        help: ArgumentHelp(
            "Print transactions up to this token or number, included.", valueName: "token"))
    var upTo: TokenArgument?

    @Flag(
        help: ArgumentHelp(
            "In JSON, print the inserted and updated objects as they are now, too."))
    var objects = false

    @Flag(help: "Print the newest transaction first.")
    var newestFirst = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number of transactions.", valueName: "n"))
    var limit: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Print the newest n transactions, oldest first. Default with --follow: 10.",
            valueName: "n"))
    var last: Int?

    @Flag(help: "Omit the changes.")
    var noChanges = false

    @Flag(help: "Then print each transaction as it is committed, until interrupted.")
    var follow = false

    mutating func validate() throws {
        for (name, number) in [("--limit", limit), ("--last", last)] {
            if let number, number < 0 { throw ValidationError("\(name) must not be negative") }
        }
        if last != nil, limit != nil || newestFirst && object == nil {
            throw ValidationError("--last cannot be combined with --limit or --newest-first")
        }
        if objects, entities.isEmpty {
            throw ValidationError("--objects requires an entity")
        }
        let conflicts = [
            ("--newest-first", newestFirst), ("--limit", limit != nil), ("--up-to", upTo != nil),
            ("--until", until != nil),
        ]
        if follow, let (name, _) = conflicts.first(where: \.1) {
            throw ValidationError("--follow cannot be combined with \(name)")
        }
    }

    /// The URI of the object whose changes to print; nil if entities are named, or none.
    var object: String? {
        entities.map(\.name).first { !SelectionOptions.isEntity($0) }
    }

    /// - Throws: A usage error unless the options fit the changes of one object.
    private func checkObject(_ predicate: PredicateOptions) throws {
        guard object != nil else { return }
        let hasFilter =
            !kinds.isEmpty || !properties.isEmpty || !authors.isEmpty || !excludedAuthors.isEmpty
            || !clients.isEmpty || since != nil || until != nil || upTo != nil || objects || follow
            || noChanges || limit != nil || predicate.format != nil
        guard entities.count == 1, !hasFilter else {
            throw ValidationError(
                "the history of an object takes no other option than --after, --last and "
                    + "--newest-first")
        }
    }

    /// - Throws: A usage error if the predicate does not fit these options.
    func check(_ predicate: PredicateOptions) throws {
        try checkObject(predicate)
        if predicate.format != nil, entities.count != 1 {
            throw ValidationError("--where requires exactly one entity")
        }
        if objects || predicate.format != nil, noChanges {
            throw ValidationError("--no-changes cannot be combined with --where or --objects")
        }
    }

    var filter: HistoryFilter {
        HistoryFilter(
            entities: entities.map(\.name), kinds: Set(kinds), properties: properties,
            authors: authors, excludedAuthors: excludedAuthors, clientNames: clients,
            since: since?.date, until: until?.date)
    }
}

extension HistoryOptions {
    /// The objects whose changes and values to print.
    func wantedObjects(
        where predicate: PredicateOptions, _ parameters: QueryParameters
    ) -> [HistoryObjects] {
        guard objects || predicate.format != nil else { return [] }
        return entities.map { entity in
            HistoryObjects(
                Fetch(
                    entity.name, where: predicate.predicate,
                    selection: objects ? .objects : .identifiers,
                    includesSubentities: !predicate.excludesSubentities),
                parameters)
        }
    }
}

extension HistoryRun.Kind: ExpressibleByArgument {
    /// The word for the kind in arguments and in JSON.
    var name: String {
        switch self {
        case .inserted: "inserted"
        case .updated: "updated"
        case .deleted: "deleted"
        }
    }

    public init?(argument: String) {
        guard let kind = Self.allCases.first(where: { $0.name == argument }) else { return nil }
        self = kind
    }

    public static var allValueStrings: [String] { allCases.map(\.name) }
}
