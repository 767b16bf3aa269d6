import CLarderProto
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c what the library decodes by hand.

extension LarderError {
    init(_ wire: Larder__V1__ErrorReply) throws(LarderError) {
        let hint = try wire.hint.text("an error's hint")
        let uri = try wire.uri.text("an error's URI")
        self.init(
            ErrorCode(wireNumber: wire.code),
            try wire.message.text("an error's message"),
            hint: hint.isEmpty ? nil : hint,
            column: wire.column == 0 ? nil : Int(wire.column),
            uri: uri.isEmpty ? nil : uri,
            problems: try ProtobufReader.texts(
                wire.problems, wire.n_problems, "problems of an error", maximum: Limits.changesMax),
            details: try ProtobufReader.list(
                wire.details, wire.n_details, "problems of an error", maximum: Limits.changesMax,
                ChangeViolation.init))
    }
}

extension ChangeViolation {
    init(_ wire: Larder__V1__ChangeViolation) throws(LarderError) {
        let entityName = try wire.entity.text("a violation's entity")
        let uri = try wire.uri.text("a violation's URI")
        let valueKind = try wire.value_kind.text("a violation's kind of value")
        let hasChange =
            wire.change_presence_case == LARDER__V1__CHANGE_VIOLATION__CHANGE_PRESENCE_CHANGE
        let hasCondition =
            wire.condition_presence_case
            == LARDER__V1__CHANGE_VIOLATION__CONDITION_PRESENCE_CONDITION
        let hasFound =
            wire.found_presence_case == LARDER__V1__CHANGE_VIOLATION__FOUND_PRESENCE_FOUND
        self.init(
            ErrorCode(wireNumber: wire.code),
            try wire.message.text("a violation's message"),
            change: hasChange ? Int(wire.change) : nil,
            entityName: entityName.isEmpty ? nil : entityName,
            propertyNames: try ProtobufReader.texts(
                wire.properties, wire.n_properties, "properties of a violation",
                maximum: Limits.propertiesMax),
            uri: uri.isEmpty ? nil : uri, valueKind: valueKind.isEmpty ? nil : valueKind,
            // A rule that a newer server made up is none that a program could know.
            rule: Rule(rawValue: try wire.rule.text("a violation's rule")),
            conflict: try wire.conflict.map { (conflict) throws(LarderError) in
                try MergeConflict(conflict.pointee)
            },
            condition: hasCondition ? Int(wire.condition) : nil,
            found: hasFound ? wire.found : nil)
    }
}

extension MergeConflict {
    init(_ wire: Larder__V1__MergeConflict) throws(LarderError) {
        let hasExpected =
            wire.expected_version_presence_case
            == LARDER__V1__MERGE_CONFLICT__EXPECTED_VERSION_PRESENCE_EXPECTED_VERSION
        self.init(
            storedVersion: wire.stored_version,
            expectedVersion: hasExpected ? wire.expected_version : nil,
            properties: try ProtobufReader.list(
                wire.properties, wire.n_properties, "properties of a conflict",
                maximum: Limits.propertiesMax, Property.init))
    }
}

extension MergeConflict.Property {
    init(_ wire: Larder__V1__ConflictingProperty) throws(LarderError) {
        guard let stored = wire.stored else {
            throw .malformed("a property of a conflict has no stored value")
        }
        self.init(
            name: try wire.name.name("a property of a conflict"),
            base: try wire.base_value.map { (value) throws(LarderError) in try Value(value.pointee)
            },
            stored: try Value(stored.pointee),
            given: try wire.given.map { (value) throws(LarderError) in try Value(value.pointee) })
    }
}

extension Statistic {
    init(_ wire: Larder__V1__Statistic) throws(LarderError) {
        guard let value = wire.value else { throw .malformed("a statistic has no value") }
        self.init(try wire.name.text("a statistic's name"), try Value(value.pointee))
    }
}

extension SaveResult {
    init(_ wire: Larder__V1__SaveReply) throws(LarderError) {
        let versions: [Int64] = ProtobufReader.numbers(
            wire.updated_versions, wire.n_updated_versions)
        let merged: [UInt32] = ProtobufReader.numbers(wire.merged, wire.n_merged)
        let upserted: [UInt32] = ProtobufReader.numbers(wire.upserted, wire.n_upserted)
        self.init(
            inserted: try ProtobufReader.list(
                wire.inserted, wire.n_inserted, "inserted objects", maximum: Limits.changesMax,
                PersistentIdentifier.init),
            updatedVersions: versions, deletedCount: wire.deleted_count,
            merged: merged.map { Int($0) },
            transaction: wire.transaction == 0 ? nil : wire.transaction,
            affected: try ProtobufReader.list(
                wire.affected, wire.n_affected, "affected objects", maximum: Limits.changesMax,
                AffectedObjects.init),
            upserted: upserted.map { Int($0) })
    }
}

extension AffectedObjects {
    init(_ wire: Larder__V1__AffectedObjects) throws(LarderError) {
        self.init(
            count: wire.count,
            identifiers: try ProtobufReader.list(
                wire.identifiers, wire.n_identifiers, "affected objects",
                maximum: Limits.affectedIdentifiersMax, PersistentIdentifier.init))
    }
}
