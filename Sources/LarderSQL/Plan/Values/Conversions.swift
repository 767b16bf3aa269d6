import FoundationEssentials
import LarderModel
import LarderQuery

/// The conversions of the values of one read or change set, within its budget.
///
/// A large value is converted once for each form in which it is needed, however often the query
/// uses it. A small value is converted for each use, because a look-up takes longer.
///
/// Sendable unchecked, so that a ``ValueConverter`` can be: a plan's own converter has none, and
/// the converters that have one stay on the connection's thread.
package final class Conversions: @unchecked Sendable {
    /// A form of an argument.
    package struct Key: Hashable {
        package enum Form: Hashable {
            case single(Comparison.Options)
            case elements(Comparison.Options)
            case objects
        }

        package var source: TypedValue.Source
        package var bound: Int?
        package var type: OperandType?
        var isJSON: Bool
        package var form: Form

        /// nil for a constant, which a query uses once.
        package init?(_ value: TypedValue, _ form: Form) {
            guard value.isArgument else { return nil }
            source = value.source
            bound = value.bound
            type = value.type
            isJSON = value.isJSON
            self.form = form
        }
    }

    package enum Result {
        case single(SQLValue)
        case elements([SQLValue], hasNil: Bool)
    }

    /// A smaller value is converted again.
    private static let largeBytesMin = 1 << 10
    /// The bytes of a value in addition to those of its text. A decimal is written as text.
    private static let valueBytes = 16
    private static let decimalBytes = 256

    private let limit: any ConversionLimit
    private var results: [Key: Result] = [:]
    /// The number of conversions, as a measure of the cost of a read.
    package private(set) var count = 0

    /// Stops a long conversion.
    package let interruption: Interruption

    package init(_ limit: any ConversionLimit) {
        self.limit = limit
        interruption = Interruption { !limit.allowsMoreStatements() }
    }

    /// Releases the results, before the values of another query are converted.
    package func removeAll() {
        if !results.isEmpty { results = [:] }
    }

    /// Returns the result of an earlier conversion, or converts now.
    package func result(
        _ key: Key, _ convert: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        if let result = results[key] { return result }
        let result = try convert()
        try check()
        results[key] = result
        return result
    }

    static func isLarge(_ argument: QueryArgument) -> Bool {
        switch argument {
        case .value(let value): byteCount(of: value) >= largeBytesMin
        case .list(let values): values.count * valueBytes >= largeBytesMin
        }
    }

    /// Counts a value that is converted now.
    ///
    /// - Parameter isDecimal: Whether it becomes a decimal.
    package func count(_ value: Value, isDecimal: Bool = false) throws(LarderError) {
        count += 1
        try count(bytes: Self.byteCount(of: value) + (isDecimal ? Self.decimalBytes : 0))
    }

    /// Counts bytes that are processed now.
    ///
    /// - Throws: an error without a meaning if the budget is used up; the limit has the reason.
    package func count(bytes: Int) throws(LarderError) {
        guard limit.allowsConversion(ofBytes: bytes) else { throw Self.stopped }
    }

    /// - Throws: the same error if a conversion was interrupted.
    package func check() throws(LarderError) {
        guard !limit.isStopped else { throw Self.stopped }
    }

    package static let stopped = LarderError(.cancelled, "the conversion has been stopped")

    private static func byteCount(of value: Value) -> Int {
        switch value {
        case .null, .bool, .int, .float, .double, .date, .uuid, .object: valueBytes
        case .decimal: decimalBytes
        case .string(let text), .json(let text): valueBytes + text.utf8.count
        case .url(let url): valueBytes + url.absoluteString.utf8.count
        case .data(let data): valueBytes + data.count
        case .objects(let objects): valueBytes * (objects.count + 1)
        }
    }
}
