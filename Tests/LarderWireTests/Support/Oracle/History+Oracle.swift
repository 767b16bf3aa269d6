import CLarderProto
import FoundationEssentials
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c the messages of the history.

extension HistoryToken {
    init(_ wire: Larder__V1__HistoryToken) throws(LarderError) {
        guard wire.number >= 0 else { throw .malformed("the number of a token is negative") }
        self.init(
            store: try wire.store.bytes.uuid("the store of a token"), epoch: wire.epoch,
            number: wire.number)
    }

    /// - Returns: nil for an absent token.
    fileprivate init?(
        _ wire: UnsafeMutablePointer<Larder__V1__HistoryToken>?
    ) throws(LarderError) {
        guard let wire else { return nil }
        try self.init(wire.pointee)
    }
}

extension HistoryRun.Kind {
    fileprivate init(_ wire: Larder__V1__HistoryChangeKind) throws(LarderError) {
        guard let kind = Self(rawValue: Int64(Int32(truncatingIfNeeded: wire.rawValue))) else {
            throw .malformed("the kind of a change is unknown")
        }
        self = kind
    }
}

extension Date {
    fileprivate init(_ seconds: Double) throws(LarderError) {
        guard seconds.isFinite else { throw .malformedValue("a time is not finite") }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}

// MARK: Requests

extension HistoryFilter {
    fileprivate init(_ wire: Larder__V1__HistoryRequest) throws(LarderError) {
        func names(
            _ items: UnsafeMutablePointer<ProtobufCBinaryData>?, _ count: Int,
            _ bytesMax: Int = Limits.nameBytesMax
        ) throws(LarderError) -> [String] {
            try ProtobufReader.texts(
                items, count, "names", maximum: Limits.historyFilterNamesMax, bytesMax: bytesMax)
        }
        self.init()
        authors = try names(wire.authors, wire.n_authors, Limits.authorBytesMax)
        excludedAuthors = try names(
            wire.excluded_authors, wire.n_excluded_authors, Limits.authorBytesMax)
        clientNames = try names(wire.clients, wire.n_clients)
        entityNames = try names(wire.entities, wire.n_entities)
        properties = try names(wire.properties, wire.n_properties)
        let numbers: [Larder__V1__HistoryChangeKind] = ProtobufReader.numbers(
            wire.kinds, wire.n_kinds)
        for number in numbers { kinds.insert(try HistoryRun.Kind(number)) }
        if wire.since_presence_case == LARDER__V1__HISTORY_REQUEST__SINCE_PRESENCE_SINCE {
            since = try Date(wire.since)
        }
        if wire.until_presence_case == LARDER__V1__HISTORY_REQUEST__UNTIL_PRESENCE_UNTIL {
            until = try Date(wire.until)
        }
    }
}

extension HistoryRequest {
    init(_ wire: Larder__V1__HistoryRequest) throws(LarderError) {
        var fetch = HistoryFetch(
            after: try HistoryToken(wire.after), upTo: try HistoryToken(wire.up_to),
            where: try HistoryFilter(wire), newestFirst: wire.newest_first != 0,
            includesChanges: wire.without_changes == 0)
        if wire.limit_presence_case == LARDER__V1__HISTORY_REQUEST__LIMIT_PRESENCE_LIMIT {
            guard wire.limit >= 0 else { throw .malformed("the limit is negative") }
            fetch.limit = Int(wire.limit)
        }
        let starts = [
            LARDER__V1__HISTORY_START__HISTORY_START_OLDEST,
            LARDER__V1__HISTORY_START__HISTORY_START_NOW,
        ]
        guard let start = starts.firstIndex(of: wire.start) else {
            throw .malformed("the start of a history is unknown")
        }
        let objects = try ProtobufReader.list(
            wire.objects, wire.n_objects, "fetches", maximum: Limits.historyObjectsMax,
            QueryRequest.init)
        self.init(
            fetch, objects: objects, startsNow: start == 1, credit: wire.credit,
            follows: wire.follow != 0)
        let isBounded = fetch.newestFirst || fetch.limit != nil || fetch.upTo != nil
        if follows && isBounded { throw .malformed("a history that continues has an end") }
        if !objects.isEmpty && !fetch.includesChanges { throw .malformed("no changes") }
    }
}

extension HistoryDeletion {
    init(_ wire: Larder__V1__DeleteHistoryRequest) throws(LarderError) {
        switch wire.end_case {
        case LARDER__V1__DELETE_HISTORY_REQUEST__END_UP_TO:
            guard let token = try HistoryToken(wire.up_to) else {
                throw .malformed("a token is missing")
            }
            self = .upTo(token)
        case LARDER__V1__DELETE_HISTORY_REQUEST__END_BEFORE: self = .before(try Date(wire.before))
        case LARDER__V1__DELETE_HISTORY_REQUEST__END_KEEPING where wire.keeping >= 0:
            self = .keeping(wire.keeping)
        default: throw .malformed("what to delete is missing or negative")
        }
    }
}

// MARK: Replies

extension HistoryReply {
    init(_ wire: Larder__V1__HistoryReply) throws(LarderError) {
        guard let position = try HistoryToken(wire.position) else {
            throw .malformed("the position is missing")
        }
        let transactions = try ProtobufReader.list(
            wire.transactions, wire.n_transactions, "transactions", maximum: 1_000_000
        ) { wire throws(LarderError) in try HistoryTransaction(wire, in: position) }
        let objects = try ProtobufReader.list(
            wire.objects, wire.n_objects, "batches", maximum: .max
        ) { wire throws(LarderError) in
            guard let batch = ProtobufBatches.batch(wire) else { throw .unreadable }
            try batch.check()
            return batch
        }
        self.init(
            transactions, upTo: position, isPartial: wire.partial != 0,
            isCurrent: wire.current != 0, objects: objects)
        let counts = transactions.flatMap(\.runs).map { Double($0.keys.count) }
        if !objects.isEmpty, counts.reduce(0, +) > 10_000 { throw .malformed("many changes") }
    }
}

extension HistoryTransaction {
    fileprivate init(
        _ wire: Larder__V1__HistoryTransaction, in context: HistoryToken
    ) throws(LarderError) {
        guard wire.number > 0 else { throw .malformed("the number is missing") }
        let hasUser =
            wire.user_presence_case == LARDER__V1__HISTORY_TRANSACTION__USER_PRESENCE_USER
        let hasProcess =
            wire.process_presence_case
            == LARDER__V1__HISTORY_TRANSACTION__PROCESS_PRESENCE_PROCESS
        self.init(
            token: HistoryToken(
                store: context.store, epoch: context.epoch, number: wire.number),
            timestamp: try Date(wire.time),
            author: try wire.author.text("an author", bytesMax: Limits.authorBytesMax),
            source: ChangeSource(
                userIdentifier: hasUser ? wire.user : nil,
                processIdentifier: hasProcess ? wire.process : nil,
                clientName: try wire.client.text("a client", bytesMax: Limits.nameBytesMax)),
            runs: try ProtobufReader.list(
                wire.runs, wire.n_runs, "runs", maximum: 1_000_000, HistoryRun.init),
            tombstones: try ProtobufReader.list(
                wire.tombstones, wire.n_tombstones, "tombstones", maximum: .max,
                HistoryTombstone.init))
    }
}

extension HistoryRun {
    fileprivate init(_ wire: Larder__V1__HistoryRun) throws(LarderError) {
        guard wire.first_key > 0, wire.first_key <= wire.last_key else {
            throw .malformed("a run has no objects")
        }
        let names = try ProtobufReader.texts(
            wire.properties, wire.n_properties, "properties", maximum: Limits.propertiesMax,
            bytesMax: Limits.nameBytesMax)
        guard !names.contains("") else { throw .malformed("a property has no name") }
        self.init(
            try Kind(wire.kind), try wire.entity.name("the entity of a run"),
            wire.first_key...wire.last_key, properties: names)
    }
}

extension HistoryTombstone {
    fileprivate init(_ wire: Larder__V1__HistoryTombstone) throws(LarderError) {
        guard wire.key > 0 else { throw .malformed("the key is missing") }
        let values = try ProtobufReader.list(
            wire.values, wire.n_values, "values", maximum: Limits.propertiesMax
        ) { wire throws(LarderError) in
            guard let value = wire.value else { throw .malformed("a value is missing") }
            return (try wire.name.name("the name of a value"), try Value(value.pointee))
        }
        self.init(
            try wire.entity.name("the entity of an object"), wire.key,
            Dictionary(values, uniquingKeysWith: { $1 }))
    }
}
