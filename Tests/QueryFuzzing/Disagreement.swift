import FoundationEssentials
import LarderModel

/// A question that SQL and evaluator answer differently, and the smallest one found that they do.
public struct Disagreement: CustomStringConvertible {
    private let schema: Schema
    private var drafts: [DraftObject]
    private var query: QueryCase
    private let fault: PlantedFault?
    private var selected = QueryOutcome.keys([])
    private var evaluated = QueryOutcome.keys([])

    init(_ query: QueryCase, in store: FuzzedStore, _ fault: PlantedFault?) {
        schema = store.schema
        drafts = store.drafts
        self.query = query
        self.fault = fault
        selected = store.selected(query)
        evaluated = store.evaluated(query, fault)
    }

    /// Stores that are made in search of a smaller one.
    private static let storesMax = 300

    /// The disagreement without what it does not need.
    public func minimised() -> Disagreement {
        var smallest = self
        if let store = try? FuzzedStore(schema, drafts) { smallest.minimisePredicate(in: store) }
        smallest.minimiseObjects()
        if let store = try? FuzzedStore(schema, smallest.drafts) {
            smallest.minimisePredicate(in: store)
        }
        return smallest
    }

    /// Whether the sides still differ; remembers how.
    private mutating func take(_ candidate: QueryCase, in store: FuzzedStore) -> Bool {
        let selected = store.selected(candidate)
        let evaluated = store.evaluated(candidate, fault)
        guard selected != evaluated, !selected.dependsOnOrder, !evaluated.dependsOnOrder else {
            return false
        }
        query = candidate
        self.selected = selected
        self.evaluated = evaluated
        return true
    }

    private mutating func minimisePredicate(in store: FuzzedStore) {
        var isSmaller = true
        while isSmaller {
            isSmaller = false
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
        for place in drafts.indices.reversed() {
            tryDrafts(drafts.removing(place), &storesLeft)
        }
        for place in drafts.indices {
            for name in drafts[place].links.keys.sorted() {
                var fewer = drafts
                fewer[place].links[name] = nil
                tryDrafts(fewer, &storesLeft)
            }
            for name in drafts[place].values.keys.sorted() where !isNil(name, of: place) {
                var fewer = drafts
                fewer[place].values[name] = .null
                tryDrafts(fewer, &storesLeft)
            }
        }
    }

    private func isNil(_ name: String, of place: Int) -> Bool {
        drafts[place].values[name]?.isNull ?? true
    }

    /// Goes on with fewer objects, if the sides still differ.
    private mutating func tryDrafts(_ fewer: [DraftObject], _ storesLeft: inout Int) {
        guard storesLeft > 0, let store = try? FuzzedStore(schema, fewer) else { return }
        storesLeft -= 1
        if take(query.moved(to: store), in: store) { drafts = fewer }
    }

    /// The schema without the attributes that no object has and the query does not name.
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

    /// As a script that shows it: see `Tests/LarderStoreTests/Scripts/queries`.
    public var description: String {
        let sql = (try? FuzzedStore(schema, drafts))?.sql(of: query) ?? ""
        var lines = ["# \(sql)"]
        lines += ["# SQL: \(selected), evaluator: \(evaluated).", "schema", reducedSchema]
        lines.append("insert")
        for (place, draft) in drafts.enumerated() {
            lines.append("\(draft.entityName) o\(place) \(draft.json(in: schema).text)")
        }
        var arguments: [Value] = []
        let predicate = query.predicate.withArguments(query.arguments, &arguments)
        lines += ["fetch \(query.entityName)", "where \(predicate.format)"]
        if !query.includesSubentities { lines.append("nosubentities") }
        for value in arguments { lines.append("arg \(value.scriptText(drafts, schema))") }
        for key in query.sort { lines.append("sort \(key.scriptText)") }
        return lines.joined(separator: "\n")
    }
}

extension [DraftObject] {
    /// Without one of them, and without links to it.
    fileprivate func removing(_ place: Int) -> [DraftObject] {
        var drafts = self
        drafts.remove(at: place)
        for index in drafts.indices {
            drafts[index].links = drafts[index].links.mapValues { links in
                links.filter { $0 != place }.map { $0 > place ? $0 - 1 : $0 }
            }
        }
        return drafts
    }
}
