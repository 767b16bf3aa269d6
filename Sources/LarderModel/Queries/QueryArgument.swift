/// An argument of a query: a value, or a list of values for the right side of `IN`.
public enum QueryArgument: Hashable, Sendable {
    case value(Value)
    /// At most ``Limits/listElementsMax`` values; nil is a valid element.
    case list([Value])
}

extension QueryArgument: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    public init(nilLiteral: ()) { self = .value(.null) }
    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
    public init(integerLiteral value: Int64) { self = .value(.int(value)) }
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    public init(arrayLiteral elements: Value...) { self = .list(elements) }
}

extension QueryArgument {
    /// Checks the length of a list argument.
    package static func checkCount(of elements: [Value]) throws(LarderError) {
        guard elements.count <= Limits.listElementsMax else { throw tooManyElements }
    }

    package static let tooManyElements = LarderError(
        .resourceExhausted, "a list takes at most \(Limits.listElementsMax) elements",
        hint: "run several queries")
}
