/// What is computed over many values: the objects of a group, or the elements of a to-many key
/// path. Nil values are passed over. `docs/queries.md` has the meaning of each.
public enum AggregateFunction: String, Hashable, Sendable, CaseIterable {
    case count, countDistinct, sum, average, minimum, maximum, median, mode, stddev

    /// The function as a collection operator, which a format string writes behind an `@`.
    public var collectionOperator: String {
        switch self {
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        default: rawValue
        }
    }

    public init?(collectionOperator: String) {
        let known = Self.allCases.first { $0.collectionOperator == collectionOperator }
        guard let known else { return nil }
        self = known
    }
}
