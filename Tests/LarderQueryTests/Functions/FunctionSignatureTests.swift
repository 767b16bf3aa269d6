import LarderModel
import LarderQuery
import Testing

@Suite("Types of functions")
struct FunctionSignatureTests {
    private typealias Call = (ScalarFunction, [OperandKind], AttributeType?, String)

    /// `int64, int64 -> int64`, or the error message.
    private func text(
        _ function: ScalarFunction, _ operands: [OperandKind], _ wanted: AttributeType?
    ) -> String {
        do throws(LarderError) {
            let signature = try function.signature(of: operands, wanted: wanted)
            let types = signature.operands.map(\.rawValue).joined(separator: ", ")
            return "\(types) -> \(signature.result.rawValue)"
        } catch {
            return "[\(error.code.name)] \(error.message)"
        }
    }

    @Test("a function of numbers is computed in the widest of their types")
    func numbers() {
        let calls: [Call] = [
            (.add, [.typed(.int16), .typed(.int32)], nil, "int64, int64 -> int64"),
            (.add, [.typed(.float), .typed(.int64)], nil, "double, double -> double"),
            (.multiply, [.typed(.decimal), .typed(.int16)], nil, "decimal, decimal -> decimal"),
            (.add, [.typed(.int64), .constant(.int64)], nil, "int64, int64 -> int64"),
            (.add, [.typed(.int64), .constant(.double)], nil, "double, double -> double"),
            (.add, [.typed(.decimal), .constant(.double)], nil, "decimal, decimal -> decimal"),
            (.add, [.typed(.double), .constant(.int64)], nil, "double, double -> double"),
            (.add, [.typed(.int64), .argument], nil, "int64, int64 -> int64"),
            (.add, [.typed(.decimal), .argument], nil, "decimal, decimal -> decimal"),
            (.add, [.typed(.int64), .member], nil, "double, double -> double"),
            (.add, [.typed(.decimal), .member], nil, "decimal, decimal -> decimal"),
            (.divide, [.constant(.int64), .constant(.int64)], nil, "int64, int64 -> int64"),
            (.divide, [.constant(.int64), .constant(.int64)], .double, "double, double -> double"),
            (.add, [.argument, .constant(.int64)], nil, "int64, int64 -> int64"),
            (.multiply, [.argument, .argument], .decimal, "decimal, decimal -> decimal"),
            (.add, [.member, .argument], nil, "double, double -> double"),
            (.sqrt, [.typed(.decimal)], nil, "decimal -> double"),
            (.power, [.typed(.int16), .constant(.double)], nil, "int16, double -> double"),
            (.negate, [.typed(.float)], nil, "double -> double"),
            (.bitwiseAnd, [.typed(.int16), .argument], nil, "int64, int64 -> int64"),
        ]
        for (function, operands, wanted, expected) in calls {
            #expect(text(function, operands, wanted) == expected, "\(function) \(operands)")
        }
    }

    @Test("the other operand of a function of a date is in seconds, or another date")
    func dates() {
        let calls: [Call] = [
            (.subtract, [.typed(.date), .constant(.int64)], nil, "date, double -> date"),
            (.add, [.typed(.date), .typed(.int32)], nil, "date, int32 -> date"),
            (.subtract, [.typed(.date), .argument], nil, "date, double -> date"),
            (.subtract, [.typed(.date), .typed(.date)], nil, "date, date -> double"),
            (.subtract, [.argument, .typed(.date)], nil, "date, date -> double"),
            (.add, [.argument, .constant(.int64)], .date, "date, double -> date"),
            (.distance, [.typed(.date), .argument], nil, "date, date -> double"),
            (.distance, [.typed(.date), .constant(.string)], nil, "date, date -> double"),
            (.year, [.typed(.date)], nil, "date -> int64"),
            (.now, [], nil, " -> date"),
        ]
        for (function, operands, wanted, expected) in calls {
            #expect(text(function, operands, wanted) == expected, "\(function) \(operands)")
        }
    }

    @Test("the choices of coalesce and ternary have one type, to which constants are converted")
    func choices() {
        let calls: [Call] = [
            (.coalesce, [.typed(.string), .constant(.string)], nil, "string, string -> string"),
            (.coalesce, [.typed(.date), .constant(.string)], nil, "date, date -> date"),
            (.coalesce, [.member, .constant(.string)], nil, "string, string -> string"),
            (.coalesce, [.constant(nil), .typed(.uuid)], nil, "uuid, uuid -> uuid"),
            (.coalesce, [.typed(.int16), .typed(.double)], nil, "double, double -> double"),
            (
                .conditional, [.typed(.bool), .constant(.int64), .constant(.double)], nil,
                "bool, double, double -> double"
            ),
            (
                .conditional, [.typed(.bool), .argument, .argument], .string,
                "bool, string, string -> string"
            ),
            (.minimum, [.typed(.string), .argument], nil, "string, string -> string"),
        ]
        for (function, operands, wanted, expected) in calls {
            #expect(text(function, operands, wanted) == expected, "\(function) \(operands)")
        }
    }

    @Test("a function rejects operands of wrong types, and names the accepted ones")
    func refusals() {
        let calls: [Call] = [
            (
                .add, [.typed(.decimal), .typed(.double)], nil,
                "[WRONG_TYPE] add takes operands of one type, not a decimal and a double"
            ),
            (
                .add, [.typed(.string), .constant(.int64)], nil,
                "[WRONG_TYPE] add takes operands of one type, not a string and an int64"
            ),
            (
                .multiply, [.typed(.bool), .typed(.bool)], nil,
                "[WRONG_TYPE] multiply takes numbers, not a bool"
            ),
            (
                .add, [.typed(.date), .typed(.date)], nil,
                "[WRONG_TYPE] add takes a number of seconds with a date, not a date"
            ),
            (
                .add, [.typed(.int64), .typed(.date)], nil,
                "[WRONG_TYPE] add takes a date before the seconds, not an int64"
            ),
            (
                .add, [.argument, .argument], nil,
                "[WRONG_TYPE] add: cannot determine the type of the operands"
            ),
            (.length, [.typed(.int64)], nil, "[WRONG_TYPE] length takes a string, not an int64"),
            (.year, [.typed(.double)], nil, "[WRONG_TYPE] year takes a date, not a double"),
            (
                .bitwiseAnd, [.typed(.double), .typed(.int64)], nil,
                "[WRONG_TYPE] bitwiseAnd takes integers, not a double"
            ),
            (
                .minimum, [.typed(.uuid), .typed(.uuid)], nil,
                "[WRONG_TYPE] min takes numbers, strings or dates, not a UUID"
            ),
            (.sqrt, [.typed(.string)], nil, "[WRONG_TYPE] sqrt takes numbers, not a string"),
            (
                .coalesce, [.typed(.string), .typed(.int64)], nil,
                "[WRONG_TYPE] coalesce takes operands of one type, not a string and an int64"
            ),
            (
                .conditional, [.typed(.int64), .typed(.int64), .typed(.int64)], nil,
                "[WRONG_TYPE] ternary takes a predicate as its first operand, not an int64"
            ),
            (.length, [], nil, "[MALFORMED_PREDICATE] length takes 1 operand"),
            (.minimum, [.typed(.int64)], nil, "[MALFORMED_PREDICATE] min takes 2 to 64 operands"),
        ]
        for (function, operands, wanted, expected) in calls {
            #expect(text(function, operands, wanted) == expected, "\(function) \(operands)")
        }
    }
}
