import FoundationEssentials
import LarderModel
import Testing

@testable import LarderQuery

@Suite("The table of functions")
struct FunctionDefinitionTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test("the number of each function is the one in Proto/expression.proto")
    func numbers() throws {
        var numbers: [String: UInt32] = [:]
        for match in try Self.text("Proto/expression.proto").matches(
            of: /SCALAR_FUNCTION_([A-Z_]+) = ([0-9]+);/)
        {
            numbers[match.1.lowercased().replacing("_", with: "")] = UInt32(match.2)
        }
        #expect(numbers.removeValue(forKey: "unspecified") == 0)
        let functions = ScalarFunction.allCases.map { ("\($0)".lowercased(), $0.rawValue) }
        #expect(numbers == Dictionary(uniqueKeysWithValues: functions))
    }

    @Test("no two functions have a name in common")
    func names() {
        var seen: Set<String> = []
        for function in ScalarFunction.allCases {
            let definition = function.definition
            for name in [definition.name] + definition.otherNames {
                #expect(seen.insert(name.lowercased()).inserted, "\(name) occurs twice")
            }
        }
    }

    @Test("docs/queries.md has each function, with the numbers of operands that it takes")
    func documentation() throws {
        let sections = try Self.text("docs/queries.md").components(
            separatedBy: "\n## Operators and functions\n")
        let rows = sections[1].components(separatedBy: "\n### ")[0].split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
        var counts: [String: Set<Int>] = [:]
        for row in rows {
            for match in row.split(separator: " | ")[0].matches(of: /`([A-Za-z]+)\(([^()`]*)\)`/) {
                let operands = match.2.split(separator: ",")
                counts[match.1.lowercased(), default: []].insert(operands.count)
                guard
                    let function = ScalarFunction.allCases.first(where: {
                        $0.name.lowercased() == match.1.lowercased()
                    })
                else {
                    Issue.record("there is no function \(match.1)")
                    continue
                }
                #expect(
                    match.2.contains("…") || function.operandCount.contains(operands.count),
                    "\(function.name) does not take \(operands.count) operands")
            }
        }
        // These functions are operators, or share the row of another function.
        let operators: Set<ScalarFunction> = [
            .add, .subtract, .multiply, .divide, .negate, .bitwiseOr, .bitwiseXor, .padEnd,
        ]
        for function in ScalarFunction.allCases where !operators.contains(function) {
            #expect(counts[function.name.lowercased()] != nil, "\(function.name) is missing")
        }
    }

    @Test("a function that prescribes types has a parameter for each operand")
    func parameters() {
        for function in ScalarFunction.allCases {
            let definition = function.definition
            guard case .prescribed = definition.typing else { continue }
            for count in definition.operandCount where count <= 5 {
                for index in 0..<count {
                    #expect(definition.parameter(at: index, of: count) != nil)
                }
            }
        }
    }
}
