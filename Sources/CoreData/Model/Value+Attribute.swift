internal import CoreDataPredicates
internal import Foundation
internal import LarderModel

extension Value {
    /// The value of an attribute for a value of a program.
    ///
    /// - Throws: `wrongType` for a value that the attribute cannot have.
    init(of value: Any?, as type: AttributeType) throws(LarderError) {
        if type == .json, let value, !(value is NSNull) {
            self = try Self.document(value)
            return
        }
        let plain = try Value(of: value)
        switch (plain, type) {
        case (.int(0), .bool): self = .bool(false)
        case (.int(1), .bool): self = .bool(true)
        case (.bool(let bool), .int16), (.bool(let bool), .int32), (.bool(let bool), .int64):
            self = .int(bool ? 1 : 0)
        default:
            guard let converted = plain.converted(to: type) ?? plain.exactInteger(of: type) else {
                throw LarderError(
                    .wrongType,
                    "it is \(type.nounWithArticle), but \(plain.kindWithArticle) was given")
            }
            self = converted
        }
    }

    /// A number without a fraction as an integer.
    private func exactInteger(of type: AttributeType) -> Value? {
        switch self {
        case .double(let double): Int64(exactly: double).map(Value.int)?.converted(to: type)
        case .float(let float): Int64(exactly: float).map(Value.int)?.converted(to: type)
        case .decimal(let decimal):
            Int64("\(decimal)").map(Value.int)?.converted(to: type)
        default: nil
        }
    }

    private static func document(_ value: Any) throws(LarderError) -> Value {
        guard JSONSerialization.isValidJSONObject([value]),
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])
        else {
            throw LarderError(
                .wrongType, "a value of the type \(Swift.type(of: value)) is not JSON",
                hint: "set dictionaries, arrays, texts and numbers")
        }
        return .json(String(decoding: data, as: UTF8.self))
    }
}
