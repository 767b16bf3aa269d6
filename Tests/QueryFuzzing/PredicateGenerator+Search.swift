import LarderModel
import LarderQuery
import TestSupport

/// Searches for words.
extension PredicateGenerator {
    /// `SEARCH(text, …, search)`, also for any or all of many objects.
    mutating func search() -> QueryExpression? {
        note("search predicate")
        if random.once(in: 4) {
            guard let path = manyPath(to: .attribute(.string)),
                let call = call(.search, [path, searchText()])
            else { return nil }
            note("ANY search")
            return .comparison(
                Comparison(
                    call, .equal, .constant(.bool(true)), modifier: random.once(in: 2) ? .any : .all
                ))
        }
        guard let texts = searchedTexts() else { return nil }
        return call(.search, texts + [searchText()])
    }

    /// The attributes of an index of words, or others.
    mutating func searchedTexts() -> [QueryExpression]? {
        let base = pickBase()
        let indexes = store.schema.entity(named: base.entityName)?.wordIndexes ?? []
        if random.once(in: 2), let index = random.pick(indexes) {
            note("search of an index")
            return index.prefix(random.number(1...index.count)).map {
                .keyPath(base.expression, [$0])
            }
        }
        let paths = paths.entries[base.entityName]?.single[.attribute(.string)] ?? []
        guard !paths.isEmpty else { return nil }
        return (0..<random.number(1...3)).compactMap { _ in
            random.pick(paths).map { .keyPath(base.expression, $0) }
        }
    }

    /// The objects that a search finds, best first: what an index of words answers by itself.
    mutating func rankedSearch() -> (predicate: QueryExpression, sort: [SortKey])? {
        let indexes = store.schema.entity(named: bases[0].entityName)?.wordIndexes ?? []
        guard let index = random.pick(indexes) else { return nil }
        let texts = index.prefix(random.number(1...index.count)).map {
            QueryExpression.keyPath(bases[0].expression, [$0])
        }
        let operands = texts + [searchText()]
        guard let search = call(.search, operands), let score = call(.score, operands) else {
            return nil
        }
        note("ranked search")
        return (search, [SortKey(.tree(score), descending: !random.once(in: 4))])
    }

    /// A search text, which is always one.
    mutating func searchText() -> QueryExpression {
        if random.once(in: 20) { return .constant(.null) }
        var text = ""
        for number in 0..<random.number(1...4) {
            guard case .string(var word) = RandomValue.value(of: .string, &random) else { continue }
            if random.once(in: 2) { word = String(word.prefix(random.number(1...3))) }
            if random.once(in: 3) { word = "\"\(word)\"" }
            if random.once(in: 4) { word += "*" }
            if random.once(in: 4) { word = "-" + word }
            if number > 0 { text += random.once(in: 4) ? " OR " : " " }
            text += word
        }
        let isSearchText = (try? CheckedOperand.searchText.check(text)) != nil
        note(isSearchText ? "search text" : "search text of one letter")
        return literal(.string(isSearchText ? text : "x"))
    }
}
