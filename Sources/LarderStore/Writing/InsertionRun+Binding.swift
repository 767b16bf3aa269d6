import LarderModel

// From the columns of a batch to the parameters of a statement.
extension InsertionRun {
    /// Binds the values of some rows, one after the other.
    ///
    /// - Returns: Whether they can be stored; if not, there is a fault.
    func bind(
        _ columns: PlainColumns, _ rows: Range<Int>, _ first: Int64, _ statement: Statement
    ) throws(SQLiteError) -> Bool {
        let stride = entity.insertion.parameterCount
        var isSound = true
        for (number, offset) in rows.enumerated() {
            try statement.bind(integer: first + Int64(offset) + 1, at: 1 + number * stride)
        }
        for cell in columns.cells {
            switch cell.content {
            case .lent(let column):
                try statement.bind(column, rows, at: cell.place, stride: stride)
            case .checked(let column, let attribute):
                for (number, offset) in rows.enumerated() {
                    run.change = row + offset
                    guard let value = stored(column, offset, attribute) else {
                        isSound = false
                        continue
                    }
                    try statement.bind(value, at: cell.place + number * stride)
                }
            case .link(let column, let relationship):
                for (number, offset) in rows.enumerated() {
                    run.change = row + offset
                    let place = cell.place + number * stride
                    let isLinked = try bind(column, offset, relationship, statement, at: place)
                    isSound = isLinked && isSound
                }
            }
        }
        run.change = row + rows.lowerBound
        return isSound
    }

    private func stored(
        _ column: Column, _ offset: Int, _ attribute: StoredAttribute
    ) -> SQLBinding? {
        do throws(LarderError) {
            return try values.stored(column.value(at: offset, store: run.store), attribute)
        } catch {
            run.fault(error)
            return nil
        }
    }

    /// The value of an attribute that no column names.
    func storedDefault(_ attribute: StoredAttribute) -> SQLBinding {
        do throws(LarderError) {
            return try values.storedDefault(attribute)
        } catch {
            run.change = row
            run.fault(error)
            return .null
        }
    }

    private func bind(
        _ column: Column, _ offset: Int, _ relationship: StoredRelationship,
        _ statement: Statement, at place: Int
    ) throws(SQLiteError) -> Bool {
        guard case .integers(let keys) = column.storage else { return false }
        guard !column.isNull(at: offset) else {
            for number in 0..<relationship.parameterCount {
                try statement.bind(.null, at: place + number)
            }
            if relationship.isRequired { missing(relationship) }
            return !relationship.isRequired
        }
        let key = keys[offset]
        if relationship.parameterCount == 1, known[relationship.number]?.contains(key) == true {
            try statement.bind(integer: key, at: place)
            return true
        }
        let faultCount = run.faults.count
        let target = Assignment.Target(
            object: ObjectKey(entity: entityNumber(column, offset, relationship), key: key),
            insertedBy: nil)
        for (number, binding) in try run.insertedLink(relationship, target).enumerated() {
            try statement.bind(binding, at: place + number)
        }
        guard run.faults.count == faultCount else { return false }
        remember(key, of: relationship)
        return true
    }

    /// The entity that a column names for the object of a row.
    private func entityNumber(
        _ column: Column, _ offset: Int, _ relationship: StoredRelationship
    ) -> Int {
        guard case .object(let name) = column.kind else { return relationship.destinationNumber }
        let own = column.subentities.entityName(at: offset, among: name)
        return run.schema.number(of: own) ?? relationship.destinationNumber
    }

    /// A destination whose list is counted is noted each time, so that a fault names the last row.
    private func remember(_ key: Int64, of relationship: StoredRelationship) {
        // Under the name of another entity a key means another object.
        if run.schema.entities[relationship.destinationNumber].sharesTable { return }
        if let inverse = relationship.inverseNumber, run.schema.relationships[inverse].isCounted {
            return
        }
        if known[relationship.number]?.count ?? 0 >= Self.knownKeysMax {
            known[relationship.number] = []
        }
        known[relationship.number, default: []].insert(key)
    }

    func missing(_ relationship: StoredRelationship) {
        if run.change == nil { run.change = row }
        run.fault(
            LarderError(
                relationship.fault(
                    .missingValue, "\(relationship.qualifiedName) is required", .optional)))
    }

    /// The fault of a row that an index of SQLite's has refused.
    func uniquenessError(
        _ columns: PlainColumns, _ offset: Int
    ) throws(SQLiteError) -> LarderError? {
        for (constraint, column, attribute) in columns.uniques {
            let value =
                column.map { stored($0, offset, attribute) ?? .null }
                ?? attribute.defaultValue ?? .null
            guard value != .null, let key = try run.key(constraint.match, [value]) else { continue }
            return run.uniquenessError(
                constraint, entity, try run.object(constraint.declarerNumber, key))
        }
        return nil
    }
}

extension StoredRelationship {
    /// The places that a to-one stored here takes in the statement that inserts a row.
    var parameterCount: Int {
        guard case .own(let column) = storage else { return 0 }
        return column.positionColumn == nil ? 1 : 2
    }
}
