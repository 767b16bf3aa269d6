import LarderModel

extension QueryTyper {
    package func query(_ query: Query) throws(LarderError) -> TypedQuery {
        switch query {
        case .fetch(let fetch): try self.fetch(fetch)
        case .count(_, let predicate, _): try count(where: predicate)
        case .aggregate(let aggregate): try self.aggregate(aggregate)
        }
    }

    private func fetch(_ fetch: Fetch) throws(LarderError) -> TypedQuery {
        try Self.checkCount(fetch.sort.count, of: "sort keys")
        let predicate = try predicate(source.predicate(fetch.predicate))
        var columns = try columns(of: fetch)
        let prefetch = try prefetch(fetch, &columns)
        let order =
            try fetch.isDistinct
            ? distinctOrder(fetch.sort, columns)
            : order(fetch.sort) + [TypedQuery.Order(key: .operand(ownIdentifier))]
        var givesIdentity = !fetch.isDistinct
        if case .values = fetch.selection { givesIdentity = false }
        return TypedQuery(
            verb: .fetch, entity: entity, includesSubentities: includesSubentities,
            predicate: predicate, columns: columns, order: order, isDistinct: fetch.isDistinct,
            givesIdentity: givesIdentity, hasIndexableOrder: fetch.sort.isEmpty,
            prefetch: prefetch)
    }

    private func count(where term: QueryTerm?) throws(LarderError) -> TypedQuery {
        let count = TypedOperand.aggregate(.count, nil, .int64, name: "count")
        return TypedQuery(
            verb: .count, entity: entity, includesSubentities: includesSubentities,
            predicate: try predicate(source.predicate(term)),
            columns: [TypedQuery.OutputColumn(name: "count", content: .operand(count))])
    }

    private func columns(of fetch: Fetch) throws(LarderError) -> [TypedQuery.OutputColumn] {
        let selected = fetch.selection.columns
        if fetch.selection == .objects || fetch.selection == .identifiers {
            guard !fetch.isDistinct else {
                throw LarderError(
                    .unsupported, "a distinct fetch selects columns, not whole objects",
                    hint: "objects are distinct already")
            }
            return fetch.selection == .identifiers ? [] : try objectColumns()
        }
        try Self.checkCount(selected.count, of: "selected columns")
        guard !selected.isEmpty else {
            throw LarderError(.unsupported, "the fetch selects no column")
        }
        try Self.checkNames(selected.map(\.name))
        var columns: [TypedQuery.OutputColumn] = []
        for (index, column) in selected.enumerated() {
            let expression = try value(column.term, named: "selected column \(index + 1)")
            if let list = list(at: expression) {
                guard !fetch.isDistinct else {
                    throw LarderError(
                        .unsupported,
                        "\(entity.name).\(list.name) is a list, "
                            + "which a distinct fetch cannot select")
                }
                columns.append(
                    TypedQuery.OutputColumn(name: column.name, content: .list(list)))
            } else {
                let operand = try singleValue(expression, orMany: needsSingleStep)
                columns.append(try outputColumn(column.name, operand))
            }
        }
        return columns
    }

    /// The value of an expression for the object. Throws for a key path to many objects.
    func singleValue(
        _ expression: QueryExpression, orMany: (TypedKeyPath) -> LarderError
    ) throws(LarderError) -> TypedOperand {
        if case .keyPath(let base, let names) = expression, outputs == nil {
            let path = try keyPath(base, names)
            guard !path.isToMany else { throw orMany(path) }
        }
        let operand = try operand(expression)
        guard case .value(var value) = operand, value.type == nil else { return operand }
        value.type = value.constantType
        return .value(value)
    }

    /// The object whose key is the first argument, or all objects. Nil is all properties.
    package func object(properties: [String]?) throws(LarderError) -> TypedQuery {
        let names =
            properties ?? entity.attributes.map(\.name) + entity.relationships.map(\.name)
        guard names.count <= Limits.propertiesMax else {
            throw LarderError(
                .resourceExhausted, "a fetch reads at most \(Limits.propertiesMax) properties")
        }
        try Self.checkNames(names)
        return TypedQuery(
            verb: .fetch, entity: entity, includesSubentities: includesSubentities,
            predicate: isObjectOfFirstArgument, columns: try columns(of: names),
            givesIdentity: true)
    }

