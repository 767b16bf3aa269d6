internal import CLarderProto
internal import LarderModel

extension RelationshipEdit {
    init(_ wire: Larder__V1__RelationshipEdit) throws(LarderError) {
        let name = try wire.name.name("the relationship of an edit")
        let objects = try MessageReader.list(
            wire.objects, wire.n_objects, "objects of one edit", maximum: Limits.editedObjectsMax,
            PersistentIdentifier.init)
        switch wire.kind {
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_ADD:
            self = .add(objects, to: name, at: try ListPlace(wire))
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_REMOVE:
            guard wire.place_case == LARDER__V1__RELATIONSHIP_EDIT__PLACE__NOT_SET else {
                throw MessageReader.malformed("an edit that removes has a place")
            }
            self = .remove(objects, from: name)
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_MOVE:
            self = .move(objects, in: name, to: try ListPlace(wire))
        default:
            throw MessageReader.malformed("an edit has no kind that is known")
        }
    }
}

extension ListPlace {
    fileprivate init(_ wire: Larder__V1__RelationshipEdit) throws(LarderError) {
        switch wire.place_case {
        case LARDER__V1__RELATIONSHIP_EDIT__PLACE__NOT_SET: self = .last
        case LARDER__V1__RELATIONSHIP_EDIT__PLACE_END:
            switch wire.end {
            case LARDER__V1__LIST_END__LIST_END_FIRST: self = .first
            case LARDER__V1__LIST_END__LIST_END_LAST: self = .last
            default: throw MessageReader.malformed("an edit has an unknown end of a list")
            }
        case LARDER__V1__RELATIONSHIP_EDIT__PLACE_BEFORE:
            self = .before(try Self.neighbor(wire.before))
        case LARDER__V1__RELATIONSHIP_EDIT__PLACE_AFTER:
            self = .after(try Self.neighbor(wire.after))
        case LARDER__V1__RELATIONSHIP_EDIT__PLACE_INDEX: self = .index(wire.index)
        default: throw MessageReader.malformed("an edit has no place that is known")
        }
    }

    private static func neighbor(
        _ wire: UnsafeMutablePointer<Larder__V1__Identifier>?
    ) throws(LarderError) -> PersistentIdentifier {
        guard let wire else { throw MessageReader.malformed("the place of an edit has no object") }
        return try PersistentIdentifier(wire.pointee)
    }
}

extension MessageBytes {
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
            switch edit.place {
            case .first: present(4, UInt64(LARDER__V1__LIST_END__LIST_END_FIRST.rawValue))
            case .before(let neighbor): try identifier(5, neighbor)
            case .after(let neighbor): try identifier(6, neighbor)
            case .index(let index): present(7, UInt64(bitPattern: index))
            case .last, nil: break
            }
        }
    }
}
