public import Foundation

/// Which models to fetch, in which order, and what to read of them.
///
/// Unchecked: the key paths and sort descriptors, which are not marked Sendable, are immutable.
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
    public var predicate: Predicate<T>?
    public var sortBy: [SortDescriptor<T>]
    public var fetchLimit: Int?
    public var fetchOffset: Int?
    /// Whether the result is that of a store in which the context's changes are saved.
    public var includePendingChanges = true
    /// The properties to read at once; others are read when they are used. Empty reads all.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose models are read at once.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

extension FetchDescriptor: Equatable {
    /// Predicates have no equality: two descriptors with predicates are equal if these have the
    /// same text.
    public static func == (left: Self, right: Self) -> Bool {
        left.sortBy == right.sortBy && left.fetchLimit == right.fetchLimit
            && left.fetchOffset == right.fetchOffset
            && left.includePendingChanges == right.includePendingChanges
            && left.propertiesToFetch == right.propertiesToFetch
            && left.relationshipKeyPathsForPrefetching
                == right.relationshipKeyPathsForPrefetching
            && left.predicate.map { String(describing: $0) }
                == right.predicate.map { String(describing: $0) }
    }
}
