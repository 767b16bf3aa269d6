import ArgumentParser
import LarderModel

/// A search for words in the texts of an entity.
struct SearchOption: ParsableArguments {
    @Option(
        name: .customLong("search"), parsing: .unconditional,
        help: ArgumentHelp(
            """
            Objects whose texts have these words, the best first unless --sort is given: \
            'larder "object store" -redis pan*'.
            """, valueName: "text"))
    var text: String?

    /// The variable that has the search text.
    static let variable = "search"
}

extension FetchOptions {
    /// The options with the search as a predicate, a sort key and a variable.
    ///
    /// - Throws: `unsupported` if the entity has no string.
    func resolvingSearch(
        of entityName: String, in session: StoreSession
    ) throws -> FetchOptions {
        guard let text = searchOption.text,
            let entity = try session.client.schema().entity(named: entityName)
        else { return self }
        let names = entity.searchedAttributes
        guard !names.isEmpty else {
            throw LarderError(
                .unsupported, "\(entity.name) has no string attribute to search",
                hint: "search through a relationship with --where")
        }
        let paths = names.map { QueryExpression.keyPath(.object, [$0]).format }
        let operands = "(\(paths.joined(separator: ", ")), $\(SearchOption.variable))"
        let search = "SEARCH\(operands)"
        var resolved = self
        resolved.predicate.format = predicate.format.map { "(\($0)) AND \(search)" } ?? search
        if sort.isEmpty {
            resolved.sortOption.lists = [[try SortArgument("score\(operands):desc")]]
        }
        resolved.predicate.values.variables.append(
            VariableArgument(name: SearchOption.variable, value: text))
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
