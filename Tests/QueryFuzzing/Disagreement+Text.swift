import FoundationEssentials
import LarderModel

extension DraftObject {
    /// The values that are not nil, with links as `@o3`.
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
    /// The value in a script's `arg`, where objects have the names of drafts.
    func scriptText(_ drafts: [DraftObject], _ schema: Schema) -> String {
        func root(_ name: String) -> String? {
            schema.entity(named: name).map { schema.root(of: $0).name }
        }
        func name(_ object: PersistentIdentifier) -> String {
            // A store numbers the keys of each entity hierarchy from 1.
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

extension QueryArgument {
    func scriptText(_ drafts: [DraftObject], _ schema: Schema) -> String {
        switch self {
        case .value(let value): return value.scriptText(drafts, schema)
        case .list(let values):
            let elements = values.map { $0.scriptText(drafts, schema) }
            return "[\(elements.joined(separator: ", "))]"
        }
    }
}

extension QueryExpression {
    /// The expression with all its values as arguments, in the order in which they are formatted.
    func withArguments(
        _ given: [QueryArgument], _ taken: inout [QueryArgument]
    ) -> QueryExpression {
        switch self {
        case .constant(.bool): return self
        case .constant(let value):
            taken.append(.value(value))
            return .argument(taken.count - 1)
        case .argument(let index):
            taken.append(given.indices.contains(index) ? given[index] : nil)
            return .argument(taken.count - 1)
        default: return mapChildren { $0.withArguments(given, &taken) }
        }
    }

    /// The names of the properties in its key paths.
    var names: Set<String> {
        let below = children.reduce(into: Set<String>()) { $0.formUnion($1.names) }
        if case .keyPath(_, let steps) = self { return below.union(steps) }
        return below
    }

    /// Smaller trees that may show the same disagreement.
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
            for index in parts.indices { candidates.append(.and(parts.without(index))) }
        case .or(let parts):
            for index in parts.indices { candidates.append(.or(parts.without(index))) }
        case .list(let parts):
            for index in parts.indices { candidates.append(.list(parts.without(index))) }
        default: break
        }
        // Simplify one child at a time.
        for (index, child) in children.enumerated() {
            for simpler in child.simplified {
                var next = 0
                candidates.append(
                    mapChildren { original in
                        defer { next += 1 }
                        return next == index ? simpler : original
                    })
            }
        }
        return candidates
    }
}

extension [SortKey] {
    /// Fewer keys, and keys with smaller trees.
    var simplified: [[SortKey]] {
        var candidates: [[SortKey]] = []
        for index in indices {
            var fewer = self
            fewer.remove(at: index)
            candidates.append(fewer)
            for simpler in self[index].expression.simplified {
                var keys = self
                keys[index].term = .tree(simpler)
                candidates.append(keys)
            }
        }
        return candidates
    }
}

extension [QueryExpression] {
    fileprivate func without(_ index: Int) -> [QueryExpression] {
        var rest = self
        rest.remove(at: index)
        return rest
    }
}

extension QueryCase {
    /// The query for another store, naming the objects with the same keys there.
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

extension QueryArgument {
    fileprivate func moved(to store: UUID) -> QueryArgument {
        switch self {
        case .value(let value): .value(value.moved(to: store))
        case .list(let values): .list(values.map { $0.moved(to: store) })
        }
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

    /// The names of the properties in its key path.
    var names: Set<String> { expression.names }

    /// The key in the form of a script's `sort`, as far as possible.
    var scriptText: String {
        "\(expression.format)\(isDescending ? ":desc" : "") (\(nilPlacement), \(stringOrder))"
    }
}
