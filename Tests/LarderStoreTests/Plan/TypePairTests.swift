import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

/// Every pair of attribute types with every comparison: accepted if the types have one kind,
/// otherwise an error with the position.
@Suite("Compared types") struct TypePairTests {
    private static let operators = ["==", "!=", "<", ">=", "CONTAINS", "LIKE", "MATCHES", "==[c]"]

    private static func isExpected(
        _ left: AttributeType, _ comparison: String, _ right: AttributeType
    ) -> Bool {
        let numbers: [AttributeType] = [.int16, .int32, .int64, .float, .double, .decimal]
        let doubles: [AttributeType] = [.float, .double]
        let areNumbers = numbers.contains(left) && numbers.contains(right)
        let mixes =
            (left == .decimal && doubles.contains(right))
            || (right == .decimal && doubles.contains(left))
        // A text of JSON contains a part, and an array an element.
        if left == .json, comparison == "CONTAINS" { return true }
        guard left == right || (areNumbers && !mixes) else { return false }
        switch comparison {
        case "==", "!=": return true
        case "<", ">=": return areNumbers || [.string, .date, .uuid, .json].contains(left)
        default: return left == .string
        }
    }

    @Test(
        "two compared types have one kind, or the comparison is rejected",
        arguments: AttributeType.allCases)
    func matrix(left: AttributeType) throws {
        let attributes = AttributeType.allCases.flatMap { type in
            ["a", "b"].map { side in
                Attribute(name: "\(side)_\(type.rawValue)", type: type, isOptional: true)
            }
        }
        let schema = try Schema(entities: [Entity(name: "Item", attributes: attributes)])
        let fixture = try QueryFixture(schema)
        try fixture.insert([.init(entityName: "Item", name: "nils", values: [:])])
        for right in AttributeType.allCases {
            for comparison in Self.operators {
                let text = "a_\(left.rawValue) \(comparison) b_\(right.rawValue)"
                let isExpected = Self.isExpected(left, comparison, right)
                do {
                    let query = Query.count(entityName: "Item", predicate: .format(text))
                    let count = fixture.rows(try fixture.batches(query))
                    #expect(isExpected, "\(text)")
                    #expect(count == (["==", "==[c]"].contains(comparison) ? ["1"] : ["0"]))
                } catch let error as LarderError {
                    #expect(!isExpected, "\(text): \(error)")
                    #expect(error.code == .wrongType || error.code == .unsupported, "\(text)")
                    #expect(error.message.contains("column"), "\(text): \(error.message)")
                }
            }
        }
    }
}
