internal import CLarderProto
internal import LarderModel

// The messages `Change` and `PropertyValue`.

extension Change {
    init(decoding bytes: RawSpan, _ arena: Arena) throws(LarderError) {
        self = try ChangeFields(decoding: bytes, arena).change()
    }
}

/// The fields of a `Change`; which of them may be present depends on the kind.
private struct ChangeFields {
    var kind = LARDER__V1__CHANGE_KIND__CHANGE_KIND_UNSPECIFIED
    var identifier: PersistentIdentifier?
    var ifVersion: Int64?
    var values: [String: Value] = [:]
    var base: [String: Value] = [:]
    var edits: [RelationshipEdit] = []
    var byPredicate: (selection: ObjectSelection, assignments: [PropertyAssignment])?

    init(decoding bytes: RawSpan, _ arena: Arena) throws(LarderError) {
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)):
                kind = Larder__V1__ChangeKind(rawValue: UInt32(truncatingIfNeeded: number))
            case (2, .bytes(let bytes)):
                if identifier != nil { throw .repeated("the object of a change") }
                identifier = try PersistentIdentifier(decoding: bytes)
            case (3, .number(let number)): ifVersion = Int64(bitPattern: number)
            case (4, .bytes(let bytes)):
                if values.isEmpty { values = try fields.roomForValues(4) }
                try values.insertProperty(decoding: bytes)
            case (5, .bytes(let bytes)):
                if base.isEmpty { base = try fields.roomForValues(5) }
                try base.insertProperty(decoding: bytes)
            case (6, .bytes(let bytes)):
                guard edits.count < Limits.editsMax else {
                    throw .tooMany(
                        "edits of one object", edits.count + 1, maximum: Limits.editsMax)
                }
                edits.append(try RelationshipEdit(decoding: bytes))
            case (7, .bytes(let bytes)):
                if byPredicate != nil { throw .repeated("the predicate of a change") }
                byPredicate = try ObjectSelection.objectsChange(decoding: bytes, arena)
            case (1...7, _): throw .unreadable
            default: break
            }
        }
    }

    func change() throws(LarderError) -> Change {
        switch kind {
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT:
            let identifier = try object()
            guard ifVersion == nil, base.isEmpty else {
                throw .malformed("an insert must not have a version or base values")
            }
            return .insert(identifier, values: values, edits: edits)
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE:
            return .update(
                try object(), ifVersion: ifVersion, values: values, base: base, edits: edits)
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE:
            let identifier = try object()
            guard values.isEmpty, base.isEmpty, edits.isEmpty else {
                throw .malformed("a delete must not have values or edits")
            }
            return .delete(identifier, ifVersion: ifVersion)
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_ALL,
            LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_FIRST:
            let (selection, assignments) = try objects()
            return .updateAll(selection, set: assignments)
        case LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_ALL,
            LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_FIRST:
            let (selection, assignments) = try objects()
            guard assignments.isEmpty else {
                throw .malformed("a delete must not have assignments")
            }
            return .deleteAll(selection)
        default:
            throw .malformed("the change has no known kind")
        }
    }

    private func object() throws(LarderError) -> PersistentIdentifier {
        guard byPredicate == nil else {
            throw .malformed("a change of one object must not have a predicate")
        }
        guard let identifier else { throw .malformed("the change names no object") }
        return identifier
    }

    private func objects() throws(LarderError) -> (ObjectSelection, [PropertyAssignment]) {
        guard let byPredicate else {
            throw .malformed("the change by predicate does not select objects")
        }
        guard identifier == nil, values.isEmpty, base.isEmpty, edits.isEmpty, ifVersion == nil
        else {
            throw .malformed(
                "a change by predicate must not have an object, values, edits or a version")
        }
        // A server that does not know limits would ignore one, so a limit has kinds of its own.
        let isLimited =
            kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_FIRST
            || kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_FIRST
        guard isLimited == (byPredicate.selection.limit != nil) else {
            throw .malformed(
                isLimited
                    ? "a change of the first objects must have a limit"
                    : "a change of all objects must not have a limit")
        }
        return byPredicate
    }
}

extension FieldScanner {
    /// An empty dictionary for the value that was just read and all further ones.
    fileprivate func roomForValues(_ field: UInt32) throws(LarderError) -> [String: Value] {
        let further = try count(
            of: field, "values of one object", maximum: Limits.propertiesMax - 1)
        return Dictionary(minimumCapacity: 1 + further)
    }
}

extension [String: Value] {
    /// Adds the property that a `PropertyValue` gives.
    fileprivate mutating func insertProperty(decoding bytes: RawSpan) throws(LarderError) {
        let (name, value) = try bytes.named("the name of a property", "the value of a property") {
            bytes throws(LarderError) in try Value(decoding: bytes)
        }
        guard updateValue(value, forKey: name) == nil else {
            throw .malformed("the change sets the property `\(name)` twice")
        }
    }
}

extension MessageBuffer {
    /// - Parameter writer: For the expressions of changes by predicate.
    func change(_ change: Change, _ writer: ProtobufWriter) throws(LarderError) {
        switch change {
        case .insert(let identifier, let values, let edits):
            kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT)
            try self.identifier(2, identifier)
            try properties(4, values)
            for edit in edits { try self.edit(6, edit) }
        case .update(let identifier, let ifVersion, let values, let base, let edits):
            kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE)
            try self.identifier(2, identifier)
            if let ifVersion { member(3, UInt64(bitPattern: ifVersion)) }
            try properties(4, values)
            try properties(5, base)
            for edit in edits { try self.edit(6, edit) }
        case .delete(let identifier, let ifVersion):
            kind(LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE)
            try self.identifier(2, identifier)
            if let ifVersion { member(3, UInt64(bitPattern: ifVersion)) }
        case .updateAll(let selection, let assignments):
            kind(
                selection.limit == nil
                    ? LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_ALL
                    : LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_FIRST)
            try objectsChange(7, selection, assignments, writer)
        case .deleteAll(let selection):
            kind(
                selection.limit == nil
                    ? LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_ALL
                    : LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_FIRST)
            try objectsChange(7, selection, [], writer)
        }
    }

    private func kind(_ kind: Larder__V1__ChangeKind) { number(1, UInt64(kind.rawValue)) }

    /// In the order of names, so that equal changes give equal bytes.
    private func properties(
        _ field: UInt32, _ values: [String: Value]
    ) throws(LarderError) {
        guard !values.isEmpty else { return }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            try message(field) { () throws(LarderError) in try property(name, value) }
        }
    }

    /// The fields of a `PropertyValue`.
    func property(_ name: String, _ value: Value) throws(LarderError) {
        text(1, name)
        try self.value(2, value)
    }
}
