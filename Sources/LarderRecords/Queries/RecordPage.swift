/// Records in the order of a fetch, and the position after the last one.
///
///     var page = try store.fetch(Book.self, sort: [.init(\.title)], limit: 50)
///     while let next = page.next {
///         page = try store.fetch(Book.self, sort: [.init(\.title)], limit: 50, after: next)
///     }
public struct RecordPage<Record: EntityRecord>: Sendable {
    public var records: [Record]
    /// The position after the last record, for `after` in a fetch with the same sort; nil if the
    /// fetch has no limit, or fewer records than it.
    public var next: RecordCursor<Record>?
}

extension RecordPage: RandomAccessCollection {
    public var startIndex: Int { records.startIndex }
    public var endIndex: Int { records.endIndex }
    public subscript(index: Int) -> Record { records[index] }
}

extension RecordPage: Equatable where Record: Equatable {}
extension RecordPage: Hashable where Record: Hashable {}

/// A position in a sorted fetch. It stays valid when objects are inserted or deleted.
public struct RecordCursor<Record: EntityRecord>: Hashable, Sendable {
    /// The values of the sort keys, then the identifier.
    let values: [Value]
}
