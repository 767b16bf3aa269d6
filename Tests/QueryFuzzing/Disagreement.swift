import FoundationEssentials
import LarderModel
import LarderQuery

/// A query for which SQL and the evaluator disagree, and the smallest such query found.
public struct Disagreement: CustomStringConvertible {
    private let schema: Schema
    private var drafts: [DraftObject]
    private var query: QueryCase
    private let bug: InjectedBug?
    private var selected = QueryOutcome.keys([])
    private var evaluated = QueryOutcome.keys([])

    init(_ query: QueryCase, in store: FuzzedStore, _ bug: InjectedBug?) {
        schema = store.schema
        drafts = store.drafts
        self.query = query
        self.bug = bug
        selected = store.selected(query)
        evaluated = store.evaluated(query, bug)
    }

    /// The number of stores that may be created to find a smaller case.
    private static let storesMax = 300

    /// The disagreement reduced to a minimum.
    public func minimised() -> Disagreement {
        var smallest = self
        if let store = try? FuzzedStore(schema, drafts) { smallest.minimisePredicate(in: store) }
        smallest.minimiseObjects()
        if let store = try? FuzzedStore(schema, smallest.drafts) {
            smallest.minimisePredicate(in: store)
        }
        return smallest
    }

    /// Whether the two sides still differ; records the outcomes.
    private mutating func take(_ candidate: QueryCase, in store: FuzzedStore) -> Bool {
        let selected = store.selected(candidate)
        let evaluated = store.evaluated(candidate, bug)
        guard selected != evaluated, !selected.dependsOnOrder, !evaluated.dependsOnOrder else {
            return false
        }
        // A rejected argument is another disagreement than a wrong result.
        guard selected.isRefused == self.selected.isRefused,
            evaluated.isRefused == self.evaluated.isRefused
        else { return false }
        query = candidate
        self.selected = selected
        self.evaluated = evaluated
        return true
    }

    private mutating func minimisePredicate(in store: FuzzedStore) {
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            if query.limit != nil || query.offset != nil {
                var whole = query
                (whole.limit, whole.offset) = (nil, nil)
                isSmaller = take(whole, in: store)
            }
            for candidate in query.sort.simplified {
                var simpler = query
                simpler.sort = candidate
                if take(simpler, in: store) {
                    isSmaller = true
                    break
                }
            }
            for candidate in query.predicate.simplified {
                var simpler = query
                simpler.predicate = candidate
                if take(simpler, in: store) {
                    isSmaller = true
                    break
                }
            }
        }
    }

    private mutating func minimiseObjects() {
        var storesLeft = Self.storesMax
        for index in drafts.indices.reversed() {
            tryDrafts(drafts.removing(index), &storesLeft)
        }
        for index in drafts.indices {
            for name in drafts[index].links.keys.sorted() {
                var fewer = drafts
                fewer[index].links[name] = nil
                tryDrafts(fewer, &storesLeft)
            }
            for name in drafts[index].values.keys.sorted() where !isNil(name, of: index) {
                var fewer = drafts
                fewer[index].values[name] = .null
                tryDrafts(fewer, &storesLeft)
            }
        }
    }

    private func isNil(_ name: String, of index: Int) -> Bool {
        drafts[index].values[name]?.isNull ?? true
    }

    /// Continues with fewer objects if the two sides still differ.
    private mutating func tryDrafts(_ fewer: [DraftObject], _ storesLeft: inout Int) {
        guard storesLeft > 0, let store = try? FuzzedStore(schema, fewer) else { return }
        storesLeft -= 1
        if take(query.moved(to: store), in: store) { drafts = fewer }
    }

    /// The schema without attributes that are nil in all objects and not used by the query.
    private var reducedSchema: String {
        let names = query.predicate.names.union(query.sort.flatMap(\.names))
        let used = names.union(
            drafts.flatMap { draft in draft.values.filter { !$0.value.isNull }.map(\.key) })
        let reduced = try? Schema(
            entities: schema.entities.map { entity in
                let declared = entity.declared
                return Entity(
                    name: entity.name,
                    attributes: declared.attributes.filter { used.contains($0.name) },
                    relationships: declared.relationships,
                    indexes: declared.indexes.filter { used.isSuperset(of: $0) && $0.count > 1 },
                    parent: entity.parent, isAbstract: entity.isAbstract)
            })
        return (reduced ?? schema).canonicalText
    }

    /// A script that reproduces it; see `Tests/LarderStoreTests/Scripts/queries`.
    public var description: String {
        let sql = (try? FuzzedStore(schema, drafts))?.sql(of: query) ?? ""
        var lines = ["# \(sql)"]
        lines += ["# SQL: \(selected), evaluator: \(evaluated).", "schema", reducedSchema]
        lines.append("insert")
        for (index, draft) in drafts.enumerated() {
            lines.append("\(draft.entityName) o\(index) \(draft.json(in: schema).text)")
        }
        var arguments: [QueryArgument] = []
        let predicate = query.predicate.withArguments(query.arguments, &arguments)
        lines += ["fetch \(query.entityName)", "where \(predicate.format)"]
        if !query.includesSubentities { lines.append("nosubentities") }
        if query.argumentsAreText { lines.append("# The arguments are texts.") }
        for value in arguments { lines.append("arg \(value.scriptText(drafts, schema))") }
        for key in query.sort { lines.append("sort \(key.scriptText)") }
        if let limit = query.limit { lines.append("limit \(limit)") }
        if let offset = query.offset { lines.append("offset \(offset)") }
        return lines.joined(separator: "\n")
    }
}

extension [DraftObject] {
    /// The drafts without one of them and without links to it.
    fileprivate func removing(_ index: Int) -> [DraftObject] {
        var drafts = self
        drafts.remove(at: index)
        for index in drafts.indices {
            drafts[index].links = drafts[index].links.mapValues { links in
                links.filter { $0 != index }.map { $0 > index ? $0 - 1 : $0 }
            }
        }
        return drafts
    }
}
