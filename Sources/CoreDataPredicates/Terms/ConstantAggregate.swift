internal import Foundation
internal import LarderModel

extension AggregateFunction {
    /// The value of the function for the elements of a list: `average:` of numbers.
    ///
    /// - Throws: `wrongType` for values of several kinds, and for those that the function does not
    ///   take.
    func value(of elements: [Any]) throws(LarderError) -> Value {
        var values: [Value] = []
        for element in elements { values.append(try Value(of: element)) }
        if values.contains(where: { !$0.isInteger && !$0.isNull }),
            values.allSatisfy({ $0.isNumber || $0.isNull })
        {
            let type: AttributeType = values.contains { $0.isDecimal } ? .decimal : .double
            values = values.map { $0.converted(to: type) ?? $0 }
        }
        guard values.contains(where: { !$0.isNull }) else {
            return [.count, .countDistinct, .sum].contains(self) ? .int(0) : .null
        }
        // The values are those of objects that are related to one.
        let related = values.map { ["value": $0.anyValue ?? NSNull()] }
        let term = BoundTerm(.collection(self, .keyPath("values.value")))
        return try PlainObject(["values": related], for: term).value(of: term)
    }
}

extension Value {
    fileprivate var isInteger: Bool { if case .int = self { true } else { false } }
    fileprivate var isDecimal: Bool { if case .decimal = self { true } else { false } }
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }
}
