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

extension MessageWriter {
    func edit(
        _ edit: RelationshipEdit
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__RelationshipEdit> {
        let wire = make(larder__v1__relationship_edit__init)
        wire.pointee.name = text(edit.propertyName)
        wire.pointee.n_objects = edit.objects.count
        wire.pointee.objects = try list(edit.objects, identifier)
        wire.pointee.kind =
            switch edit {
            case .add: LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_ADD
            case .remove: LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_REMOVE
            case .move: LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_MOVE
            }
        if let place = edit.place { fill(wire, place) }
        return wire
    }

    private func fill(
        _ wire: UnsafeMutablePointer<Larder__V1__RelationshipEdit>, _ place: ListPlace
    ) {
        switch place {
        case .first:
            wire.pointee.place_case = LARDER__V1__RELATIONSHIP_EDIT__PLACE_END
            wire.pointee.end = LARDER__V1__LIST_END__LIST_END_FIRST
        case .last: break
        case .before(let neighbor):
            wire.pointee.place_case = LARDER__V1__RELATIONSHIP_EDIT__PLACE_BEFORE
            wire.pointee.before = identifier(neighbor)
        case .after(let neighbor):
            wire.pointee.place_case = LARDER__V1__RELATIONSHIP_EDIT__PLACE_AFTER
            wire.pointee.after = identifier(neighbor)
        case .index(let index):
            wire.pointee.place_case = LARDER__V1__RELATIONSHIP_EDIT__PLACE_INDEX
            wire.pointee.index = index
        }
    }
}
