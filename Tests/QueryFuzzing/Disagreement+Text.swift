import FoundationEssentials
import LarderModel

extension DraftObject {
    /// What is not nil, with links as `@o3`.
    func json(in schema: Schema) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for name in values.keys.sorted() {
            guard let value = values[name], !value.isNull else { continue }
            members[name] = value.jsonValue
        }
        for name in links.keys.sorted() {
            guard let links = links[name], !links.isEmpty,
                case .relationship(let relationship) = schema.entity(named: entityName)?
                    .property(named: name)
            else { continue }
            let names = links.map { JSONValue.string("@o\($0)") }
            members[name] = relationship.isToMany ? .array(names) : names[0]
        }
        return .object(members)
    }
}

extension Value {
    /// As a script's `arg` takes it, where objects have the names of drafts.
    func scriptText(_ drafts: [DraftObject], _ schema: Schema) -> String {
        func root(_ name: String) -> String? {
            schema.entity(named: name).map { schema.root(of: $0).name }
        }
        func name(_ object: PersistentIdentifier) -> String {
            // A store counts the keys of each tree of entities from 1.
            let places = drafts.indices.filter {
                root(drafts[$0].entityName) == root(object.entityName)
            }
            let number = Int(object.permanentKey ?? 0) - 1
            guard places.indices.contains(number) else { return "@missing" }
            let isOwn = drafts[places[number]].entityName == object.entityName
            return isOwn ? "@o\(places[number])" : "wrong:\(object.entityName)@o\(places[number])"
        }
        return switch self {
        case .null: "nil"
        case .bool(let bool): "\(bool)"
        case .int(let integer): "\(integer)"
        case .string: jsonValue.text
        case .object(let identifier): name(identifier)
        case .objects(let list): "[\(list.map(name).joined(separator: ", "))]"
        case .float: "float:\(text)"
        case .double: "double:\(text)"
        case .decimal: "decimal:\(text)"
        case .date: "date:\(text)"
        case .uuid: "uuid:\(text)"
        case .url: "url:\(text)"
        case .data: "data:\(text)"
        case .json: "json:\(text)"
        }
    }
}

extension QueryExpression {
    /// The same with all its values as arguments, in the order in which they are printed.
    func withArguments(_ given: [Value], _ taken: inout [Value]) -> QueryExpression {
        switch self {
        case .constant(.bool): return self
        case .constant(let value):
            taken.append(value)
            return .argument(taken.count - 1)
        case .argument(let place):
            taken.append(given.indices.contains(place) ? given[place] : .null)
            return .argument(taken.count - 1)
        default: return mapChildren { $0.withArguments(given, &taken) }
        }
    }

    /// The properties that its key paths name.
    var names: Set<String> {
        let below = children.reduce(into: Set<String>()) { $0.formUnion($1.names) }
        if case .keyPath(_, let steps) = self { return below.union(steps) }
        return below
    }

    /// Smaller trees that may show the same.
    var simplified: [QueryExpression] {
        var candidates: [QueryExpression] = []
        switch self {
        case .and(let parts), .or(let parts): candidates += parts
        case .not(let part): candidates.append(part)
        case .subquery(let collection, _, _): candidates.append(collection)
        case .function(_, let operands): candidates += operands
        case .comparison(let comparison) where comparison.modifier == .direct:
            candidates += [comparison.left, comparison.right]
        default: break
        }
        switch self {
        case .and(let parts):
            for place in parts.indices { candidates.append(.and(parts.without(place))) }
        case .or(let parts):
            for place in parts.indices { candidates.append(.or(parts.without(place))) }
        case .list(let parts):
            for place in parts.indices { candidates.append(.list(parts.without(place))) }
        default: break
        }
        // One child at a time, in its place.
        for (place, child) in children.enumerated() {
            for simpler in child.simplified {
                var next = 0
                candidates.append(
                    mapChildren { original in
                        defer { next += 1 }
                        return next == place ? simpler : original
                    })
            }
        }
        return candidates
    }
}

extension [SortKey] {
    /// Fewer keys, and keys of smaller trees.
    var simplified: [[SortKey]] {
        var candidates: [[SortKey]] = []
        for place in indices {
            var fewer = self
            fewer.remove(at: place)
            candidates.append(fewer)
            for simpler in self[place].expression.simplified {
                var keys = self
                keys[place].term = .tree(simpler)
                candidates.append(keys)
            }
        }
        return candidates
    }
}

extension [QueryExpression] {
    fileprivate func without(_ place: Int) -> [QueryExpression] {
        var rest = self
        rest.remove(at: place)
        return rest
    }
}

extension QueryCase {
    /// The same question of another store: it names the objects that have the same keys there.
    func moved(to store: FuzzedStore) -> QueryCase {
        var moved = self
        moved.arguments = arguments.map { $0.moved(to: store.storeIdentifier) }
        moved.predicate = predicate.moved(to: store.storeIdentifier)
        return moved
    }
}

extension QueryExpression {
    fileprivate func moved(to store: UUID) -> QueryExpression {
        if case .constant(let value) = self { return .constant(value.moved(to: store)) }
        return mapChildren { $0.moved(to: store) }
    }
}

extension Value {
    fileprivate func moved(to store: UUID) -> Value {
        func moved(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
            PersistentIdentifier(
                store: store, entityName: identifier.entityName, key: identifier.permanentKey ?? 0)
        }
        switch self {
        case .object(let identifier): return .object(moved(identifier))
        case .objects(let list): return .objects(list.map(moved))
        default: return self
        }
    }
}

extension SortKey {
    var expression: QueryExpression {
        if case .tree(let tree) = term { tree } else { .object }
    }

    /// The properties that its key path names.
    var names: Set<String> { expression.names }

    /// As a script's `sort` takes it, as far as that goes.
    var scriptText: String {
        "\(expression.format)\(isDescending ? ":desc" : "") (\(nilPlacement), \(stringOrder))"
    }
}
