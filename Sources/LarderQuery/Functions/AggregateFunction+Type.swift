import LarderModel

extension AggregateFunction {
    /// Returns the type of the result over values of a type.
    ///
    /// - Parameter name: The values in error messages: `Article.title`.
    /// - Throws: `wrongType` for values that the function does not accept.
    package func resultType(
        of type: OperandType, named name: String
    ) throws(LarderError) -> OperandType {
        switch self {
        case .count, .countDistinct: return .attribute(.int64)
        case .mode: return type
        case .minimum, .maximum:
            guard type.isOrderable else { throw rejection("an ordered type", type, name) }
            return type
        case .sum, .average, .median, .stddev:
            guard type.isNumber else { throw rejection("numbers", type, name) }
        }
        if self == .sum, type.isInteger { return .attribute(.int64) }
        return self != .stddev && type == .attribute(.decimal) ? type : .attribute(.double)
    }

    /// Whether members of JSON documents are read as numbers for this function.
    package var needsNumbers: Bool {
        self == .sum || self == .average || self == .median || self == .stddev
    }

    private func rejection(_ need: String, _ type: OperandType, _ name: String) -> LarderError {
        LarderError(.wrongType, "\(rawValue) needs \(need), and \(name) is \(type.nounWithArticle)")
    }
}
