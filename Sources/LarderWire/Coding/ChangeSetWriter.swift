internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

extension MessageWriter {
    /// A change set. Only changes by predicate, whose expressions are laid out in the arena, are
    /// left to protobuf-c.
    func save(_ set: ChangeSet, into bytes: MessageBytes) throws(LarderError) {
        guard set.changes.count <= Limits.changesMax else {
            throw MessageReader.tooMany("changes", set.changes.count, maximum: Limits.changesMax)
        }
        for change in set.changes {
            try bytes.message(1) { () throws(LarderError) in try self.change(change, into: bytes) }
        }
        bytes.number(2, UInt64(set.onUniqueConflict.wire.rawValue))
        bytes.number(3, UInt64(set.mergePolicy.wire.rawValue))
        bytes.text(4, set.author)
        bytes.text(5, set.idempotencyKey)
    }

    private func change(_ change: Change, into bytes: MessageBytes) throws(LarderError) {
        switch change {
        case .insert(let identifier, let values, let edits):
            bytes.kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT)
            try bytes.identifier(2, identifier)
            try bytes.properties(4, values)
            for edit in edits { try bytes.edit(6, edit) }
        case .update(let identifier, let ifVersion, let values, let base, let edits):
            bytes.kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE)
            try bytes.identifier(2, identifier)
            if let ifVersion { bytes.present(3, UInt64(bitPattern: ifVersion)) }
            try bytes.properties(4, values)
            try bytes.properties(5, base)
            for edit in edits { try bytes.edit(6, edit) }
        case .delete(let identifier, let ifVersion):
            bytes.kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE)
            try bytes.identifier(2, identifier)
            if let ifVersion { bytes.present(3, UInt64(bitPattern: ifVersion)) }
        case .updateAll(let selection, let assignments):
            bytes.kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_ALL)
            bytes.message(7, packing: try objectsChange(selection, assignments))
        case .deleteAll(let selection):
            bytes.kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_ALL)
            bytes.message(7, packing: try objectsChange(selection, []))
        }
    }
}

extension MessageBytes {
    fileprivate func kind(_ kind: Larder__V1__ChangeKind) { number(1, UInt64(kind.rawValue)) }

    /// Sorted by name, so that the same change is always the same bytes.
    fileprivate func properties(
        _ field: UInt32, _ values: [String: Value]
    ) throws(LarderError) {
        guard !values.isEmpty else { return }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            try message(field) { () throws(LarderError) in
                text(1, name)
                try self.value(2, value)
            }
        }
    }

    private func value(_ field: UInt32, _ value: Value) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            switch value {
            case .null: present(1, 1)
            case .bool(let bool): present(2, bool ? 1 : 0)
            // The sign goes to the lowest bit.
            case .int(let int): present(3, UInt64(bitPattern: int << 1 ^ int >> 63))
            case .float(let float):
                guard !float.isNaN else { throw Value.malformed("a float is NaN") }
                present(4, fixed: float.bitPattern)
            case .double(let double):
                guard !double.isNaN else { throw Value.malformed("a double is NaN") }
                present(5, fixed: double.bitPattern)
            case .decimal(let decimal):
                guard !decimal.isNaN else { throw Value.malformed("a decimal is NaN") }
                present(6, decimal.description)
            case .string(let string): present(7, string)
            case .date(let date):
                let seconds = date.timeIntervalSinceReferenceDate
                guard seconds.isFinite else { throw Value.malformed("a date is not finite") }
                present(8, fixed: seconds.bitPattern)
            case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { present(9, $0) }
            case .url(let url): present(10, url.absoluteString)
            case .data(let data): data.withUnsafeBytes { present(11, $0) }
            case .json(let json): present(12, json)
            case .object(let identifier): try self.identifier(13, identifier)
            case .objects(let identifiers):
                try message(14) { () throws(LarderError) in
                    for identifier in identifiers { try self.identifier(1, identifier) }
                }
            }
        }
    }

    func identifier(_ field: UInt32, _ identifier: PersistentIdentifier) throws(LarderError) {
        try message(field) {
            if let store = identifier.store {
                withUnsafeBytes(of: store.uuid) { present(1, $0) }
            }
            text(2, identifier.entityName)
            switch identifier.key {
            case .permanent(let key): present(3, UInt64(bitPattern: key))
            case .temporary(let name): present(4, name)
            }
        }
    }
}
