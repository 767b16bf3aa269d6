/// A function of many values: the objects of a group, or the elements of a to-many key path. Nil
/// values are ignored. `docs/queries.md` defines each function.
public enum AggregateFunction: String, Hashable, Sendable, CaseIterable {
    case count, countDistinct, sum, average, minimum, maximum, median, mode, stddev

    /// The name of the function as a collection operator, which a format string writes after `@`.
    package var collectionOperator: String {
        switch self {
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        default: rawValue
        }
    }

    package init?(collectionOperator: String) {
        let known = Self.allCases.first { $0.collectionOperator == collectionOperator }
        guard let known else { return nil }
        self = known
    }
}
