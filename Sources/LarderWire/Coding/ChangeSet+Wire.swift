internal import CLarderProto
internal import LarderModel

extension ChangeSet {
    init(_ wire: Larder__V1__ChangeSet) throws(LarderError) {
        self.init(
            try MessageReader.list(
                wire.changes, wire.n_changes, "changes", maximum: Limits.changesMax, Change.init),
            onUniqueConflict: try UniqueConflictPolicy(wire.on_unique_conflict),
            mergePolicy: try MergePolicy(wire.merge_policy),
            author: try wire.author.text(
                "the author of a change set", bytesMax: Limits.authorBytesMax),
            idempotencyKey: try wire.idempotency_key.text(
                "an idempotency key", bytesMax: Limits.idempotencyKeyBytesMax))
    }
}

extension UniqueConflictPolicy {
    init(_ wire: Larder__V1__UniqueConflictPolicy) throws(LarderError) {
        switch wire {
        case LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_ERROR: self = .error
        case LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_UPSERT: self = .upsert
        default: throw MessageReader.malformed("a change set has an unknown unique conflict policy")
        }
    }

    var wire: Larder__V1__UniqueConflictPolicy {
        switch self {
        case .error: LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_ERROR
        case .upsert: LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_UPSERT
        }
    }
}

extension MergePolicy {
    fileprivate init(_ wire: Larder__V1__MergePolicy) throws(LarderError) {
        guard let policy = MergePolicy.allCases.first(where: { $0.wire == wire }) else {
            throw MessageReader.malformed("a change set has an unknown merge policy")
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

extension Change {
    init(_ wire: Larder__V1__Change) throws(LarderError) {
        if let byPredicate = try Change(byPredicate: wire) {
            self = byPredicate
            return
        }
        guard let object = wire.object else {
            throw MessageReader.malformed("a change names no object")
        }
        let identifier = try PersistentIdentifier(object.pointee)
        let hasVersion =
            wire.if_version_presence_case
            == LARDER__V1__CHANGE__IF_VERSION_PRESENCE_IF_VERSION
        let ifVersion = hasVersion ? wire.if_version : nil
        guard wire.n_base_values == 0 || wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE
        else {
            throw MessageReader.malformed("a change that is no update has a base")
        }
        switch wire.kind {
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT:
            guard !hasVersion else {
                throw MessageReader.malformed("an insert expects a row version")
            }
            self = .insert(
                identifier, values: try Change.values(wire.values, wire.n_values),
                edits: try Change.edits(wire))
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE:
            self = .update(
                identifier, ifVersion: ifVersion,
                values: try Change.values(wire.values, wire.n_values),
                base: try Change.values(wire.base_values, wire.n_base_values),
                edits: try Change.edits(wire))
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE:
            guard wire.n_values == 0, wire.n_edits == 0 else {
                throw MessageReader.malformed("a delete sets values")
            }
            self = .delete(identifier, ifVersion: ifVersion)
        default:
            throw MessageReader.malformed("a change has no kind that is known")
        }
    }

    private static func edits(_ wire: Larder__V1__Change) throws(LarderError) -> [RelationshipEdit]
    {
        try MessageReader.list(
            wire.edits, wire.n_edits, "edits of one object", maximum: Limits.editsMax,
            RelationshipEdit.init)
    }

    private static func values(
        _ properties: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__PropertyValue>?>?,
        _ count: Int
    ) throws(LarderError) -> [String: Value] {
        guard count <= Limits.propertiesMax else {
            throw MessageReader.tooMany(
                "values of one object", count, maximum: Limits.propertiesMax)
        }
        var values = [String: Value](minimumCapacity: count)
        for index in 0..<count {
            guard let property = properties?[index]?.pointee, let value = property.value else {
                throw MessageReader.malformed("a property of a change has no value")
            }
            let name = try property.name.name("the property of a change")
            guard values.updateValue(try Value(value.pointee), forKey: name) == nil else {
                throw MessageReader.malformed("a change sets the property `\(name)` twice")
            }
        }
        return values
    }
}

extension SaveResult {
    init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
        self.init()
        var fields = FieldScanner(bytes)
        let insertedCount = try fields.count(
            of: 1, "inserted objects", maximum: Limits.changesMax)
        inserted.reserveCapacity(insertedCount)
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): inserted.append(try PersistentIdentifier(encoded: bytes))
            case (2, let content):
                try content.forEachNumber { updatedVersions.append(Int64(bitPattern: $0)) }
            case (3, .number(let number)): deletedCount = Int64(bitPattern: number)
            case (4, let content):
                try content.forEachNumber { merged.append(Int(UInt32(truncatingIfNeeded: $0))) }
            case (5, .number(let number)):
                transaction = number == 0 ? nil : Int64(bitPattern: number)
            case (6, .bytes(let bytes)):
                guard affected.count < Limits.changesMax else {
                    throw MessageReader.tooMany(
                        "affected objects", affected.count + 1, maximum: Limits.changesMax)
                }
                affected.append(try AffectedObjects(encoded: bytes))
            case (1...6, _): throw FieldScanner.unreadable
            default: break
            }
        }
    }
}

extension MessageWriter {
    func saved(
        _ result: SaveResult
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__SaveReply> {
        let wire = make(larder__v1__save_reply__init)
        wire.pointee.n_inserted = result.inserted.count
        wire.pointee.inserted = try list(result.inserted, identifier)
        wire.pointee.n_updated_versions = result.updatedVersions.count
        wire.pointee.updated_versions = pointing(at: result.updatedVersions)
        wire.pointee.deleted_count = result.deletedCount
        wire.pointee.n_merged = result.merged.count
        wire.pointee.merged = copy(numbers: result.merged.map { UInt32(clamping: $0) })
        wire.pointee.transaction = result.transaction ?? 0
        wire.pointee.n_affected = result.affected.count
        wire.pointee.affected = try list(result.affected, affected)
        return wire
    }
}
