internal import CLarderProto
internal import LarderModel

extension Change {
    /// A change by predicate; nil for one by name.
    init?(byPredicate wire: Larder__V1__Change) throws(LarderError) {
        let isUpdate = wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE_ALL
        let isDelete = wire.kind == LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE_ALL
        guard isUpdate || isDelete else {
            guard wire.by_predicate == nil else {
                throw MessageReader.malformed("a change of one object has a predicate")
            }
            return nil
        }
        guard let change = wire.by_predicate?.pointee else {
            throw MessageReader.malformed("a change by predicate does not say of which objects")
        }
        guard wire.object == nil, wire.n_values == 0, wire.n_base_values == 0,
            wire.if_version_presence_case
                != LARDER__V1__CHANGE__IF_VERSION_PRESENCE_IF_VERSION
        else {
            throw MessageReader.malformed("a change by predicate has what one of an object has")
        }
        let selection = try ObjectSelection(change)
        guard isDelete else {
            self = .updateAll(
                selection,
                set: try MessageReader.list(
                    change.assignments, change.n_assignments, "assignments",
                    maximum: Limits.queryColumnsMax, PropertyAssignment.init))
            return
        }
        guard change.n_assignments == 0 else {
            throw MessageReader.malformed("a delete sets values")
        }
        self = .deleteAll(selection)
    }
}

extension ObjectSelection {
    fileprivate init(_ wire: Larder__V1__ObjectsChange) throws(LarderError) {
        self.init(
            try wire.entity.name("the entity of a change"),
            where: try QueryTerm.optional(wire.predicate, "a predicate"),
            arguments: try MessageReader.list(
                wire.arguments, wire.n_arguments, "arguments", maximum: Limits.argumentsMax,
                QueryArgument.init),
            variables: try QueryArgument.named(wire.variables, wire.n_variables),
            argumentsAreText: wire.arguments_are_text != 0,
            wantsIdentifiers: wire.identifiers_wanted != 0,
            includesSubentities: wire.exclude_subentities == 0)
    }
}

extension PropertyAssignment {
    fileprivate init(_ wire: Larder__V1__NamedTerm) throws(LarderError) {
        self.init(
            try wire.name.name("the property of a change"),
            try QueryTerm.required(wire.term, "a property of a change"))
    }
}

extension AffectedObjects {
    init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
        self.init(count: 0)
        var fields = FieldScanner(bytes)
        identifiers.reserveCapacity(
            try fields.count(of: 2, "affected objects", maximum: Limits.affectedIdentifiersMax))
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .number(let number)): count = Int64(bitPattern: number)
            case (2, .bytes(let bytes)):
                identifiers.append(try PersistentIdentifier(encoded: bytes))
            case (1...2, _): throw FieldScanner.unreadable
            default: break
            }
        }
    }
}

extension MessageWriter {
    /// Constants in trees are lifted out: they follow the arguments.
    func objectsChange(
        _ selection: ObjectSelection, _ assignments: [PropertyAssignment]
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__ObjectsChange> {
        guard assignments.count <= Limits.queryColumnsMax else {
            throw MessageReader.tooMany(
                "assignments", assignments.count, maximum: Limits.queryColumnsMax)
        }
        var flattener = ExpressionFlattener(writer: self, arguments: selection.arguments)
        let wire = make(larder__v1__objects_change__init)
        wire.pointee.entity = text(selection.entityName)
        wire.pointee.predicate = try term(selection.predicate, &flattener)
        wire.pointee.n_assignments = assignments.count
        wire.pointee.assignments = try columns(
            assignments.map { QueryColumn($0.term, name: $0.name) }, &flattener)
        let parameters = QueryParameters(
            arguments: flattener.arguments, variables: selection.variables)
        try parameters.checkLimits()
        wire.pointee.n_arguments = parameters.arguments.count
        wire.pointee.arguments = try list(parameters.arguments, argument)
        wire.pointee.arguments_are_text = selection.argumentsAreText ? 1 : 0
        wire.pointee.n_variables = parameters.variables.count
        wire.pointee.variables = try variables(parameters.variables)
        wire.pointee.identifiers_wanted = selection.wantsIdentifiers ? 1 : 0
        wire.pointee.exclude_subentities = selection.includesSubentities ? 0 : 1
        return wire
    }

    func affected(
        _ affected: AffectedObjects
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__AffectedObjects> {
        let wire = make(larder__v1__affected_objects__init)
        wire.pointee.count = affected.count
        wire.pointee.n_identifiers = affected.identifiers.count
        wire.pointee.identifiers = try list(affected.identifiers, identifier)
        return wire
    }
}
