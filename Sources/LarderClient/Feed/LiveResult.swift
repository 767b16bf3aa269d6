public import LarderModel

/// The result of an observed fetch at one moment, and how it differs from the one before.
public struct LiveResult: Hashable, Sendable {
    /// A row at its indexes before and after.
    public struct Move: Hashable, Sendable {
        public var from: Int
        public var to: Int

        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The rows with the same value of the section's expression; nil is a value, too.
    public struct Section: Hashable, Sendable {
        public var value: Value
        /// The indexes of its rows; at least one.
        public var range: Range<Int>

        public init(_ value: Value, _ range: Range<Int>) {
            self.value = value
            self.range = range
        }

        /// The number of its rows.
        public var count: Int { range.count }
    }

    /// All rows, in the order of the fetch.
    public internal(set) var rows: [Record]
    /// The indexes of the rows that are new, ascending.
    public internal(set) var inserted: [Int] = []
    /// The rows that the fetch no longer selects, and their indexes before, ascending.
    public internal(set) var deleted: [(index: Int, row: Record)] = []
    /// The rows with new values or a new version that keep their position among those that stay.
    public internal(set) var updated: [Move] = []
    /// The rows with another position among those that stay.
    public internal(set) var moved: [Move] = []
    /// The sections of the rows, in their order; none if the fetch is observed without sections.
    public internal(set) var sections: [Section] = []
    /// The indexes of the sections that are new, ascending.
    public internal(set) var insertedSections: [Int] = []
    /// The indexes before of the sections that have no rows any more, ascending.
    public internal(set) var deletedSections: [Int] = []
    /// The position in the history to which the result belongs.
    public internal(set) var position: HistoryToken

    init(_ rows: [Record], at position: HistoryToken) {
        self.rows = rows
        self.position = position
    }

    /// Whether the rows are as before.
    public var isUnchanged: Bool {
        inserted.isEmpty && deleted.isEmpty && updated.isEmpty && moved.isEmpty
    }

    public static func == (left: LiveResult, right: LiveResult) -> Bool {
        left.rows == right.rows && left.inserted == right.inserted
            && left.deleted.elementsEqual(right.deleted, by: ==) && left.updated == right.updated
            && left.moved == right.moved && left.sections == right.sections
            && left.insertedSections == right.insertedSections
            && left.deletedSections == right.deletedSections && left.position == right.position
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rows)
        hasher.combine(position)
    }
}
