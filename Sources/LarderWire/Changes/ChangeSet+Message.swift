internal import CLarderProto
internal import LarderModel

// The message `ChangeSet`, coded by hand: a change of three values is eight messages, and their
// protobuf-c structures cost as much as the rest of the decoding.

extension ChangeSet {
    /// - Parameter arena: For the expressions of changes by predicate and of conditions.
    init(decoding bytes: RawSpan, _ arena: Arena) throws(LarderError) {
        self.init()
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                guard changes.count < Limits.changesMax else {
                    throw .tooMany("changes", changes.count + 1, maximum: Limits.changesMax)
                }
                changes.append(try Change(decoding: bytes, arena))
            case (2, .number(let number)):
                onUniqueConflict = try UniqueConflictPolicy(wireNumber: number)
            case (3, .number(let number)): mergePolicy = try MergePolicy(wireNumber: number)
            case (4, .bytes(let bytes)):
                author = try bytes.text(
                    "the author of a change set", bytesMax: Limits.authorBytesMax)
            case (5, .bytes(let bytes)):
                idempotencyKey = try bytes.text(
                    "the idempotency key", bytesMax: Limits.idempotencyKeyBytesMax)
            case (6, .bytes(let bytes)):
                guard conditions.count < Limits.conditionsMax else {
                    throw .tooMany(
                        "conditions", conditions.count + 1, maximum: Limits.conditionsMax)
                }
                conditions.append(try Condition(decoding: bytes, arena))
            case (7, .bytes(let bytes)):
                guard releasedKeys.count < Limits.releasedKeysMax else {
                    throw .tooMany(
                        "released keys", releasedKeys.count + 1, maximum: Limits.releasedKeysMax)
                }
                releasedKeys.append(
                    try bytes.text(
                        "a released key", bytesMax: Limits.idempotencyKeyBytesMax))
            case (8, .number(let number)): isDryRun = number != 0
            case (1...8, _): throw .unreadable
            default: break
            }
        }
    }
}

extension MessageBuffer {
    /// - Parameter writer: For the expressions of changes by predicate and of conditions.
    func changeSet(_ set: ChangeSet, _ writer: ProtobufWriter) throws(LarderError) {
        guard set.changes.count <= Limits.changesMax else {
            throw .tooMany("changes", set.changes.count, maximum: Limits.changesMax)
        }
        guard set.conditions.count <= Limits.conditionsMax else {
            throw .tooMany("conditions", set.conditions.count, maximum: Limits.conditionsMax)
        }
        for change in set.changes { try self.change(inSet: change, writer) }
        try options(of: set, writer)
    }

    /// A change as a field of its set.
    func change(inSet change: Change, _ writer: ProtobufWriter) throws(LarderError) {
        try message(1) { () throws(LarderError) in try self.change(change, writer) }
    }

    /// The fields of a set besides its changes.
    func options(of set: ChangeSet, _ writer: ProtobufWriter) throws(LarderError) {
        number(2, UInt64(set.onUniqueConflict.wire.rawValue))
        number(3, UInt64(set.mergePolicy.wire.rawValue))
        text(4, set.author)
        text(5, set.idempotencyKey)
        for condition in set.conditions { try self.condition(6, condition, writer) }
        guard set.releasedKeys.count <= Limits.releasedKeysMax else {
            throw .tooMany(
                "released keys", set.releasedKeys.count, maximum: Limits.releasedKeysMax)
        }
        for key in set.releasedKeys { text(7, key) }
        bool(8, set.isDryRun)
    }
}

extension UniqueConflictPolicy {
    init(wireNumber number: UInt64) throws(LarderError) {
        let number = UInt32(truncatingIfNeeded: number)
        guard let policy = Self.allCases.first(where: { $0.wire.rawValue == number }) else {
            throw .malformed("the unique conflict policy is unknown")
        }
        self = policy
    }

    var wire: Larder__V1__UniqueConflictPolicy {
        switch self {
        case .error: LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_ERROR
        case .upsert: LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_UPSERT
        }
    }
}

extension MergePolicy {
    init(wireNumber number: UInt64) throws(LarderError) {
        let number = UInt32(truncatingIfNeeded: number)
        guard let policy = Self.allCases.first(where: { $0.wire.rawValue == number }) else {
            throw .malformed("the merge policy is unknown")
        }
        self = policy
    }

    var wire: Larder__V1__MergePolicy {
        switch self {
        case .error: LARDER__V1__MERGE_POLICY__MERGE_POLICY_ERROR
        case .storeWins: LARDER__V1__MERGE_POLICY__MERGE_POLICY_STORE_WINS
        case .callerWins: LARDER__V1__MERGE_POLICY__MERGE_POLICY_CALLER_WINS
        case .overwrite: LARDER__V1__MERGE_POLICY__MERGE_POLICY_OVERWRITE
        case .rollback: LARDER__V1__MERGE_POLICY__MERGE_POLICY_ROLLBACK
        }
    }
}
