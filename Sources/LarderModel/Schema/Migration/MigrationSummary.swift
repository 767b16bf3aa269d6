/// The steps of a migration, before it is done.
public struct MigrationSummary: Hashable, Sendable {
    /// A piece of work.
    public struct Step: Hashable, Sendable {
        /// `rewrites the table of Article`.
        public let description: String
        /// The rows that it reads or writes; nil without a store, and 0 if it changes descriptions
        /// only.
        public let rowCount: Int64?
        /// Whether it writes these rows.
        public let isRewriting: Bool

        package init(_ description: String, rowCount: Int64?, isRewriting: Bool = false) {
            self.description = description
            self.rowCount = rowCount
            self.isRewriting = isRewriting
        }
    }

    public let changes: [SchemaChange]
    public let steps: [Step]
    /// Whether clients that were built for the old schema can go on.
    public let isAdditive: Bool
    /// About how many bytes the file and its log need in addition while the migration runs; nil
    /// without a store.
    public let byteCount: Int64?

    package init(
        changes: [SchemaChange], steps: [Step], isAdditive: Bool, byteCount: Int64?
    ) {
        self.changes = changes
        self.steps = steps
        self.isAdditive = isAdditive
        self.byteCount = byteCount
    }

    /// About how long the migration takes; nil without a store. From measurements on two cores:
    /// a row that is written takes 3 microseconds, and one that is read half of one.
    public var expectedTime: Duration? {
        guard steps.allSatisfy({ $0.rowCount != nil }) else { return nil }
        return steps.reduce(.milliseconds(5)) {
            $0 + .nanoseconds($1.isRewriting ? 3_000 : 500) * ($1.rowCount ?? 0)
        }
    }
}
