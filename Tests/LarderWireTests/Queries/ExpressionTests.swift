import LarderModel
import Testing

@testable import LarderWire

@Suite("Expressions are encoded as flat arrays of nodes")
struct ExpressionTests {
    // Numbers of Proto/expression.proto.
    private static let argument: UInt64 = 1
    private static let list: UInt64 = 2
    private static let object: UInt64 = 3
    private static let variable: UInt64 = 4
    private static let keyPath: UInt64 = 5
    private static let comparison: UInt64 = 8
    private static let and: UInt64 = 9
    private static let not: UInt64 = 11
    private static let collection: UInt64 = 6
    private static let function: UInt64 = 12

    private static func node(
        _ kind: UInt64, _ operands: [UInt64] = [], names: [String] = []
    ) -> ProtoBytes {
        var node = ProtoBytes().number(1, kind)
        if !operands.isEmpty { node = node.bytes(2, operands.flatMap(ProtoBytes.varint)) }
        for name in names { node = node.text(4, name) }
        return node
    }

    /// A shape that counts students by a predicate of these nodes.
    private static func shape(_ nodes: [ProtoBytes]) -> [UInt8] {
        var expression = ProtoBytes()
        for node in nodes { expression = expression.message(1, node) }
        let predicate = ProtoBytes().message(2, expression)
        let count = ProtoBytes().text(1, "Student").message(2, predicate)
        return ProtoBytes().message(2, count).bytes
    }

    private static func rejection(_ nodes: [ProtoBytes]) -> ErrorCode? {
        do throws(LarderError) {
            _ = try QueryShape(bytes: shape(nodes)).decoded()
            return nil
        } catch {
            return error.code
        }
    }

    /// `not not … SELF` with this number of levels.
    private static func nested(_ depth: Int) -> QueryExpression {
        (1..<depth).reduce(.object) { tree, _ in .not(tree) }
    }

