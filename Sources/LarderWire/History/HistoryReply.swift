internal import FoundationEssentials
package import LarderModel

/// Transactions of the history: one reply of several to a request.
package struct HistoryReply: Hashable, Sendable {
    package var transactions: [HistoryTransaction]
    /// Where to continue: after this position, or, in the newest-first order, up to it.
    package var position: HistoryToken
    /// Whether the next reply continues the last transaction.
    package var isPartial: Bool
    /// Whether the reply reaches the end of the history as it is.
    package var isCurrent: Bool
    /// Objects that the transactions have inserted or updated.
    package var objects: [Batch]

    package init(
        _ transactions: [HistoryTransaction] = [], upTo position: HistoryToken,
        isPartial: Bool = false, isCurrent: Bool = false, objects: [Batch] = []
    ) {
        self.transactions = transactions
        self.position = position
        self.isPartial = isPartial
        self.isCurrent = isCurrent
        self.objects = objects
    }
}

// The message `HistoryReply`.

extension HistoryReply {
    private static let transactionsMax = 1_000_000
    private static let runsMax = 1_000_000
    /// Changes of single objects in a reply with objects; a client looks for the object of each.
    private static let changesMax = 10_000

    static func decode(
        _ bytes: RawSpan
    ) throws(LarderError) -> (reply: HistoryReply, more: Bool) {
        var reply = HistoryReply(upTo: try position(in: bytes))
        var more = false
        var fields = FieldScanner(bytes)
        reply.transactions.reserveCapacity(
            try fields.count(of: 1, "transactions", maximum: transactionsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                reply.transactions.append(
                    try HistoryTransaction(
                        decoding: bytes, in: reply.position, runsMax: runsMax))
            case (2, .bytes): break
            case (3, .number(let number)): reply.isPartial = number != 0
            case (4, .number(let number)): reply.isCurrent = number != 0
            case (5, .number(let number)): more = number != 0
            case (6, .bytes(let bytes)): reply.objects.append(try Batch(decoding: bytes))
            case (1...6, _): throw .unreadable
            default: break
            }
        }
        guard reply.objects.isEmpty || reply.hasFewChanges else {
            throw .malformed("a history reply with objects has too many changes")
        }
        return (reply, more)
    }

    private var hasFewChanges: Bool {
        var left = Self.changesMax
        for run in transactions.lazy.flatMap(\.runs) {
            guard run.keys.count <= left else { return false }
            left -= run.keys.count
        }
        return true
    }

    /// The position, which names the store of the transactions before it.
    private static func position(in bytes: RawSpan) throws(LarderError) -> HistoryToken {
        var position: HistoryToken?
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            guard field.number == 2 else { continue }
            guard case .bytes(let bytes) = field.content else { throw .unreadable }
            if position != nil { throw .repeated("the position of a history reply") }
            position = try HistoryToken(decoding: bytes)
        }
        guard let position else { throw .malformed("the position of a history reply is missing") }
        return position
    }
}

extension HistoryToken {
    /// The message `OpenSnapshotReply`.
    init(decodingReply bytes: RawSpan) throws(LarderError) {
        var position: HistoryToken?
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                if position != nil { throw .repeated("the position of a snapshot") }
                position = try HistoryToken(decoding: bytes)
            case (1, _): throw .unreadable
            default: break
            }
        }
        guard let position else { throw .malformed("the position of a snapshot is missing") }
        self = position
    }
}

extension HistoryTransaction {
    /// - Parameter context: Names the store and the epoch.
    fileprivate init(
        decoding bytes: RawSpan, in context: HistoryToken, runsMax: Int
    ) throws(LarderError) {
        var number: Int64 = 0
        self.init(token: context, timestamp: Date(timeIntervalSinceReferenceDate: 0))
        var fields = FieldScanner(bytes)
        runs.reserveCapacity(try fields.count(of: 7, "runs of changes", maximum: runsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let bits)): number = Int64(bitPattern: bits)
            case (2, .fixed(let bytes)) where bytes.byteCount == 8:
                timestamp = try Date(decoding: bytes)
            case (3, .bytes(let bytes)):
                author = try bytes.text("an author", bytesMax: Limits.authorBytesMax)
            case (4, .bytes(let bytes)):
                source.clientName = try bytes.text(
                    "a client's name", bytesMax: Limits.nameBytesMax)
            case (5, .number(let bits)):
                source.userIdentifier = UInt32(truncatingIfNeeded: bits)
            case (6, .number(let bits)):
                source.processIdentifier = Int32(truncatingIfNeeded: bits)
            case (7, .bytes(let bytes)): runs.append(try HistoryRun(decoding: bytes))
            case (8, .bytes(let bytes)):
                tombstones.append(try HistoryTombstone(decoding: bytes))
            case (1...8, _): throw .unreadable
            default: break
            }
        }
        guard number > 0 else { throw .malformed("the number of a transaction is missing") }
        token = HistoryToken(store: context.store, epoch: context.epoch, number: number)
    }
}

