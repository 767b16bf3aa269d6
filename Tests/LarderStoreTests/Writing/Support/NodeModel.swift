import LarderModel

/// Nodes in memory, and the expected results of bulk changes.
struct NodeModel: Equatable {
    struct Node: Equatable {
        var a: Int64?
        var b: Int64 = 0
        var rank: Int64?
        var parent: Int64?
        var version: Int64 = 1
    }

    struct Rule {
        let format: String
        let holds: (Node, NodeModel) -> Bool
    }

    struct Formula {
        let name: String
        let format: String
        let value: (Node, NodeModel) -> Int64?
    }

    var nodes: [Int64: Node] = [:]

    static let schema = Entity(
        name: "Node",
        attributes: [
            Attribute(name: "a", type: .int64, isOptional: true),
            Attribute(
                name: "b", type: .int64, defaultValue: .int(0),
                validation: .init(minimum: .int(-60), maximum: .int(60))),
            Attribute(name: "rank", type: .int64, isOptional: true, unique: .exact),
        ],
        relationships: [
            Relationship(name: "parent", destination: "Node", inverse: "children"),
            Relationship(
                name: "children", destination: "Node", isToMany: true, inverse: "parent",
                deleteRule: .cascade),
        ])

    func children(of key: Int64) -> [Int64] { nodes.keys.filter { nodes[$0]?.parent == key } }

    private func parent(of node: Node) -> Node? { node.parent.flatMap { nodes[$0] } }

    static func rules(_ number: Int64) -> [Rule] {
        [
            Rule(format: "TRUEPREDICATE") { _, _ in true },
            Rule(format: "a == nil") { node, _ in node.a == nil },
            Rule(format: "b > \(number)") { node, _ in node.b > number },
            Rule(format: "parent.b <= \(number)") { node, model in
                model.parent(of: node).map { $0.b <= number } ?? false
            },
            Rule(format: "parent != nil AND a != \(number)") { node, _ in
                node.parent != nil && node.a != number
            },
            Rule(format: "modulus(rank, 3) == 1") { node, _ in
                node.rank.map { $0 % 3 == 1 } ?? false
            },
        ]
    }

    static func formulas(_ number: Int64) -> [Formula] {
        [
            Formula(name: "a", format: "b * 2") { node, _ in node.b * 2 },
            Formula(name: "a", format: "a + rank") { node, _ in
                node.a.flatMap { a in node.rank.map { a + $0 } }
            },
            Formula(name: "a", format: "\(number) / b") { node, _ in
                node.b == 0 ? nil : number / node.b
            },
            Formula(name: "a", format: "parent.a") { node, model in
                model.parent(of: node).flatMap(\.a)
            },
            Formula(name: "a", format: "nil") { _, _ in nil },
            Formula(name: "b", format: "b + \(number)") { node, _ in node.b + number },
            Formula(name: "b", format: "a") { node, _ in node.a },
            Formula(name: "b", format: "coalesce(parent.b, 3) - b") { node, model in
                (model.parent(of: node)?.b ?? 3) - node.b
            },
            Formula(name: "rank", format: "100 - rank") { node, _ in node.rank.map { 100 - $0 } },
            Formula(name: "rank", format: "rank + \(number)") { node, _ in
                node.rank.map { $0 + number }
            },
            Formula(name: "rank", format: "\(number)") { _, _ in number },
            Formula(name: "parent", format: "parent.parent") { node, model in
                model.parent(of: node)?.parent
            },
            Formula(name: "parent", format: "nil") { _, _ in nil },
        ]
    }

    func selected(_ rule: Rule) -> [Int64] {
        nodes.filter { rule.holds($0.value, self) }.keys.sorted()
    }

    /// The first nodes of these in the descending order of `a`, nodes without `a` first.
    func first(_ limit: Int, of keys: [Int64]) -> [Int64] {
        let order = keys.sorted { left, right in
            switch (nodes[left]?.a, nodes[right]?.a) {
            case (let a?, let b?): a != b ? a > b : left < right
            case (nil, nil): left < right
            case (let a, _): a == nil
            }
        }
        return order.prefix(limit).sorted()
    }

    mutating func apply(_ formulas: [Formula], to keys: [Int64]) {
        let before = self
        for key in keys {
            guard let node = before.nodes[key] else { continue }
            for formula in formulas {
                let value = formula.value(node, before)
                switch formula.name {
                case "a": nodes[key]?.a = value
                case "b": nodes[key]?.b = value ?? .max
                case "rank": nodes[key]?.rank = value
                default: nodes[key]?.parent = value
                }
            }
        }
    }

    /// Deletes nodes and all their descendants.
    mutating func delete(_ keys: [Int64]) {
        var keys = keys
        while let key = keys.popLast() {
            guard nodes[key] != nil else { continue }
            keys += children(of: key)
            nodes[key] = nil
        }
    }

    var hasEqualRanks: Bool {
        let ranks = nodes.values.compactMap(\.rank)
        return Set(ranks).count < ranks.count
    }

    var isValid: Bool { !hasEqualRanks && nodes.values.allSatisfy { -60...60 ~= $0.b } }
}
