import LarderModel

/// The facts about a column of a file, in bounded memory: the types that all its values have, and
/// numbers for a report.
struct ColumnFacts {
    /// The number of distinct values that are counted.
    static let distinctMax = 1_000

    private(set) var valueCount = 0
    private(set) var nilCount = 0
    /// Empty texts in quotation marks, which are nil if the column is not one of strings.
    private(set) var emptyCount = 0
    /// The length of the longest value in bytes.
    private(set) var bytesLongest = 0
    private var hashes: Set<Int> = []
    private let distinctMax: Int
    /// The types that all values have so far, the narrowest first.
    private var types: [InferredType]?
    /// Whether a Boolean column has both words.
    private var hasYes = false
    private var hasNo = false
    private var hasStrings = false
    /// Whether all texts are numbers with two digits after the point, as amounts of money are.
    private var areAmounts = true
    private var hasOtherJSON = false
    /// The first value that has none of the types of the values before it.
    private(set) var firstOdd: (text: String, line: Int, type: AttributeType)?

    init(distinctMax: Int = Self.distinctMax) { self.distinctMax = distinctMax }

    /// The number of distinct values; nil if there are more than are counted.
    var distinctCount: Int? { hashes.count < distinctMax ? hashes.count : nil }

    mutating func appendNil() { nilCount += 1 }

    /// Counts a text of CSV.
    mutating func append(_ text: ArraySlice<UInt8>, line: Int) {
        append(text, line, among: InferredType.ofTexts)
    }

    private mutating func append(
        _ text: ArraySlice<UInt8>, _ line: Int, among all: [InferredType]
    ) {
        hasStrings = true
        count(text)
        if text.isEmpty {
            emptyCount += 1
            return
        }
        areAmounts = areAmounts && Self.isAmount(text)
        restrict(all, text, line) { types in
            let number = types.contains(where: \.isNumber) ? InferredType.number(text) : nil
            return types.filter { $0.accepts(text, number) }
        }
        if case .bool(let yes, _)? = types?.first {
            let isYes = String(decoding: text, as: UTF8.self).lowercased() == yes
            hasYes = hasYes || isYes
            hasNo = hasNo || !isYes
        }
    }

    /// Counts a value of JSON.
    mutating func append(_ json: JSONValue, line: Int) {
        switch json {
        case .null: return appendNil()
        case .string(let text):
            let bytes = Array(text.utf8)[...]
            return append(bytes, line, among: InferredType.ofJSONStrings)
        case .bool, .integer, .double, .decimal, .array, .object: break
        }
        hasOtherJSON = true
        let text = Array(json.text.utf8)[...]
        count(text)
        let all: [InferredType] = [.bool(yes: "true", no: "false"), .int64, .double, .decimal]
        restrict(all, text, line) { types in
            if case .bool = json { return types.filter { $0.attributeType == .bool } }
            return types.filter { $0.accepts(json) }
        }
        hasYes = hasYes || json == .bool(true)
    }

    private mutating func count(_ text: ArraySlice<UInt8>) {
        valueCount += 1
        bytesLongest = max(bytesLongest, text.count)
        if hashes.count < distinctMax { hashes.insert(text.hashValue) }
    }

    private mutating func restrict(
        _ all: [InferredType], _ text: ArraySlice<UInt8>, _ line: Int,
        _ remaining: ([InferredType]) -> [InferredType]
    ) {
        let before = types ?? all
        guard !before.isEmpty else { return }
        let after = remaining(before)
        if after.isEmpty, types != nil {
            firstOdd = (
                String(decoding: text.prefix(40), as: UTF8.self), line,
                before[0].attributeType
            )
        }
        types = after
    }

    /// The type of the column; nil for strings and JSON documents.
    var type: InferredType? {
        guard let types, !(hasStrings && hasOtherJSON) else { return nil }
        let possible = types.filter { type in
            // A column of the letter F alone is more likely a code.
            guard case .bool(let yes, _) = type, yes != "true" else { return true }
            return hasYes && hasNo
        }
        guard let first = possible.first, !isAmbiguous(possible) else { return nil }
        if case .double = first, scale != nil { return .decimal }
        return first
    }

    /// The scale of a decimal; nil if none is proposed.
    var scale: Int? { hasStrings && areAmounts && valueCount > emptyCount ? 2 : nil }

    /// Whether a number has two digits after its point.
    private static func isAmount(_ text: ArraySlice<UInt8>) -> Bool {
        let point = text.count - 3
        return point > 0 && text[text.startIndex + point] == UInt8(ascii: ".")
            && text.suffix(2).allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether the order of day and month cannot be known.
    private func isAmbiguous(_ types: [InferredType]) -> Bool {
        types.count { $0.dateFormat != nil } > 1
            && types.first?.dateFormat.map { !$0.hasPrefix("%Y") } ?? false
    }

    /// Whether the values are dates whose order of day and month cannot be known.
    var hasAmbiguousDates: Bool { types.map(isAmbiguous) ?? false }

    var attributeType: AttributeType {
        if let type { return type.attributeType }
        return hasOtherJSON ? .json : .string
    }

    /// Whether the column has nil.
    var isOptional: Bool {
        nilCount > 0 || valueCount == 0 || (emptyCount > 0 && attributeType != .string)
    }
}