    /// The computed and the stored value of a derived attribute.
    ///
    /// - Parameter isOfOneObject: Whether only for the object whose key is the first argument.
    package func derivation(
        _ derivation: Derivation, isOfOneObject: Bool
    ) throws(LarderError) -> TypedQuery {
        let type = derivation.attribute.type
        let computed = try operand(
            derivation.expression, as: .attribute(type), name: derivation.qualifiedName)
        let stored = try operand(.keyPath(.object, [derivation.attribute.name]))
        return TypedQuery(
            verb: .fetch, entity: entity, includesSubentities: includesSubentities,
            predicate: isOfOneObject ? isObjectOfFirstArgument : .constant(true),
            columns: [
                try outputColumn("computed", computed.reading(as: MemberKind(storedAs: type))),
                try outputColumn("stored", stored),
            ], givesIdentity: true)
    }

    private var isObjectOfFirstArgument: TypedPredicate {
        let key = TypedValue(source: .argument(0), type: .int64, name: entity.name)
        return .comparison(ownIdentifier, .equal, .value(key), options: [])
    }

    /// The object itself.
    var ownIdentifier: TypedOperand {
        .property(path(to: root, .object), name: entity.name)
    }

    /// The columns of whole objects in a fetch.
    func objectColumns() throws(LarderError) -> [TypedQuery.OutputColumn] {
        try columns(
            of: entity.attributes.map(\.name)
                + entity.relationships.filter { !$0.isToMany }.map(\.name))
    }

    /// The columns of the object's own properties, with to-many relationships as lists.
    private func columns(
        of names: [String]
    ) throws(LarderError) -> [TypedQuery.OutputColumn] {
        var columns: [TypedQuery.OutputColumn] = []
        for name in names {
            let expression = QueryExpression.keyPath(.object, [name])
            if let list = list(at: expression) {
                columns.append(TypedQuery.OutputColumn(name: name, content: .list(list)))
            } else {
                columns.append(try outputColumn(name, operand(expression)))
            }
        }
        return columns
    }

    func outputColumn(
        _ name: String, _ operand: TypedOperand
    ) throws(LarderError) -> TypedQuery.OutputColumn {
        guard let type = operand.type else {
            throw LarderError(
                .wrongType,
                "the column \"\(LarderError.printable(name))\" is an argument alone, "
                    + "whose type is unknown")
        }
        if case .object(let entityName) = type, schema.hasSubentities(entityName),
            case .aggregate(.mode, _, _, _) = operand
        {
            throw LarderError(
                .unsupported,
                "the mode would be an object of one of several entities",
                hint: "take the mode of an attribute, or group by the object and count")
        }
        return TypedQuery.OutputColumn(name: name, content: .operand(operand))
    }

    /// A to-many relationship of the entity itself, if the expression is its key path.
    private func list(at expression: QueryExpression) -> Relationship? {
        guard case .keyPath(.object, let names) = expression, names.count == 1,
            case .relationship(let relationship) = entity.property(named: names[0]),
            relationship.isToMany
        else { return nil }
        return relationship
    }

    func needsSingleStep(_ path: TypedKeyPath) -> LarderError {
        LarderError(
            .wrongType, "the key path to \(path.name) leads to many objects, not to one value",
            hint: path.joinHint
                ?? "only to-many relationships of \(entity.name) itself can be selected, as lists")
    }

    // MARK: Limits

    static func checkCount(_ count: Int, of what: String) throws(LarderError) {
        guard count <= Limits.queryColumnsMax else {
            throw LarderError(
                .resourceExhausted, "a query takes at most \(Limits.queryColumnsMax) \(what)")
        }
    }

    static func checkNames(_ names: [String]) throws(LarderError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw LarderError(
                .unsupported, "two columns are named \"\(LarderError.printable(name))\"",
                hint: "column names must differ")
        }
    }
}
