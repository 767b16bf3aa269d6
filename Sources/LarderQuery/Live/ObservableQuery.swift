import FoundationEssentials
import LarderModel

/// A query whose result is kept up to date, and the queries that are needed for that.
///
/// All of its terms are trees, so that predicates can be combined. The result of a fetch of objects
/// and of most aggregates is kept up to date object by object; every other result is read again if
/// a change concerns it.
package struct ObservableQuery: Sendable {
    /// The query with all terms as trees.
    package let query: Query
    package let parameters: QueryParameters
    package let dependencies: QueryDependencies
    /// The objects by which one query can be restricted.
    package let keysMax: Int
    private let schema: Schema
    private let store: UUID

    /// The identifiers in a list that restricts a query, with each under the names of all
    /// subentities. Restricting it to more takes longer than reading the whole result again.
    private static let identifiersMax = 65_536

    /// A fetch that is kept up to date object by object; nil for every other query.
    package let fetch: Fetch?
    /// The order of the rows of such a fetch.
    package let directions: [SortDirection]
    /// Whether the first sort key of the fetch divides its rows into sections.
    package let isSectioned: Bool
    /// A count or aggregate that is computed from single objects; nil for every other query.
    package let aggregate: LiveAggregate?

    /// - Throws: errors in format strings; `unknownEntity`; `unsupported` for a fetch with an
    ///   offset, a cursor or prefetched relationships, and for sections without a sort key or of a
    ///   query other than a fetch of objects. Names within expressions are not checked.
    ///
    /// - Parameter alsoReading: The entities of the objects that decide which objects the user may
    ///   see. The result is then read again if a change concerns it.
    package init(
        _ query: Query, _ parameters: QueryParameters, isSectioned: Bool = false,
        in schema: Schema, store: UUID, alsoReading entityNames: Set<String> = []
    ) throws(LarderError) {
        let entity = try schema.existingEntity(named: query.entityName)
        guard parameters.after.isEmpty, parameters.offset == nil else {
            throw LarderError(
                .unsupported, "a query with an offset or a cursor cannot be observed",
                hint: "observe the first rows, by a limit")
        }
        if case .fetch(let fetch) = query, !fetch.prefetch.isEmpty {
            throw LarderError(
                .unsupported, "a fetch that prefetches relationships cannot be observed",
                hint: "select columns such as `category.name`")
        }
        var terms = TermReader(parameters)
        let trees = try terms.trees(query)
        var dependencies = QueryDependencies(of: entity, in: schema)
        for expression in terms.expressions { dependencies.add(expression) }
        if !entityNames.isEmpty {
            dependencies.add(allChangesOf: entityNames.union([entity.name]))
        }
        self.query = trees
        self.parameters = parameters
        self.dependencies = dependencies
        self.store = store
        self.isSectioned = isSectioned
        self.schema = schema
        let namesMax = dependencies.entityNames.map { schema.subentities(of: $0).count + 1 }.max()
        keysMax = Self.identifiersMax / (namesMax ?? 1)
        let isLimited = !entityNames.isEmpty
        aggregate =
            isLimited
            ? nil : LiveAggregate(trees, parameters, dependencies, in: schema, store: store)
        if case .fetch(let fetch) = trees, !isLimited, !fetch.isDistinct, fetch.hasIdentity {
            self.fetch = fetch
            directions = fetch.sort.map(SortDirection.init)
        } else {
            fetch = nil
            directions = []
        }
        if isSectioned { try checkSections() }
    }

    private func checkSections() throws(LarderError) {
        guard let fetch else {
            throw LarderError(
                .unsupported, "only a fetch of objects has sections",
                hint: "fetch objects or columns of them, not distinct, or group by an aggregate")
        }
        guard !fetch.sort.isEmpty else {
            throw LarderError(
                .unsupported, "a fetch without a sort key has no sections",
                hint: "sort by the section first")
        }
    }

    // MARK: - Queries

    /// The objects of the fetch among some, with the values of its sort keys as columns.
    ///
    /// - Parameter keys: nil for all objects.
    package func sortValues(
        of keys: [Int64]?, _ fetch: Fetch, limit: Int64? = nil
    ) -> (Query, QueryParameters) {
        var fetch = fetch
        fetch.selection =
            fetch.sort.isEmpty
            ? .identifiers
            : .columns(
                fetch.sort.enumerated().map { QueryColumn($1.term, name: "\($0)") })
        var (query, parameters) = restricted(fetch, to: keys)
        parameters.limit = limit
        return (query, parameters)
    }

    /// The rows of the fetch for some of its objects, in its order.
    package func rows(_ keys: [Int64], _ fetch: Fetch) -> (Query, QueryParameters) {
        restricted(fetch, to: keys)
    }

    /// The contributions to an aggregate of the objects among some that it selects.
    ///
    /// - Parameter keys: nil for all objects.
    package func contributions(
        of keys: [Int64]?, _ aggregate: LiveAggregate, limit: Int64? = nil
    ) -> (Query, QueryParameters) {
        var (query, parameters) = restricted(aggregate.fetch, to: keys)
        parameters.limit = limit
        return (query, parameters)
    }

    /// The own objects that lead along a path to some of the objects at its end.
    package func owners(
        of keys: [Int64], along path: QueryDependencies.Path
    ) -> (Query, QueryParameters) {
        let objects = identifiers(keys, path.entityName)
        let predicate = QueryExpression.comparison(
            Comparison(
                .keyPath(.object, path.relationships), .in, .argument(0),
                modifier: path.isToMany ? .any : .direct))
        return (
            .fetch(
                Fetch(
                    query.entityName, where: .tree(predicate), selection: .identifiers,
                    includesSubentities: query.includesSubentities)),
            QueryParameters(arguments: [.list(objects)])
        )
    }

    private func restricted(_ fetch: Fetch, to keys: [Int64]?) -> (Query, QueryParameters) {
        var parameters = parameters
        parameters.limit = nil
        guard let keys else {
            // The arguments may be those of columns or of `having`, which are not read here. A
            // query without terms takes none.
            if fetch.predicate == nil, fetch.sort.isEmpty, fetch.selection.columns.isEmpty {
                parameters.arguments = []
            }
            return (.fetch(fetch), parameters)
        }
        let objects = identifiers(keys, fetch.entityName)
        let argument = parameters.arguments.count
        parameters.arguments.append(
            parameters.argumentsAreText ? Self.text(of: objects) : .list(objects))
        let isOne = QueryExpression.comparison(Comparison(.object, .in, .argument(argument)))
        var fetch = fetch
        if case .tree(let predicate)? = fetch.predicate {
            fetch.predicate = .tree(.and([isOne, predicate]))
        } else {
            fetch.predicate = .tree(isOne)
        }
        return (.fetch(fetch), parameters)
    }

    /// The identifiers of objects that may be of subentities: one for each entity, since an
    /// identifier with another entity than the object's matches nothing.
    private func identifiers(_ keys: [Int64], _ entityName: String) -> [Value] {
        let names = [entityName] + schema.subentities(of: entityName).map(\.name)
        return keys.flatMap { key in
            names.map { name in
                .object(PersistentIdentifier(store: store, entityName: name, key: key))
            }
        }
    }

    /// A list as a shell passes it: the text of a JSON array.
    private static func text(of objects: [Value]) -> QueryArgument {
        let uris = objects.compactMap { value -> String? in
            guard case .object(let identifier) = value else { return nil }
            return "\"\(identifier.uriRepresentation)\""
        }
        return .value(.string("[\(uris.joined(separator: ","))]"))
    }
}

