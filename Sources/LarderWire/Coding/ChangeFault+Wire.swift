internal import CLarderProto
internal import LarderModel

extension ChangeFault {
    init(_ wire: Larder__V1__ChangeFault) throws(LarderError) {
        let entityName = try wire.entity.text("a fault's entity")
        let uri = try wire.uri.text("a fault's URI")
        let valueKind = try wire.value_kind.text("a fault's kind of value")
        let hasChange =
            wire.change_presence_case == LARDER__V1__CHANGE_FAULT__CHANGE_PRESENCE_CHANGE
        self.init(
            ErrorCode(wireNumber: wire.code),
            try wire.message.text("a fault's message"),
            change: hasChange ? Int(wire.change) : nil,
            entityName: entityName.isEmpty ? nil : entityName,
            propertyNames: try MessageReader.texts(
                wire.properties, wire.n_properties, "properties of a fault",
                maximum: Limits.propertiesMax),
            uri: uri.isEmpty ? nil : uri, valueKind: valueKind.isEmpty ? nil : valueKind,
            // A rule that a newer server made up is none that a program could know.
            rule: Rule(rawValue: try wire.rule.text("a fault's rule")),
            conflict: try wire.conflict.map { (conflict) throws(LarderError) in
                try MergeConflict(conflict.pointee)
            })
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
            properties: try MessageReader.list(
                wire.properties, wire.n_properties, "properties of a conflict",
                maximum: Limits.propertiesMax, Property.init))
    }
}

extension MergeConflict.Property {
    init(_ wire: Larder__V1__ConflictingProperty) throws(LarderError) {
        guard let stored = wire.stored else {
            throw MessageReader.malformed("a property of a conflict has no stored value")
        }
        self.init(
            name: try wire.name.name("a property of a conflict"),
            base: try wire.base_value.map { (value) throws(LarderError) in try Value(value.pointee)
            },
            stored: try Value(stored.pointee),
            given: try wire.given.map { (value) throws(LarderError) in try Value(value.pointee) })
    }
}

extension MessageWriter {
    func fault(
        _ fault: ChangeFault
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__ChangeFault> {
        let wire = make(larder__v1__change_fault__init)
        wire.pointee.code = fault.code.rawValue
        wire.pointee.message = text(fault.message)
        if let change = fault.change {
            wire.pointee.change_presence_case =
                LARDER__V1__CHANGE_FAULT__CHANGE_PRESENCE_CHANGE
            wire.pointee.change = UInt32(clamping: change)
        }
        wire.pointee.entity = text(fault.entityName ?? "")
        wire.pointee.n_properties = fault.propertyNames.count
        wire.pointee.properties = texts(fault.propertyNames)
        wire.pointee.uri = text(fault.uri ?? "")
        wire.pointee.value_kind = text(fault.valueKind ?? "")
        wire.pointee.rule = text(fault.rule?.rawValue ?? "")
        if let conflict = fault.conflict { wire.pointee.conflict = try self.conflict(conflict) }
        return wire
    }

    private func conflict(
        _ conflict: MergeConflict
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__MergeConflict> {
        let wire = make(larder__v1__merge_conflict__init)
        wire.pointee.stored_version = conflict.storedVersion
        if let expected = conflict.expectedVersion {
            wire.pointee.expected_version_presence_case =
                LARDER__V1__MERGE_CONFLICT__EXPECTED_VERSION_PRESENCE_EXPECTED_VERSION
            wire.pointee.expected_version = expected
        }
        wire.pointee.n_properties = conflict.properties.count
        wire.pointee.properties = try list(conflict.properties) {
            (property) throws(LarderError)
                -> UnsafeMutablePointer<Larder__V1__ConflictingProperty> in
            let item = make(larder__v1__conflicting_property__init)
            item.pointee.name = text(property.name)
            if let base = property.base { item.pointee.base_value = try value(base) }
            item.pointee.stored = try value(property.stored)
            if let given = property.given { item.pointee.given = try value(given) }
            return item
        }
        return wire
    }
}
