extension AggregateFunction {
    /// The type of the result over values of a type.
    ///
    /// - Parameter name: What the values are, for sentences: `Article.title`.
    /// - Throws: `wrongType` for values that the function does not take.
    public func resultType(
        of type: OperandType, named name: String
    ) throws(LarderError) -> OperandType {
        switch self {
        case .count, .countDistinct: return .attribute(.int64)
        case .mode: return type
        case .minimum, .maximum:
            guard type.isOrderable else { throw refusal("an order", type, name) }
            return type
        case .sum, .average, .median, .stddev:
            guard type.isNumber else { throw refusal("numbers", type, name) }
        }
        if self == .sum, type.isInteger { return .attribute(.int64) }
        return self != .stddev && type == .attribute(.decimal) ? type : .attribute(.double)
    }

    /// Whether members of JSON documents are read as numbers for it.
    public var needsNumbers: Bool {
        self == .sum || self == .average || self == .median || self == .stddev
    }

    private func refusal(_ need: String, _ type: OperandType, _ name: String) -> LarderError {
        LarderError(.wrongType, "\(rawValue) needs \(need), and \(name) is \(type.nounWithArticle)")
    }
}
