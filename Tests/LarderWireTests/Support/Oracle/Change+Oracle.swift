import CLarderProto
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c what the library decodes by hand.

extension RelationshipEdit {
    init(_ wire: Larder__V1__RelationshipEdit) throws(LarderError) {
        let name = try wire.name.name("the relationship of an edit")
        let objects = try ProtobufReader.list(
            wire.objects, wire.n_objects, "objects of one edit", maximum: Limits.editedObjectsMax,
            PersistentIdentifier.init)
        switch wire.kind {
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_ADD:
            self = .add(objects, to: name, at: try RelationshipPosition(wire))
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_REMOVE:
            guard wire.position_case == LARDER__V1__RELATIONSHIP_EDIT__POSITION__NOT_SET else {
                throw .malformed("an edit that removes objects must not have a position")
            }
            self = .remove(objects, from: name)
        case LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_MOVE:
            self = .move(objects, in: name, to: try RelationshipPosition(wire))
        default:
            throw .malformed("an edit has no kind that is known")
        }
    }
}

extension RelationshipPosition {
    init(_ wire: Larder__V1__RelationshipEdit) throws(LarderError) {
        switch wire.position_case {
        case LARDER__V1__RELATIONSHIP_EDIT__POSITION__NOT_SET: self = .last
        case LARDER__V1__RELATIONSHIP_EDIT__POSITION_END:
            switch wire.end {
            case LARDER__V1__LIST_END__LIST_END_FIRST: self = .first
            case LARDER__V1__LIST_END__LIST_END_LAST: self = .last
            default: throw .malformed("an edit has an unknown end of a list")
            }
        case LARDER__V1__RELATIONSHIP_EDIT__POSITION_BEFORE:
            self = .before(try Self.neighbor(wire.before))
        case LARDER__V1__RELATIONSHIP_EDIT__POSITION_AFTER:
            self = .after(try Self.neighbor(wire.after))
        case LARDER__V1__RELATIONSHIP_EDIT__POSITION_INDEX: self = .index(wire.index)
        default: throw .malformed("the edit has no known position")
        }
    }

    private static func neighbor(
        _ wire: UnsafeMutablePointer<Larder__V1__Identifier>?
    ) throws(LarderError) -> PersistentIdentifier {
        guard let wire else { throw .malformed("the position of the edit has no object") }
        return try PersistentIdentifier(wire.pointee)
    }
}

extension Change {
    /// A change by predicate; nil for one by name.
    init?(byPredicate wire: Larder__V1__Change) throws(LarderError) {
        let isLimited =
            wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_FIRST
            || wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_FIRST
        let isUpdate =
            wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_ALL
            || wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_FIRST
        let isDelete =
            wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_ALL
            || wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_FIRST
        guard isUpdate || isDelete else {
            guard wire.by_predicate == nil else {
                throw .malformed("a change of one object has a predicate")
            }
            return nil
        }
        guard let change = wire.by_predicate?.pointee else {
            throw .malformed("a change by predicate does not say of which objects")
        }
        guard wire.object == nil, wire.n_values == 0, wire.n_base_values == 0,
            wire.if_version_presence_case
                != LARDER__V1__CHANGE__IF_VERSION_PRESENCE_IF_VERSION
        else {
            throw .malformed("a change by predicate has what one of an object has")
        }
        let selection = try ObjectSelection(change)
        guard isLimited == (selection.limit != nil) else {
            throw .malformed("a limit is where it must not be")
        }
        guard isDelete else {
            self = .updateAll(
                selection,
                set: try ProtobufReader.list(
                    change.assignments, change.n_assignments, "assignments",
                    maximum: Limits.queryColumnsMax, PropertyAssignment.init))
            return
        }
        guard change.n_assignments == 0 else {
            throw .malformed("a delete sets values")
        }
        self = .deleteAll(selection)
    }
}

extension ObjectSelection {
    init(_ wire: Larder__V1__ObjectsChange) throws(LarderError) {
        self.init(
            try wire.entity.name("the entity of a change"),
            where: try QueryTerm.optional(wire.predicate, "a predicate"),
            sort: try SortKey.list(wire.sort, wire.n_sort),
            limit: wire.limit_presence_case == LARDER__V1__OBJECTS_CHANGE__LIMIT_PRESENCE_LIMIT
                ? wire.limit : nil,
            arguments: try ProtobufReader.list(
                wire.arguments, wire.n_arguments, "arguments", maximum: Limits.argumentsMax,
                QueryArgument.init),
            variables: try QueryArgument.named(wire.variables, wire.n_variables),
            argumentsAreText: wire.arguments_are_text != 0, assumesUTC: wire.assumes_utc != 0,
            wantsIdentifiers: wire.identifiers_wanted != 0,
            includesSubentities: wire.exclude_subentities == 0)
    }
}

extension PropertyAssignment {
    init(_ wire: Larder__V1__NamedTerm) throws(LarderError) {
        self.init(
            try wire.name.name("the property of a change"),
            try QueryTerm.required(wire.term, "a property of a change"))
    }
}
