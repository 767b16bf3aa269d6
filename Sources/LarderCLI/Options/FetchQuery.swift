import LarderModel

/// The query of `fetch`, and of `explain`, which takes the same options.
struct FetchQuery {
    private let entityName: String
    private let options: FetchOptions
    private(set) var predicate: PredicateOptions
    private(set) var sort: [SortArgument]
    private(set) var parameters: QueryParameters
    /// nil for whole objects.
    private(set) var columns: [ResultColumn]?

    init(
        _ entityName: String, _ options: FetchOptions, where predicate: PredicateOptions,
        sort: SortOption, _ parameters: QueryParameters
    ) {
        self.entityName = entityName
        self.options = options
        self.predicate = predicate
        self.sort = sort.keys
        columns = options.columns
        self.parameters = parameters
        self.parameters.limit = options.limit
        self.parameters.offset = options.offset
        self.parameters.after = options.cursor
    }

    var fetch: Fetch {
        Fetch(
            entityName, where: predicate.predicate, sort: sort.map(\.key),
            selection: columns.map(ResultColumn.selection) ?? .objects,
            isDistinct: options.distinct, prefetch: options.prefetch,
            includesSubentities: !predicate.excludesSubentities)
    }

    /// The format strings, each with the name that error messages use.
    var texts: [(name: String, text: String)] {
        let selected = (columns ?? []).compactMap(\.text).enumerated().map { index, text in
            (name: "selected column \(index + 1)", text: text)
        }
        return predicate.texts + selected + SortArgument.texts(sort)
    }
}

extension FetchQuery {
    /// The variable that has the search text.
    static let searchVariable = "search"

    /// The query with what depends on the schema: the search, and columns with texts of several
    /// objects.
    ///
    /// - Throws: `unsupported` for a search if the entity has no string.
    func resolved(in session: StoreSession) throws -> FetchQuery {
        var resolved = try resolvingSearch(in: session)
        if let columns, columns.contains(where: \.mayHaveManyTexts) {
            let schema = try session.client.schema()
            resolved.columns = columns.map { $0.joiningTexts(of: entityName, in: schema) }
        }
        return resolved
    }

    /// The query with the search as a predicate, a sort key and a variable.
    private func resolvingSearch(in session: StoreSession) throws -> FetchQuery {
        guard let text = options.search,
            let entity = try session.client.schema().entity(named: entityName)
        else { return self }
        let names = entity.searchedAttributes
        guard !names.isEmpty else {
            throw LarderError(
                .unsupported, "\(entity.name) has no string attribute to search",
                hint: "search through a relationship with --where")
        }
        let paths = names.map { QueryExpression.keyPath(.object, [$0]).format }
        let operands = "(\(paths.joined(separator: ", ")), $\(Self.searchVariable))"
        let search = "SEARCH\(operands)"
        var resolved = self
        resolved.predicate.format = predicate.format.map { "(\($0)) AND \(search)" } ?? search
        if sort.isEmpty { resolved.sort = [try SortArgument("score\(operands):desc")] }
        resolved.parameters.variables[Self.searchVariable] = .value(.string(text))
        return resolved
    }
}

extension Entity {
    /// The attributes of the index of words that has the most; all strings without one.
    fileprivate var searchedAttributes: [String] {
        let largest = wordIndexes.max { $0.count < $1.count }
        return largest ?? attributes.filter { $0.type == .string }.map(\.name)
    }
}