extension Fetch {
    /// Whether its rows have identifiers.
    fileprivate var hasIdentity: Bool {
        if case .values = selection { false } else { true }
    }
}

/// Replaces the format strings of a query by trees, in the order in which they take arguments.
private struct TermReader {
    private let parameters: QueryParameters
    private var argumentCount = 0
    /// All terms that read objects.
    private(set) var expressions: [QueryExpression] = []

    init(_ parameters: QueryParameters) { self.parameters = parameters }

    mutating func trees(_ query: Query) throws(LarderError) -> Query {
        switch query {
        case .fetch(var fetch):
            fetch.predicate = try predicate(fetch.predicate)
            switch fetch.selection {
            case .objects, .identifiers: break
            case .columns(let columns): fetch.selection = .columns(try trees(columns))
            case .values(let columns): fetch.selection = .values(try trees(columns))
            }
            fetch.sort = try trees(
                fetch.sort, outputs: fetch.isDistinct ? fetch.selection.columns.map(\.name) : [])
            return .fetch(fetch)
        case .count(let entityName, let term, let includesSubentities):
            return .count(
                entityName: entityName, predicate: try predicate(term),
                includesSubentities: includesSubentities)
        case .aggregate(var aggregate):
            aggregate.predicate = try predicate(aggregate.predicate)
            aggregate.groupBy = try trees(aggregate.groupBy)
            for index in aggregate.columns.indices {
                aggregate.columns[index].term = try value(aggregate.columns[index].term)
                aggregate.columns[index].filter = try predicate(aggregate.columns[index].filter)
            }
            aggregate.having = try predicate(aggregate.having)
            aggregate.sort = try trees(
                aggregate.sort,
                outputs: aggregate.groupBy.map(\.name) + aggregate.columns.map(\.name))
            return .aggregate(aggregate)
        }
    }

    private mutating func trees(_ columns: [QueryColumn]) throws(LarderError) -> [QueryColumn] {
        var trees: [QueryColumn] = []
        for column in columns {
            guard let term = try value(column.term) else { continue }
            trees.append(QueryColumn(term, name: column.name))
        }
        return trees
    }

    /// - Parameter outputs: The names of result columns. A key that is one is not a format.
    private mutating func trees(
        _ keys: [SortKey], outputs: [String]
    ) throws(LarderError) -> [SortKey] {
        var trees = keys
        for index in trees.indices
        where !outputs.contains(where: { keys[index].term == .format($0) }) {
            if let term = try value(keys[index].term) { trees[index].term = term }
        }
        return trees
    }

    private mutating func predicate(_ term: QueryTerm?) throws(LarderError) -> QueryTerm? {
        guard case .format(let text)? = term else { return noted(term) }
        return noted(
            taken(
                try PredicateFormat.parse(
                    text, arguments: parameters.arguments, firstArgument: argumentCount)))
    }

    private mutating func value(_ term: QueryTerm?) throws(LarderError) -> QueryTerm? {
        guard case .format(let text)? = term else { return noted(term) }
        return noted(
            taken(
                try PredicateFormat.parseExpression(
                    text, arguments: parameters.arguments, firstArgument: argumentCount)))
    }

    private mutating func taken(_ parsed: PredicateFormat.Parsed) -> QueryTerm {
        argumentCount += parsed.argumentsUsed
        return .tree(parsed.expression)
    }

    private mutating func noted(_ term: QueryTerm?) -> QueryTerm? {
        if case .tree(let expression)? = term { expressions.append(expression) }
        return term
    }
}
