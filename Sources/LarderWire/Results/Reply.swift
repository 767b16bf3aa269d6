package import LarderModel

/// A reply, and the id of its request.
package struct ReplyEnvelope: Hashable, Sendable {
    /// The request's id; 0 in an error that belongs to no request.
    package var id: UInt64
    package var reply: Reply

    package init(id: UInt64, reply: Reply) {
        self.id = id
        self.reply = reply
    }
}

/// Large and rare cases are indirect, so that a reply is a few words when it is passed on.
package enum Reply: Hashable, Sendable {
    indirect case welcome(Welcome)
    /// Rows. The reply to a `get` is one message with one batch per entity. A query has one batch
    /// per reply, with `more` in each but the last.
    case batches([Batch], more: Bool)
    /// Batches that are still or already encoded: received by a decoder that leaves them so, or
    /// from a cache of replies.
    case encodedBatches(EncodedBatches, more: Bool)
    indirect case saved(SaveResult)
    /// The progress of a save in parts, or a part of its result. Another reply follows.
    indirect case savedPart(SaveResult, partCount: Int64)
    indirect case explained(Explanation)
    /// The text of the schema file, in canonical form.
    case schema(String)
    case statistics([Statistic])
    indirect case activity(ServerActivity)
    /// In Prometheus' text format.
    case metrics(String)
    indirect case queryStatistics(QueryStatistics)
    /// The number of requests that were ended.
    case requestsEnded(Int64)
    case checked(CheckReport)
    /// The progress of a stream of new objects; `more` in each reply but the last.
    indirect case inserted(InsertedRows, more: Bool)
    /// Transactions; `more` in each reply but the last.
    indirect case history(HistoryReply, more: Bool)
    /// A page of the history with `more`, encoded once for several streams.
    case encodedHistory([UInt8])
    /// The number of transactions that were deleted from the history.
    case historyDeleted(Int64)
    /// A snapshot is open, and contains the transactions up to this position.
    indirect case snapshotOpened(HistoryToken)
    /// The result of an observed query, or a change of it; `more` in each reply but the last.
    indirect case observed(ObserveReply, more: Bool)
    /// A result of an observed query with `more`, encoded once for several observers.
    case encodedObserved([UInt8])
    /// The next bytes of a backup, or its progress; `more` in each reply but the last.
    indirect case backup(BackupPart, more: Bool)
    /// The steps that a migration has taken, or would take.
    indirect case migrated(MigrationSummary)
    /// A step of a migration begins. Another reply follows.
    case migrationProgress(String)
    /// A migration session has begun, and has this key.
    case migrationBegun(session: String)
    case pong
    /// The request failed. This also ends a stream.
    indirect case failed(LarderError)
}