extension HistoryRun {
    fileprivate init(decoding bytes: RawSpan) throws(LarderError) {
        var kind: Kind?
        var entity = bytes.extracting(first: 0)
        var (first, last): (Int64, Int64) = (0, 0)
        var properties: [String] = []
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): kind = try Kind(wireNumber: number)
            case (2, .bytes(let bytes)): entity = bytes
            case (3, .number(let bits)): first = Int64(bitPattern: bits)
            case (4, .number(let bits)): last = Int64(bitPattern: bits)
            case (5, .bytes(let bytes)):
                guard properties.count < Limits.propertiesMax else {
                    throw .tooMany(
                        "updated properties", properties.count + 1, maximum: Limits.propertiesMax)
                }
                properties.append(try bytes.name("the name of a property"))
            case (1...5, _): throw .unreadable
            default: break
            }
        }
        guard let kind else { throw .malformed("the kind of a change is missing") }
        guard first > 0, first <= last else { throw .malformed("a run has no objects") }
        self.init(
            kind, try entity.name("the entity of a run"), first...last, properties: properties)
    }
}

extension HistoryTombstone {
    fileprivate init(decoding bytes: RawSpan) throws(LarderError) {
        var entity = bytes.extracting(first: 0)
        var key: Int64 = 0
        var values: [String: Value] = [:]
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): entity = bytes
            case (2, .number(let bits)): key = Int64(bitPattern: bits)
            case (3, .bytes(let bytes)):
                let (name, value) = try bytes.named(
                    "the name of a preserved value", "a preserved value"
                ) { bytes throws(LarderError) in try Value(decoding: bytes) }
                guard values.count < Limits.propertiesMax else {
                    throw .tooMany(
                        "preserved values", values.count + 1, maximum: Limits.propertiesMax)
                }
                values[name] = value
            case (1...3, _): throw .unreadable
            default: break
            }
        }
        guard key > 0 else { throw .malformed("the key of a deleted object is missing") }
        self.init(try entity.name("the entity of a deleted object"), key, values)
    }
}

extension MessageBuffer {
    func history(_ reply: HistoryReply, more: Bool) throws(LarderError) {
        for transaction in reply.transactions {
            try message(1) { () throws(LarderError) in try self.transaction(transaction) }
        }
        try token(2, reply.position)
        bool(3, reply.isPartial)
        bool(4, reply.isCurrent)
        bool(5, more)
        for objects in reply.objects { batch(6, objects) }
    }

    private func transaction(_ transaction: HistoryTransaction) throws(LarderError) {
        number(1, UInt64(bitPattern: transaction.id))
        let time = transaction.timestamp.timeIntervalSinceReferenceDate.bitPattern
        if time != 0 { member(2, fixed: time) }
        text(3, transaction.author)
        text(4, transaction.source.clientName)
        if let user = transaction.source.userIdentifier { member(5, UInt64(user)) }
        if let process = transaction.source.processIdentifier {
            member(6, UInt64(bitPattern: Int64(process)))
        }
        for run in transaction.runs {
            try message(7) {
                number(1, UInt64(bitPattern: run.kind.rawValue))
                text(2, run.entityName)
                number(3, UInt64(bitPattern: run.keys.lowerBound))
                number(4, UInt64(bitPattern: run.keys.upperBound))
                for property in run.properties { element(5, property) }
            }
        }
        for tombstone in transaction.tombstones {
            try message(8) { () throws(LarderError) in
                text(1, tombstone.entityName)
                number(2, UInt64(bitPattern: tombstone.key))
                for (name, value) in tombstone.values.sorted(by: { $0.key < $1.key }) {
                    try message(3) { () throws(LarderError) in
                        text(1, name)
                        try self.value(2, value)
                    }
                }
            }
        }
    }
}
