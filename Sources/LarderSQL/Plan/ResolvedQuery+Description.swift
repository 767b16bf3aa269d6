import LarderModel

extension ResolvedQuery: CustomStringConvertible {
    /// The plan as an indented tree, for EXPLAIN and tests.
    package var description: String {
        var tree = PlanTree()
        tree.add("\(verb.rawValue) \(entityName)\(isDistinct ? ", distinct" : "")")
        tree.nested { tree in
            tree.addSources(sources)
            if let entityNames { tree.add("of \(entityNames.joined(separator: ", "))") }
            if predicate != .yes {
                tree.add("where")
                tree.nested { $0.add(predicate) }
            }
            for group in groupBy { tree.add("group by \(group)") }
            if having != .yes {
                tree.add("having")
                tree.nested { $0.add(having) }
            }
            if verb == .fetch && !givesIdentity && !isDistinct { tree.add("values alone") }
            for column in columns {
                tree.add("column \(column)")
                if case .operand(let operand) = column.content { tree.add(within: operand) }
            }
            for order in self.order { tree.add("sort by \(text(order))") }
            for prefetch in self.prefetch {
                tree.add("prefetch \(prefetch.keyPath)")
                tree.nested { $0.add(text: prefetch.query.description) }
            }
        }
        return tree.text
    }

    private func text(_ order: Order) -> String {
        let key =
            switch order.key {
            case .operand(let operand): "\(operand)"
            case .output(let index): "column \(columns[index].name)"
            }
        var text = order.isDescending ? "\(key) descending" : key
        switch order.stringOrder {
        case .plain: break
        case .caseInsensitive: text += ", case-insensitive"
        case .localizedStandard: text += ", localized"
        }
        if order.nilComesFirst == order.isDescending {
            text += order.nilComesFirst ? ", nil first" : ", nil last"
        }
        return text
    }
}

/// Indented lines.
private struct PlanTree {
    private(set) var text = ""
    private var depth = 0

    mutating func add(_ line: String) {
        if !text.isEmpty { text += "\n" }
        text += String(repeating: "  ", count: depth) + line
    }

    mutating func add(text: String) {
        for line in text.split(separator: "\n") { add(String(line)) }
    }

    mutating func nested(_ body: (inout PlanTree) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    mutating func addSources(_ sources: [PlanSource]) {
        for source in sources {
            let verb =
                switch source.join {
                case .first: "from"
                case .inner: "join"
                case .left: "left join"
                }
            let condition = source.condition.map {
                let names = $0.entityNames.map { ", \($0.joined(separator: " or "))" }
                return " on t\(source.alias).\($0.column) == \($0.key)\(names ?? "")"
            }
            let table = source.array.map { "elements of \($0)" } ?? source.table
            add("\(verb) \(table) as t\(source.alias)\(condition ?? "")")
        }
    }

    mutating func add(_ predicate: PlanPredicate) {
        switch predicate {
        case .and(let parts): addParts("and", parts)
        case .or(let parts): addParts("or", parts)
        case .not(let part): addParts("not", [part])
        case .exists(let collection):
            add("exists")
            nested { tree in
                tree.addSources(collection.sources)
                if collection.predicate != .yes { tree.add(collection.predicate) }
            }
        default:
            add(predicate.line)
            for operand in predicate.operands { add(within: operand) }
        }
    }

    private mutating func addParts(_ name: String, _ parts: [PlanPredicate]) {
        add(name)
        nested { tree in for part in parts { tree.add(part) } }
    }

    /// The collections and predicates in an operand.
    mutating func add(within operand: PlanOperand) {
        switch operand {
        case .collection(let function, let collection, let element, _, _):
            nested { tree in
                tree.add("\(function.rawValue) over")
                tree.nested { tree in
                    tree.addSources(collection.sources)
                    if collection.predicate != .yes { tree.add(collection.predicate) }
                }
                if let element { tree.add(within: element) }
            }
        case .join(let join):
            nested { tree in
                tree.add(join.position == nil ? "join over" : "join in order over")
                tree.nested { tree in
                    tree.addSources(join.collection.sources)
                    if join.collection.predicate != .yes { tree.add(join.collection.predicate) }
                }
                tree.add(within: join.text)
            }
            add(within: join.separator)
        case .predicate(let predicate):
            nested { tree in
                tree.add("if")
                tree.nested { $0.add(predicate) }
            }
        default: for operand in operand.operands { add(within: operand) }
        }
    }
}

extension PlanPredicate {
    /// A predicate without inner predicates, as one line.
    fileprivate var line: String {
        switch self {
        case .constant(let bool): "\(bool)"
        case .isTrue(let operand): "\(operand)"
        case .decided(let comparison):
            "\(comparison.left) \(comparison.operator.rawValue) \(comparison.right)"
        case .comparison(let left, let name, let right, let options):
            "\(left) \(name.rawValue)\(options.text) \(right)"
        case .between(let value, let lower, let upper, let options):
            "\(value) BETWEEN\(options.text) {\(lower), \(upper)}"
        case .oneOf(let operand, let list, let options):
            "\(operand) IN\(options.text) {\(list.map(\.description).joined(separator: ", "))}"
        case .oneOfList(let operand, let list, let options):
            "\(operand) IN\(options.text) \(list)"
        case .isKind(let column, let names):
            "\(column.reference) is \(names.joined(separator: ", "))"
        case .and, .or, .not, .exists: preconditionFailure("these have lines of their own")
        }
    }
}

extension ColumnReference: CustomStringConvertible {
    package var description: String { "t\(alias).\(column)" }
}

extension PlanOperand: CustomStringConvertible {
    package var description: String {
        switch self {
        case .column(let column): column.reference.description
        case .value(let value): value.description
        case .member(let member):
            ([member.document.description] + member.path).joined(separator: ".")
        case .function(let function, let operands, _, _):
            "\(function.name)(\(operands.map(\.description).joined(separator: ", ")))"
        case .converted(let operand, let type):
            "\(operand) as \(type.nounWithArticle)"
        case .predicate: "(predicate)"
        case .collection(let function, let collection, let operand, _, _):
            "\(function.rawValue)("
                + (operand?.description
                    ?? collection.sources.map { "t\($0.alias)" }.joined(separator: ", ")) + ")"
        case .join(let join): "join(\(join.text), \(join.separator))"
        case .aggregate(let function, let operand, _, _):
            "\(function.rawValue)(\(operand?.description ?? ""))"
        }
    }
}

extension ResolvedQuery.OutputColumn: CustomStringConvertible {
    package var description: String {
        switch content {
        case .operand(let operand): "\(name): \(operand)"
        case .list(let list):
            "\(name): list of \(list.table).\(list.keyColumn) by \(list.ownerColumn)"
        }
    }
}
