import FoundationEssentials
import LarderModel

/// The values of a list with which others are compared, as `name IN %@` does.
///
/// A list may have a million values, so they are sorted if they are of one type. Numbers of
/// different types have no common order.
struct ValueList: Sendable {
    /// Without nil, and without what the options ignore.
    private var values: [Value]
    private let hasNil: Bool
    private let isSorted: Bool
    private let options: Comparison.Options

    init(_ values: [Value], _ options: Comparison.Options) {
        self.options = options
        self.values = values.filter { !$0.isNull }.map { $0.folded(options) }
        hasNil = self.values.count < values.count
        let type = self.values.first?.attributeType
        isSorted = self.values.allSatisfy { $0.attributeType == type }
        if isSorted { self.values.sort { $0.order(to: $1) < 0 } }
    }

    /// Whether a value equals one of the list. Nil equals nil.
    func contains(_ value: Value) -> Bool {
        guard !value.isNull else { return hasNil }
        let value = value.folded(options)
        guard isSorted else { return values.contains { $0.order(to: value) == 0 } }
        var range = values.indices
        while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
            let order = values[middle].order(to: value)
            if order == 0 { return true }
            range = order < 0 ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }
}

extension Value {
    /// A string without what the options ignore, and JSON as the bytes of its key; other values as
    /// they are.
    func folded(_ options: Comparison.Options) -> Value {
        switch self {
        case .string(let text): .string(text.folded(options))
        case .json(let text): .data(Data(JSONKey(text: text).bytes))
        default: self
        }
    }
}
