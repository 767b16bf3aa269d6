internal import CLarderProto
internal import LarderModel

// The message `RelationshipEdit`.

extension RelationshipEdit {
    init(decoding bytes: RawSpan) throws(LarderError) {
        var kind = LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_UNSPECIFIED
        var relationship = bytes.extracting(first: 0)
        var objects: [PersistentIdentifier] = []
        var position: RelationshipPosition?
        var fields = FieldScanner(bytes)
        objects.reserveCapacity(
            try fields.count(of: 3, "objects of one edit", maximum: Limits.editedObjectsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): relationship = bytes
            case (2, .number(let number)):
                kind = Larder__V1__RelationshipEditKind(
                    rawValue: UInt32(truncatingIfNeeded: number))
            case (3, .bytes(let bytes)):
                objects.append(try PersistentIdentifier(decoding: bytes))
            case (4, .number(let number)): position = try RelationshipPosition(end: number)
            case (5...6, .bytes(let bytes)):
                if position != nil { throw .repeated("the position of an edit") }
                let neighbor = try PersistentIdentifier(decoding: bytes)
                position = field.number == 5 ? .before(neighbor) : .after(neighbor)
            case (7, .number(let number)): position = .index(Int64(bitPattern: number))
            case (1...7, _): throw .unreadable
            default: break
            }
        }
        let name = try relationship.name("the relationship of an edit")
        switch kind {
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_ADD:
            self = .add(objects, to: name, at: position ?? .last)
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_REMOVE:
            guard position == nil else {
                throw .malformed("an edit that removes objects must not have a position")
            }
            self = .remove(objects, from: name)
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_MOVE:
            self = .move(objects, in: name, to: position ?? .last)
        default:
            throw .malformed("the edit has no known kind")
        }
    }
}

extension RelationshipPosition {
    fileprivate init(end number: UInt64) throws(LarderError) {
        switch Larder__V1__ListEnd(rawValue: UInt32(truncatingIfNeeded: number)) {
        case LARDER__V1__LIST_END__LIST_END_FIRST: self = .first
        case LARDER__V1__LIST_END__LIST_END_LAST: self = .last
        default: throw .malformed("the edit has an unknown end of a list")
        }
    }
}

extension MessageBuffer {
    func edit(_ field: UInt32, _ edit: RelationshipEdit) throws(LarderError) {
        try message(field) { () throws(LarderError) in
            text(1, edit.propertyName)
            let kind =
                switch edit {
                case .add: LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_ADD
                case .remove: LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_REMOVE
                case .move: LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_MOVE
                }
            number(2, UInt64(kind.rawValue))
            for object in edit.objects { try identifier(3, object) }
            switch edit.position {
            case .first: member(4, UInt64(LARDER__V1__LIST_END__LIST_END_FIRST.rawValue))
            case .before(let neighbor): try identifier(5, neighbor)
            case .after(let neighbor): try identifier(6, neighbor)
            case .index(let index): member(7, UInt64(bitPattern: index))
            case .last, nil: break
            }
        }
    }
}
