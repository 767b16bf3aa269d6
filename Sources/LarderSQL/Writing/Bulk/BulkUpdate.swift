import LarderModel

/// The assignments of a bulk update, with the statements that store them.
struct BulkUpdate {
    let entity: StoredEntity
    /// In the order of the entity's attributes.
    let attributes: [(attribute: Int, content: PlannedAssignment.Content)]
    /// In the order of the schema's relationships.
    let relationships: [(relationship: Int, content: PlannedAssignment.Content)]
    /// For each attribute, the column of the selection that has its stored value.
    let storedColumns: [Int]
    let statement: SQL
    /// Increments the version too.
    let incrementingStatement: SQL
    /// The columns of unique attributes that get a computed value in each object. They are cleared
    /// in all objects first, so that the objects may exchange values.
    let uniqueColumns: [String]
    /// The constraints over several properties of which one is assigned.
    let combinations: [Int]
    private let check: ValueCheck

    init(
        _ assignments: [PlannedAssignment], _ entity: StoredEntity, values: ValueCheck
    ) {
        var attributes: [(attribute: Int, content: PlannedAssignment.Content, column: Int)] = []
        var relationships: [(relationship: Int, content: PlannedAssignment.Content)] = []
        for assignment in assignments {
            switch assignment.property {
            case .attribute(let number):
                guard let column = assignment.storedColumn else {
                    preconditionFailure("the stored values of attributes are selected")
                }
                attributes.append((number, assignment.content, column))
            case .relationship(let number): relationships.append((number, assignment.content))
            }
        }
        attributes.sort { $0.attribute < $1.attribute }
        let numbers = attributes.map(\.attribute)
        let constraints = entity.constraints(over: numbers)
        self.entity = entity
        self.attributes = attributes.map { ($0.attribute, $0.content) }
        self.relationships = relationships.sorted { $0.relationship < $1.relationship }
        storedColumns = attributes.map(\.column)
        check = values
        let texts = entity.rows[numbers]
        statement = numbers.isEmpty ? entity.incrementVersion : texts.update
        incrementingStatement =
            numbers.isEmpty ? entity.incrementVersion : texts.updateAndIncrementVersion
        uniqueColumns = attributes.compactMap { attribute, content, _ in
            guard case .computed = content,
                constraints.contains(where: {
                    entity.constraints[$0].uniqueAttribute == attribute
                })
            else { return nil }
            return entity.attributes[attribute].column
        }
        combinations = constraints.filter { entity.constraints[$0].uniqueAttribute == nil }
    }

    // MARK: - The values of one object

    /// The values for an object, from its row of the selection. nil adds an error.
    func values(
        _ row: [SQLValue], _ object: ObjectKey, _ context: ChangeContext
    ) throws(SQLError) -> PlannedValues? {
        var values = PlannedValues()
        do throws(LarderError) {
            for (attribute, content) in attributes {
                values.attributes.append((attribute, try stored(content, row, attribute)))
            }
            for (relationship, content) in relationships {
                let targets = try targets(content, row, context.schema.relationships[relationship])
                values.assignments.append(
                    Assignment(relationship: relationship, targets: targets))
            }
        } catch {
            context.add(Self.error(error, of: object, context))
            return nil
        }
        // The targets' own entities are read only now, because a statement may fail.
        for (index, (number, content)) in relationships.enumerated() {
            guard case .computed = content else { continue }
            var targets: [Assignment.Target] = []
            for target in values.assignments[index].targets {
                let object = try context.object(
                    context.schema.relationships[number].destinationNumber, target.key)
                targets.append(Assignment.Target(object: object, insertedBy: nil))
            }
            values.assignments[index] = Assignment(relationship: number, targets: targets)
        }
        return values
    }

    private func stored(
        _ content: PlannedAssignment.Content, _ row: [SQLValue], _ number: Int
    ) throws(LarderError) -> SQLValue {
        switch content {
        case .attribute(let stored): return stored
        case .relationship: preconditionFailure("an attribute takes a value")
        case .computed(let column, let type):
            let attribute = entity.attributes[number]
            guard case .attribute(let type) = type,
                let value = row[column].value(computedAs: type)
            else {
                throw LarderError(
                    .wrongType,
                    "\(attribute.qualifiedName) takes \(attribute.attribute.type.nounWithArticle), "
                        + "and the computed value has another type")
            }
            return try check.stored(value, attribute)
        }
    }

    private func targets(
        _ content: PlannedAssignment.Content, _ row: [SQLValue],
        _ relationship: StoredRelationship
    ) throws(LarderError) -> [Assignment.Target] {
        switch content {
        case .relationship(let targets): return targets
        case .attribute: preconditionFailure("a relationship takes objects")
        case .computed(let column, _):
            if let key = row[column].int64 {
                let object = ObjectKey(entity: relationship.destinationNumber, key: key)
                return [Assignment.Target(object: object, insertedBy: nil)]
            }
            guard !relationship.isRequired else {
                throw LarderError(
                    relationship.violation(
                        .missingValue, "\(relationship.qualifiedName) is required", .optional))
            }
            return []
        }
    }

    /// The error of a single value, with the object that was to have it.
    private static func error(
        _ error: LarderError, of object: ObjectKey, _ context: ChangeContext
    ) -> LarderError {
        var violation = error.details.first ?? ChangeViolation(error.code, error.message)
        violation.message += ", in \(context.name(of: object))"
        violation.uri = context.stableURI(of: object)
        return LarderError(violation, hint: error.hint)
    }
}

extension SQLValue {
    /// The result of an expression of this type; nil if it is not of the type.
    fileprivate func value(computedAs type: AttributeType) -> Value? {
        switch (type, self) {
        case (.float, .integer(let integer)), (.double, .integer(let integer)):
            .double(Double(integer))
        case (.date, .integer(let integer)): SQLValue.real(Double(integer)).value(of: .date)
        case (.float, .real(let real)): .double(real)
        default: value(of: type)
        }
    }
}
