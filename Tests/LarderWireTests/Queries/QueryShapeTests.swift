import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("The shape of a query is separate from its values")
struct QueryShapeTests {
    private func rejection(_ shape: [UInt8]) -> ErrorCode? {
        do throws(LarderError) {
            _ = try QueryShape(bytes: shape).decoded()
            return nil
        } catch {
            return error.code
        }
    }

    private func nameIs(_ values: [Value]) -> QueryTerm {
        .tree(.comparison(Comparison(.keyPath("name"), .in, .list(values.map { .constant($0) }))))
    }

    @Test("constants of a query follow the given arguments, the predicate's before HAVING's")
    func lifting() throws {
        let query = Query.aggregate(
            Aggregate(
                "Student", where: nameIs(["Ann", "Bob"]), [.count],
                having: .tree(
                    .comparison(Comparison(.keyPath("count"), .greaterThan, .constant(3))))))
        let encoded = try QueryRequest(query, QueryParameters(arguments: [7], limit: 1))
        #expect(
            encoded.parameters == QueryParameters(arguments: [7, ["Ann", "Bob"], 3], limit: 1))
        let decoded = try encoded.shape.decoded()
        guard case .aggregate(let aggregate) = decoded else {
            Issue.record("not an aggregate")
            return
        }
        #expect(
            aggregate.predicate
                == .tree(
                    .comparison(Comparison(.keyPath("name"), .in, .argument(1)))))
        #expect(
            aggregate.having
                == .tree(.comparison(Comparison(.keyPath("count"), .greaterThan, .argument(2)))))
    }

    @Test("queries with other constants have the same shape, and other queries another one")
    func equalShapes() throws {
        func shape(_ values: [Value]) throws -> QueryShape {
            try QueryRequest(.count(entityName: "Student", predicate: nameIs(values))).shape
        }
        #expect(try shape(["Ann", "Bob"]) == shape([1, nil]))
        #expect(try shape(["Ann", "Bob"]) == shape(["Ann"]))
        func shape(comparing name: Comparison.Operator) throws -> QueryShape {
            let predicate = QueryExpression.comparison(
                Comparison(.keyPath("name"), name, .constant("Ann")))
            return try QueryRequest(
                .count(entityName: "Student", predicate: .tree(predicate))
            ).shape
        }
        #expect(try shape(comparing: .equal) != shape(comparing: .notEqual))
    }

    @Test("too many arguments of a query are rejected, constants of the tree included")
    func argumentCount() throws {
        let full = QueryParameters(arguments: Array(repeating: 1, count: Limits.argumentsMax - 1))
        let one = Query.count(entityName: "Student", predicate: nameIs(["Ann"]))
        let two = Query.count(
            entityName: "Student",
            predicate: .tree(.or([.constant(true), .constant(false)])))
        #expect(try QueryRequest(one, full).parameters.arguments.count == 4_096)
        #expect(throws: LarderError.self) { try QueryRequest(two, full) }
        let tooMany = QueryParameters(arguments: Array(repeating: 1, count: 4_097))
        #expect(throws: LarderError.self) {
            try QueryRequest(.count(entityName: "Student", predicate: nil), tooMany)
        }
    }

    @Test("a random query is decoded as it was encoded, with its constants as arguments")
    func randomQueries() throws {
        var random = RandomQueries(generator: SeededGenerator.fromEnvironment("query coding"))
        for _ in 0..<max(1, RandomTesting.iterations() / 4) {
            let query = random.query()
            let encoded = try QueryRequest(query)
            let decoded = try encoded.shape.decoded()
            #expect(decoded.filled(from: encoded.parameters.arguments) == query)
            let again = try QueryRequest(decoded, encoded.parameters)
            #expect(again.shape == encoded.shape)
            #expect(again.parameters == encoded.parameters)
        }
    }

    @Test("bytes that are not the shape of a query are rejected")
    func malformedShapes() {
        let student = ProtoBytes().text(1, "Student")
        let name = ProtoBytes().text(1, "name")
        let cases: [(String, ProtoBytes)] = [
            ("nothing", ProtoBytes()),
            ("an unknown kind", ProtoBytes().message(4, student)),
            ("a cut", ProtoBytes().raw([0x12, 40, 1])),
            ("a count of nothing", ProtoBytes().message(2, ProtoBytes())),
            ("a name that is not UTF-8", ProtoBytes().message(2, ProtoBytes().bytes(1, [0xff]))),
            ("a predicate without form", ProtoBytes().message(2, student.message(2, ProtoBytes()))),
            ("a fetch without selection", ProtoBytes().message(1, student)),
            ("an unknown selection", ProtoBytes().message(1, student.number(4, 5))),
            (
                "key paths that are not selected",
                ProtoBytes().message(1, student.number(4, 1).text(5, "name"))
            ),
            (
                "an empty key path",
                ProtoBytes().message(1, student.number(4, 1).message(3, ProtoBytes()))
            ),
            (
                "a column without function",
                ProtoBytes().message(3, student.message(4, name))
            ),
            (
                "a column with an unknown function",
                ProtoBytes().message(3, student.message(4, name.number(2, 9)))
            ),
            (
                "a column without name",
                ProtoBytes().message(3, student.message(4, ProtoBytes().number(2, 1)))
            ),
            (
                "a sum of nothing",
                ProtoBytes().message(3, student.message(4, name.number(2, 3)))
            ),
        ]
        for (what, shape) in cases {
            #expect(rejection(shape.bytes) == .malformedMessage, "\(what)")
        }
    }

    @Test("a list one longer than its limit, and a predicate one byte too long, are rejected")
    func limits() throws {
        let student = ProtoBytes().text(1, "Student")
        func sorted(_ count: Int) -> [UInt8] {
            let fetch = (0..<count).reduce(student.number(4, 1)) { fetch, _ in
                fetch.message(3, ProtoBytes().message(1, ProtoBytes().text(1, "name")))
            }
            return ProtoBytes().message(1, fetch).bytes
        }
        #expect(rejection(sorted(Limits.queryColumnsMax)) == nil)
        #expect(rejection(sorted(Limits.queryColumnsMax + 1)) == .resourceExhausted)
        func formatted(_ byteCount: Int) -> [UInt8] {
            let format = String(repeating: "x", count: byteCount)
            return ProtoBytes()
                .message(2, student.message(2, ProtoBytes().text(1, format))).bytes
        }
        #expect(rejection(formatted(Limits.predicateBytesMax)) == nil)
        #expect(rejection(formatted(Limits.predicateBytesMax + 1)) == .resourceExhausted)
        let long = String(repeating: "n", count: Limits.nameBytesMax + 1)
        let named = ProtoBytes().message(2, ProtoBytes().text(1, long)).bytes
        #expect(rejection(named) == .resourceExhausted)
    }

    @Test("every prefix and mutation of every shape is accepted or rejected without a crash")
    func damagedShapes() throws {
        var generator = SeededGenerator.fromEnvironment("query shapes")
        let shapes = try Samples.queries.map {
            try QueryRequest($0.query).shape.bytes
        }
        for shape in shapes {
            for length in 0..<shape.count { _ = rejection(Array(shape[..<length])) }
        }
        for _ in 0..<RandomTesting.iterations() {
            let bytes = Fuzzing.mutated(
                shapes.randomElement(using: &generator) ?? [],
                donor: shapes.randomElement(using: &generator) ?? [], using: &generator)
            guard let query = try? QueryShape(bytes: bytes).decoded() else { continue }
            let again = try QueryRequest(query).shape
            #expect(try again.decoded() == query)
        }
    }
}
