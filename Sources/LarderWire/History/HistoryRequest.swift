internal import FoundationEssentials
package import LarderModel

/// A request for transactions of the history, once or continuously.
package struct HistoryRequest: Hashable, Sendable {
    package var fetch: HistoryFetch
    /// Fetches of objects: see `HistoryObjects`.
    package var objects: [QueryRequest]
    /// Without a token: begin after the last transaction, instead of with the oldest.
    package var startsNow: Bool
    /// The number of replies that the server may send before the client grants more; 0 sets no
    /// limit.
    package var credit: UInt32
    /// Whether to continue with each new transaction.
    package var follows: Bool

    package init(
        _ fetch: HistoryFetch, objects: [QueryRequest] = [], startsNow: Bool = false,
        credit: UInt32 = 0, follows: Bool = false
    ) {
        self.fetch = fetch
        self.objects = objects
        self.startsNow = startsNow
        self.credit = credit
        self.follows = follows
    }
}

// The message `HistoryRequest`.

extension HistoryRequest {
    init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(HistoryFetch())
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                if fetch.after != nil { throw .repeated("the token of a history request") }
                fetch.after = try HistoryToken(decoding: bytes)
            case (2, .number(let number)):
                guard number <= 1 else { throw .malformed("the start of a history is unknown") }
                startsNow = number == 1
            case (3...8, _): try fetch.filter.decode(field)
            case (9, .fixed(let bytes)) where bytes.byteCount == 8:
                fetch.filter.since = try Date(decoding: bytes)
            case (10, .fixed(let bytes)) where bytes.byteCount == 8:
                fetch.filter.until = try Date(decoding: bytes)
            case (11, .number(let number)): fetch.newestFirst = number != 0
            case (12, .number(let number)): fetch.includesChanges = number == 0
            case (13, .number(let number)):
                guard let limit = Int(exactly: Int64(bitPattern: number)), limit >= 0 else {
                    throw .malformed("the limit is negative")
                }
                fetch.limit = limit
            case (14, .number(let number)): credit = UInt32(truncatingIfNeeded: number)
            case (15, .number(let number)): follows = number != 0
            case (16, .bytes(let bytes)):
                if fetch.upTo != nil { throw .repeated("the end of a history request") }
                fetch.upTo = try HistoryToken(decoding: bytes)
            case (17, .bytes(let bytes)):
                guard objects.count < Limits.historyObjectsMax else {
                    throw .tooMany(
                        "fetches of objects", objects.count + 1,
                        maximum: Limits.historyObjectsMax)
                }
                objects.append(try QueryRequest(decoding: bytes))
            case (1...17, _): throw .unreadable
            default: break
            }
        }
        guard !follows || !fetch.newestFirst && fetch.limit == nil && fetch.upTo == nil else {
            throw .malformed("a history that continues has no end and begins with the oldest")
        }
        guard objects.isEmpty || fetch.includesChanges else {
            throw .malformed("a history without changes has no objects")
        }
    }
}

extension HistoryFilter {
    /// Decodes one of the fields 3 to 8.
    fileprivate mutating func decode(_ field: borrowing Field) throws(LarderError) {
        let number = field.number
        switch field.content {
        case .bytes(let bytes) where number != 7:
            switch number {
            case 3: try authors.append(name: bytes, "an author", Limits.authorBytesMax)
            case 4: try excludedAuthors.append(name: bytes, "an author", Limits.authorBytesMax)
            case 5: try clientNames.append(name: bytes, "a client's name")
            case 6: try entityNames.append(name: bytes, "the name of an entity")
            default: try properties.append(name: bytes, "the name of a property")
            }
        case .number, .bytes:
            guard number == 7 else { throw .unreadable }
            // If there are more numbers than kinds, one of them is unknown.
            var numbers: Set<UInt64> = []
            try field.content.forEachNumber {
                if numbers.count <= HistoryRun.Kind.allCases.count { numbers.insert($0) }
            }
            for number in numbers { kinds.insert(try HistoryRun.Kind(wireNumber: number)) }
        case .fixed: throw .unreadable
        }
    }
}

extension [String] {
    fileprivate mutating func append(
        name bytes: RawSpan, _ what: String, _ bytesMax: Int = Limits.nameBytesMax
    ) throws(LarderError) {
        guard count < Limits.historyFilterNamesMax else {
            throw .tooMany("names of one kind", count + 1, maximum: Limits.historyFilterNamesMax)
        }
        append(try bytes.text(what, bytesMax: bytesMax))
    }
}

extension MessageBuffer {
    func history(_ request: HistoryRequest) throws(LarderError) {
        let fetch = request.fetch
        if let after = fetch.after { try token(1, after) }
        number(2, request.startsNow ? 1 : 0)
        for author in fetch.filter.authors { element(3, author) }
        for author in fetch.filter.excludedAuthors { element(4, author) }
        for name in fetch.filter.clientNames { element(5, name) }
        for name in fetch.filter.entityNames { element(6, name) }
        try numbers(7, fetch.filter.kinds.map { UInt64($0.rawValue) }.sorted())
        for name in fetch.filter.properties { element(8, name) }
        if let since = fetch.filter.since {
            member(9, fixed: since.timeIntervalSinceReferenceDate.bitPattern)
        }
        if let until = fetch.filter.until {
            member(10, fixed: until.timeIntervalSinceReferenceDate.bitPattern)
        }
        bool(11, fetch.newestFirst)
        bool(12, !fetch.includesChanges)
        if let limit = fetch.limit { member(13, UInt64(max(0, limit))) }
        number(14, UInt64(request.credit))
        bool(15, request.follows)
        if let upTo = fetch.upTo { try token(16, upTo) }
        for objects in request.objects {
            try message(17) { () throws(LarderError) in try query(objects) }
        }
    }
}

// MARK: Tokens, kinds and times

extension HistoryToken {
    /// The message `HistoryToken`.
    init(decoding bytes: RawSpan) throws(LarderError) {
        var store = bytes.extracting(first: 0)
        var (epoch, number): (Int64, Int64) = (0, 0)
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): store = bytes
            case (2, .fixed(let bytes)) where bytes.byteCount == 8:
                epoch = bytes.number(as: Int64.self)
            case (3, .number(let bits)): number = Int64(bitPattern: bits)
            case (1...3, _): throw .unreadable
            default: break
            }
        }
        guard store.byteCount == 16, number >= 0 else {
            throw LarderError(.malformedToken, "the history token is malformed")
        }
        self.init(store: try store.uuid("the store of a token"), epoch: epoch, number: number)
    }
}

extension MessageBuffer {
    func token(_ field: UInt32, _ token: HistoryToken) throws(LarderError) {
        try message(field) {
            withUnsafeBytes(of: token.store.uuid) { element(1, $0) }
            if token.epoch != 0 { member(2, fixed: token.epoch) }
            number(3, UInt64(token.number))
        }
    }
}

extension HistoryRun.Kind {
    init(wireNumber: UInt64) throws(LarderError) {
        guard let kind = Int64(exactly: wireNumber).flatMap(Self.init) else {
            throw .malformed("the kind of a change is unknown")
        }
        self = kind
    }
}

extension Date {
    /// Eight bytes: seconds since 2001.
    init(decoding bytes: RawSpan) throws(LarderError) {
        let seconds = Double(bitPattern: bytes.number(as: UInt64.self))
        guard seconds.isFinite else { throw .malformedValue("the time is not finite") }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}
