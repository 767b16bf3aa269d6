internal import LarderModel

// The messages `ChangeViolation`, `MergeConflict` and `ConflictingProperty`.

extension ChangeViolation {
    init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(ErrorCode(wireNumber: 0), "")
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)):
                code = ErrorCode(wireNumber: UInt32(truncatingIfNeeded: number))
            case (2, .bytes(let bytes)): message = try bytes.text("the message of a violation")
            case (3, .number(let number)): change = Int(UInt32(truncatingIfNeeded: number))
            case (4, .bytes(let bytes)):
                entityName = try bytes.optionalText("the entity of a violation")
            case (5, .bytes(let bytes)):
                guard propertyNames.count < Limits.propertiesMax else {
                    throw .tooMany(
                        "properties of a violation", propertyNames.count + 1,
                        maximum: Limits.propertiesMax)
                }
                propertyNames.append(try bytes.text("the property of a violation"))
            case (6, .bytes(let bytes)): uri = try bytes.optionalText("the URI of a violation")
            case (7, .bytes(let bytes)):
                valueKind = try bytes.optionalText("the value kind of a violation")
            case (8, .bytes(let bytes)):
                // A rule that only a newer server knows is nil.
                rule = Rule(rawValue: try bytes.text("the rule of a violation"))
            case (9, .bytes(let bytes)):
                if conflict != nil { throw .repeated("the conflict of a violation") }
                conflict = try MergeConflict(decoding: bytes)
            case (10, .number(let number)): condition = Int(UInt32(truncatingIfNeeded: number))
            case (11, .number(let number)): found = Int64(bitPattern: number)
            case (1...11, _): throw .unreadable
            default: break
            }
        }
    }
}

extension MergeConflict {
    init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(storedVersion: 0, expectedVersion: nil, properties: [])
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): storedVersion = Int64(bitPattern: number)
            case (2, .number(let number)): expectedVersion = Int64(bitPattern: number)
            case (3, .bytes(let bytes)):
                guard properties.count < Limits.propertiesMax else {
                    throw .tooMany(
                        "properties of a conflict", properties.count + 1,
                        maximum: Limits.propertiesMax)
                }
                properties.append(try Property(decoding: bytes))
            case (1...3, _): throw .unreadable
            default: break
            }
        }
    }
}

extension MergeConflict.Property {
    init(decoding bytes: RawSpan) throws(LarderError) {
        var name = bytes.extracting(first: 0)
        var (base, stored, given): (Value?, Value?, Value?)
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): name = bytes
            case (2, .bytes(let bytes)): try base.set(decoding: bytes)
            case (3, .bytes(let bytes)): try stored.set(decoding: bytes)
            case (4, .bytes(let bytes)): try given.set(decoding: bytes)
            case (1...4, _): throw .unreadable
            default: break
            }
        }
        guard let stored else { throw .malformed("a property of a conflict has no stored value") }
        self.init(
            name: try name.name("the property of a conflict"), base: base, stored: stored,
            given: given)
    }
}

extension Value? {
    fileprivate mutating func set(decoding bytes: RawSpan) throws(LarderError) {
        if self != nil { throw .repeated("a value of a conflict") }
        self = try Value(decoding: bytes)
    }
}

extension MessageBuffer {
    func changeViolation(_ field: UInt32, _ violation: ChangeViolation) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            number(1, UInt64(violation.code.rawValue))
            text(2, violation.message)
            if let change = violation.change { member(3, UInt64(UInt32(clamping: change))) }
            text(4, violation.entityName ?? "")
            for name in violation.propertyNames { element(5, name) }
            text(6, violation.uri ?? "")
            text(7, violation.valueKind ?? "")
            text(8, violation.rule?.rawValue ?? "")
            if let conflict = violation.conflict { try mergeConflict(9, conflict) }
            if let condition = violation.condition {
                member(10, UInt64(UInt32(clamping: condition)))
            }
            if let found = violation.found { member(11, UInt64(bitPattern: found)) }
        }
    }

    private func mergeConflict(
        _ field: UInt32, _ conflict: MergeConflict
    ) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            number(1, UInt64(bitPattern: conflict.storedVersion))
            if let expected = conflict.expectedVersion { member(2, UInt64(bitPattern: expected)) }
            for property in conflict.properties {
                try message(3) { () throws(LarderError) in
                    text(1, property.name)
                    if let base = property.base { try value(2, base) }
                    try value(3, property.stored)
                    if let given = property.given { try value(4, given) }
                }
            }
        }
    }
}
