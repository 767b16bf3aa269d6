import LarderModel

/// The columns of a batch as the places of one statement that inserts a row.
struct PlainColumns {
    struct Cell {
        enum Content {
            /// Good as it stands.
            case lent(LentColumn)
            /// To be looked at value by value.
            case checked(Column, StoredAttribute)
            /// The keys of a to-one's destinations.
            case link(Column, StoredRelationship)
        }

        let content: Content
        /// The first of its parameters.
        let place: Int
    }

    let statement: Statement
    let cells: [Cell]
    /// The single unique attributes, each with its constraint and how a row's value is found.
    let uniques: [(constraint: StoredConstraint, column: Column?, attribute: StoredAttribute)]
    /// Constraints over several properties, which no index of SQLite's holds.
    let combinations: [Int]
}

// Nobody takes back a value or a destination within a stream of plain inserts, so faults that a
// change set can only see at its end are seen at once, and nothing is noted for it.
extension InsertionRun {
    /// The columns, if each row is one statement; nil if the rows have to go the ordinary way.
    func plainColumns(_ batch: Batch) throws(SQLiteError) -> PlainColumns? {
        let schema = run.schema
        guard insertion.onUniqueConflict == .error, entity.isInsertedPlainly(schema),
            batch.columns.allSatisfy({ column in
                switch entity.places[column.name] {
                case .attribute: true
                case .relationship(let number): entity.insertedToOnes.contains(number)
                case nil: false
                }
            })
        else { return nil }
        let columns = Dictionary(
            batch.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let statement = try run.statements.statement(entity.insert)
        var cells: [PlainColumns.Cell] = []
        var place = 2
        for attribute in entity.attributes {
            if let column = columns[attribute.attribute.name] {
                let content =
                    attribute.lent(column).map { PlainColumns.Cell.Content.lent($0) }
                    ?? .checked(column, attribute)
                cells.append(PlainColumns.Cell(content: content, place: place))
            } else {
                try statement.bind(storedDefault(attribute), at: place)
            }
            place += 1
        }
        for number in entity.insertedToOnes {
            let relationship = schema.relationships[number]
            let placeCount = relationship.parameterCount
            if let column = columns[relationship.relationship.name] {
                cells.append(
                    PlainColumns.Cell(content: .link(column, relationship), place: place))
            } else {
                if relationship.isRequired { missing(relationship) }
                for offset in 0..<placeCount { try statement.bind(.null, at: place + offset) }
            }
            place += placeCount
        }
        let uniques = entity.constraints.compactMap { constraint in
            constraint.aside.map { number in
                let attribute = entity.attributes[number]
                return (constraint, columns[attribute.attribute.name], attribute)
            }
        }
        return PlainColumns(
            statement: statement, cells: cells, uniques: uniques,
            combinations: entity.constraints.indices.filter {
                entity.constraints[$0].aside == nil
            })
    }

    func insert(_ columns: PlainColumns, rowCount: Int) throws(SQLiteError) {
        // The columns' memory goes with them.
        defer { columns.statement.clearBindings() }
        let first = lastKeys[entity.rootNumber]
        guard !first.addingReportingOverflow(Int64(rowCount)).overflow else {
            return run.fault(
                LarderError(.storageFull, "\(entity.entity.name) has no keys left"))
        }
        for offset in 0..<rowCount where !run.faults.isFull {
            run.change = row + offset
            let key = first + Int64(offset) + 1
            try columns.statement.bind(integer: key, at: 1)
            var isSound = true
            for cell in columns.cells {
                isSound = try bind(cell, offset, columns.statement) && isSound
            }
            guard isSound else { continue }
            try store(columns, offset, ObjectKey(entity: entity.number, key: key))
        }
        run.change = nil
        row += rowCount
        lastKeys[entity.rootNumber] = first + Int64(rowCount)
        noteInserted(first + 1...first + Int64(rowCount))
        if !run.suspects.isEmpty { try run.checkUniqueness() }
    }

    private func store(
        _ columns: PlainColumns, _ offset: Int, _ object: ObjectKey
    ) throws(SQLiteError) {
        do throws(SQLiteError) {
            defer { columns.statement.reset() }
            while try columns.statement.step() {}
        } catch {
            guard error.isOfUniqueness,
                let fault = try uniquenessError(columns, offset)
            else { throw error }
            return run.fault(fault)
        }
        if !columns.combinations.isEmpty {
            try run.noteUnique(object, in: columns.combinations)
        }
    }

    /// - Returns: Whether the value can be stored; if not, there is a fault.
    private func bind(
        _ cell: PlainColumns.Cell, _ offset: Int, _ statement: Statement
    ) throws(SQLiteError) -> Bool {
        switch cell.content {
        case .lent(let column): try statement.bind(column, row: offset, at: cell.place)
        case .checked(let column, let attribute):
            guard let value = stored(column, offset, attribute) else { return false }
            try statement.bind(value, at: cell.place)
        case .link(let column, let relationship):
            return try bind(column, offset, relationship, statement, at: cell.place)
        }
        return true
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
    private func storedDefault(_ attribute: StoredAttribute) -> SQLBinding {
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

    private func missing(_ relationship: StoredRelationship) {
        if run.change == nil { run.change = row }
        run.fault(
            LarderError(
                relationship.fault(
                    .missingValue, "\(relationship.qualifiedName) is required", .optional)))
    }

    /// The fault of a row that an index of SQLite's has refused.
    private func uniquenessError(
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
    fileprivate var parameterCount: Int {
        guard case .own(let column) = storage else { return 0 }
        return column.positionColumn == nil ? 1 : 2
    }
}

extension StoredEntity {
    /// Whether the end of a change set has nothing to look at for an insert that sets attributes
    /// and to-one relationships of its own row: nothing of it is derived, and no relationship that
    /// others store is required.
    fileprivate func isInsertedPlainly(_ schema: WritingSchema) -> Bool {
        guard !attributes.contains(where: \.attribute.isDerived) else { return false }
        return relationshipNumbers.allSatisfy { number in
            let relationship = schema.relationships[number]
            return insertedToOnes.contains(number) || relationship.relationship.isOptional
        }
    }
}