    @Test("the nodes of an expression are decoded to the tree that they describe")
    func tree() throws {
        let nodes = [
            Self.node(Self.object), Self.node(Self.keyPath, [0], names: ["name"]),
            Self.node(Self.argument).number(3, 2),
            Self.node(Self.comparison, [1, 2]).number(5, 11).number(6, 3).number(7, 1),
        ]
        let expected = Comparison(
            .keyPath("name"), .contains, .argument(2),
            options: [.caseInsensitive, .diacriticInsensitive], modifier: .any)
        #expect(
            try QueryShape(bytes: Self.shape(nodes)).decoded()
                == .count(entityName: "Student", predicate: .tree(.comparison(expected))))
    }

    @Test("packed and unpacked operands of an expression's nodes are the same")
    func unpackedOperands() throws {
        let single = ProtoBytes().number(1, Self.and).number(2, 0).number(2, 1)
        let nodes = [Self.node(Self.object), Self.node(Self.object), single]
        #expect(
            try QueryShape(bytes: Self.shape(nodes)).decoded()
                == .count(entityName: "Student", predicate: .tree(.and([.object, .object]))))
    }

    @Test("an array of nodes that is not a tree is rejected")
    func noTree() {
        let object = Self.node(Self.object)
        let cases: [(String, [ProtoBytes])] = [
            ("no nodes", []),
            ("a forward reference", [Self.node(Self.not, [1]), object]),
            ("a reference to itself", [object, Self.node(Self.not, [1])]),
            ("a node used twice", [object, Self.node(Self.and, [0, 0])]),
            (
                "a node used by two",
                [object, Self.node(Self.not, [0]), Self.node(Self.and, [0, 1])]
            ),
            ("a node used by none", [object, object]),
            ("an index beyond any", [object, Self.node(Self.not, [0xffff_ffff])]),
        ]
        for (name, nodes) in cases {
            #expect(Self.rejection(nodes) == .malformedMessage, "\(name)")
        }
    }

    @Test("a node of an expression with missing or extra fields is rejected")
    func malformedNodes() {
        let object = Self.node(Self.object)
        let long = String(repeating: "n", count: Limits.nameBytesMax + 1)
        let cases: [(String, [ProtoBytes], ErrorCode)] = [
            ("no kind", [ProtoBytes()], .malformedMessage),
            ("an unknown kind", [Self.node(99)], .malformedMessage),
            ("a kind below zero", [ProtoBytes().number(1, .max)], .malformedMessage),
            ("an object of something", [object, Self.node(Self.object, [0])], .malformedMessage),
            ("not, of nothing", [Self.node(Self.not)], .malformedMessage),
            (
                "not, of two", [object, object, Self.node(Self.not, [0, 1])], .malformedMessage
            ),
            ("a variable without name", [Self.node(Self.variable)], .malformedMessage),
            (
                "a variable with two", [Self.node(Self.variable, names: ["a", "b"])],
                .malformedMessage
            ),
            (
                "a variable with a long name", [Self.node(Self.variable, names: [long])],
                .resourceExhausted
            ),
            (
                "a key path without steps", [object, Self.node(Self.keyPath, [0])],
                .malformedMessage
            ),
            (
                "an empty step", [object, Self.node(Self.keyPath, [0], names: ["a", ""])],
                .malformedMessage
            ),
            (
                "17 steps",
                [object, Self.node(Self.keyPath, [0], names: Array(repeating: "a", count: 17))],
                .resourceExhausted
            ),
            (
                "a comparison without operator",
                [object, object, Self.node(Self.comparison, [0, 1])], .malformedMessage
            ),
            (
                "an unknown operator",
                [object, object, Self.node(Self.comparison, [0, 1]).number(5, 14)],
                .malformedMessage
            ),
            (
                "an unknown modifier",
                [object, object, Self.node(Self.comparison, [0, 1]).number(5, 1).number(7, 3)],
                .malformedMessage
            ),
            (
                "an unknown option",
                [object, object, Self.node(Self.comparison, [0, 1]).number(5, 1).number(6, 8)],
                .malformedMessage
            ),
            (
                "an argument beyond any", [Self.node(Self.argument).number(3, 4_096)],
                .resourceExhausted
            ),
        ]
        for (name, nodes, code) in cases { #expect(Self.rejection(nodes) == code, "\(name)") }
    }

    @Test("unknown functions, operators and options in an expression are rejected")
    func malformedFunctions() {
        let object = Self.node(Self.object)
        let cases: [(String, [ProtoBytes])] = [
            (
                "a function that is not named", [object, Self.node(Self.function, [0])]
            ),
            (
                "an unknown function", [object, Self.node(Self.function, [0]).number(9, 1_000)]
            ),
            (
                "the length of nothing", [Self.node(Self.function).number(9, 25)]
            ),
            (
                "a sum of one", [object, Self.node(Self.function, [0]).number(9, 1)]
            ),
            (
                "the first of 65",
                [ProtoBytes](repeating: object, count: 65)
                    + [Self.node(Self.function, Array(0..<65)).number(9, 37)]
            ),
            (
                "an operator that is not named", [object, Self.node(Self.collection, [0])]
            ),
            (
                "an unknown operator", [object, Self.node(Self.collection, [0]).number(8, 10)]
            ),
            (
                "an operator over nothing", [Self.node(Self.collection).number(8, 1)]
            ),
            (
                "options that exclude each other",
                [object, object, Self.node(Self.comparison, [0, 1]).number(5, 1).number(6, 5)]
            ),
        ]
        for (name, nodes) in cases {
            #expect(Self.rejection(nodes) == .malformedMessage, "\(name)")
        }
    }

    @Test("an expression of 64 levels is encoded and decoded, and one of 65 is rejected")
    func depth() throws {
        func nodes(_ depth: Int) -> [ProtoBytes] {
            [Self.node(Self.object)]
                + (1..<depth).map { Self.node(Self.not, [UInt64($0 - 1)]) }
        }
        func query(_ depth: Int) -> Query {
            .count(entityName: "Student", predicate: .tree(Self.nested(depth)))
        }
        #expect(try QueryShape(bytes: Self.shape(nodes(64))).decoded() == query(64))
        #expect(Self.rejection(nodes(65)) == .resourceExhausted)
        #expect(Self.rejection(nodes(4_096)) == .resourceExhausted)
        let shape = try QueryRequest(query(64)).shape
        #expect(try shape.decoded() == query(64))
        #expect(throws: LarderError.self) { try QueryRequest(query(65)) }
        #expect(throws: LarderError.self) {
            try QueryRequest(query(2_000))
        }
    }

    @Test("an expression of 4,096 nodes is encoded and decoded, and one of 4,097 is rejected")
    func nodeCount() throws {
        func nodes(_ count: Int) -> [ProtoBytes] {
            Array(repeating: Self.node(Self.object), count: count - 1)
                + [Self.node(Self.list, (0..<UInt64(count - 1)).map { $0 })]
        }
        func query(_ count: Int) -> Query {
            .count(
                entityName: "Student",
                predicate: .tree(.list(Array(repeating: .object, count: count - 1))))
        }
        #expect(try QueryShape(bytes: Self.shape(nodes(4_096))).decoded() == query(4_096))
        #expect(Self.rejection(nodes(4_097)) == .resourceExhausted)
        let shape = try QueryRequest(query(4_096)).shape
        #expect(try shape.decoded() == query(4_096))
        #expect(throws: LarderError.self) {
            try QueryRequest(query(4_097))
        }
    }
}
