import CLarderProto
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c what the library decodes by hand.

extension ChangeSet {
    init(_ wire: Larder__V1__ChangeSet) throws(LarderError) {
        self.init(
            try ProtobufReader.list(
                wire.changes, wire.n_changes, "changes", maximum: Limits.changesMax, Change.init),
            conditions: try ProtobufReader.list(
                wire.conditions, wire.n_conditions, "conditions", maximum: Limits.conditionsMax,
                Condition.init),
            onUniqueConflict: try UniqueConflictPolicy(
                wireNumber: UInt64(wire.on_unique_conflict.rawValue)),
            mergePolicy: try MergePolicy(wireNumber: UInt64(wire.merge_policy.rawValue)),
            author: try wire.author.text(
                "the author of a change set", bytesMax: Limits.authorBytesMax),
            idempotencyKey: try wire.idempotency_key.text(
                "an idempotency key", bytesMax: Limits.idempotencyKeyBytesMax),
            releasedKeys: try Self.keys(wire))
        isDryRun = wire.dry_run != 0
    }

    private static func keys(_ wire: Larder__V1__ChangeSet) throws(LarderError) -> [String] {
        guard wire.n_released_keys <= Limits.releasedKeysMax else {
            throw .tooMany(
                "released keys", Int(wire.n_released_keys), maximum: Limits.releasedKeysMax)
        }
        var keys: [String] = []
        for index in 0..<Int(wire.n_released_keys) {
            keys.append(
                try wire.released_keys[index].text(
                    "a released key", bytesMax: Limits.idempotencyKeyBytesMax))
        }
        return keys
    }
}

extension ChangeSet.Condition {
    init(_ wire: Larder__V1__Condition) throws(LarderError) {
        guard let objects = wire.objects?.pointee, objects.n_assignments == 0,
            objects.identifiers_wanted == 0
        else {
            throw .malformed("a condition does not say which objects it counts, or says more")
        }
        self.init(try ObjectSelection(objects), count: wire.count)
    }
}

extension Change {
    init(_ wire: Larder__V1__Change) throws(LarderError) {
        if let byPredicate = try Change(byPredicate: wire) {
            self = byPredicate
            return
        }
        guard let object = wire.object else {
            throw .malformed("a change names no object")
        }
        let identifier = try PersistentIdentifier(object.pointee)
        let hasVersion =
            wire.if_version_presence_case
            == LARDER__V1__CHANGE__IF_VERSION_PRESENCE_IF_VERSION
        let ifVersion = hasVersion ? wire.if_version : nil
        guard wire.n_base_values == 0 || wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE
        else {
            throw .malformed("only an update may have base values")
        }
        switch wire.kind {
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT:
            guard !hasVersion else {
                throw .malformed("an insert expects a row version")
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
                throw .malformed("a delete sets values")
            }
            self = .delete(identifier, ifVersion: ifVersion)
        default:
            throw .malformed("a change has no kind that is known")
        }
    }

    private static func edits(_ wire: Larder__V1__Change) throws(LarderError) -> [RelationshipEdit]
    {
        try ProtobufReader.list(
            wire.edits, wire.n_edits, "edits of one object", maximum: Limits.editsMax,
            RelationshipEdit.init)
    }

    private static func values(
        _ properties: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__PropertyValue>?>?,
        _ count: Int
    ) throws(LarderError) -> [String: Value] {
        guard count <= Limits.propertiesMax else {
            throw .tooMany(
                "values of one object", count, maximum: Limits.propertiesMax)
        }
        var values = [String: Value](minimumCapacity: count)
        for index in 0..<count {
            guard let property = properties?[index]?.pointee, let value = property.value else {
                throw .malformed("a property of a change has no value")
            }
            let name = try property.name.name("the property of a change")
            guard values.updateValue(try Value(value.pointee), forKey: name) == nil else {
                throw .malformed("a change sets the property `\(name)` twice")
            }
        }
        return values
    }
}
