package import FoundationEssentials

/// The identity of a store.
package struct StoreDescription: Hashable, Sendable {
    package var identifier: UUID
    package var schema: Schema
    /// Sixteen hexadecimal digits that differ if schemas differ.
    package var fingerprint: String
    package var isReadOnly: Bool
    /// The epoch of the store's ``HistoryToken``s.
    package var historyEpoch: Int64
    /// The epochs of the stores whose backups this store was restored from, the oldest first.
    package var earlierEpochs: [EarlierEpoch]

    package init(
        identifier: UUID, schema: Schema, fingerprint: String, isReadOnly: Bool,
        historyEpoch: Int64 = 0, earlierEpochs: [EarlierEpoch] = []
    ) {
        self.identifier = identifier
        self.historyEpoch = historyEpoch
        self.earlierEpochs = earlierEpochs
        self.schema = schema
        self.fingerprint = fingerprint
        self.isReadOnly = isReadOnly
    }
}
