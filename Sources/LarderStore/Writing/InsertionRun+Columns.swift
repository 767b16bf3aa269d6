import LarderModel

/// The columns of a batch as the places of statements that insert rows.
struct PlainColumns {
    final class Cell {
        enum Content {
            /// Good as it stands.
            case lent(LentColumn)
            /// To be looked at value by value.
            case checked(Column, StoredAttribute)
            /// The keys of a to-one's destinations.
            case link(Column, StoredRelationship)
        }

        let content: Content
        /// The first of its parameters, of those of a row.
        let place: Int

        init(_ content: Content, _ place: Int) {
            self.content = content
            self.place = place
        }
    }

    private(set) var cells: [Cell] = []
    /// What is the same in all rows, by its place.
    private(set) var constants: [(place: Int, value: SQLBinding)] = []
    /// The single unique attributes, each with its constraint and how a row's value is found.
    let uniques: [(constraint: StoredConstraint, column: Column?, attribute: StoredAttribute)]
    /// Constraints over several properties, which no index of SQLite's holds.
    let combinations: [Int]

    /// Whether something is asked of the store that rows before may have changed: the last place
    /// in a list, or who has a combination of values.
    var isRowByRow: Bool {
        !combinations.isEmpty
            || cells.contains { cell in
                if case .link(_, let relationship) = cell.content {
                    relationship.parameterCount > 1
                } else {
                    false
                }
            }
    }

    init(
        uniques: [(constraint: StoredConstraint, column: Column?, attribute: StoredAttribute)],
        combinations: [Int]
    ) {
        self.uniques = uniques
        self.combinations = combinations
    }

    mutating func append(_ content: Cell.Content, at place: Int) {
        cells.append(Cell(content, place))
    }

    mutating func append(_ constant: SQLBinding, at place: Int) {
        constants.append((place, constant))
    }
}

// Nobody takes back a value or a destination within a stream of plain inserts, so faults that a
// change set can only see at its end are seen at once, and nothing is noted for it.
extension InsertionRun {
    /// The columns, if each row is one row of a statement; nil if they have to go the ordinary way.
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
        let uniques = entity.constraints.compactMap { constraint in
            constraint.aside.map { number in
                let attribute = entity.attributes[number]
                return (constraint, columns[attribute.attribute.name], attribute)
            }
        }
        var plain = PlainColumns(
            uniques: uniques,
            combinations: entity.constraints.indices.filter {
                entity.constraints[$0].aside == nil
            })
        place(columns, in: &plain)
        return plain
    }

    /// The first parameter of a row is its key.
    private func place(_ columns: [String: Column], in plain: inout PlainColumns) {
        var place = 2
        for attribute in entity.attributes {
            if let column = columns[attribute.attribute.name] {
                plain.append(
                    attribute.lent(column).map { .lent($0) } ?? .checked(column, attribute),
                    at: place)
            } else {
                plain.append(storedDefault(attribute), at: place)
            }
            place += 1
        }
        for number in entity.insertedToOnes {
            let relationship = run.schema.relationships[number]
            if let column = columns[relationship.relationship.name] {
                plain.append(.link(column, relationship), at: place)
            } else {
                if relationship.isRequired { missing(relationship) }
                for offset in 0..<relationship.parameterCount {
                    plain.append(.null, at: place + offset)
                }
            }
            place += relationship.parameterCount
        }
    }

    func insert(_ columns: PlainColumns, rowCount: Int) throws(SQLiteError) {
        let first = lastKeys[entity.rootNumber]
        guard !first.addingReportingOverflow(Int64(rowCount)).overflow else {
            return run.fault(
                LarderError(.storageFull, "\(entity.name) has no keys left"))
        }
        let one = try run.statements.statement(entity.insertion.one)
        let several = try run.statements.statement(entity.insertion.several)
        // The columns' memory goes with them.
        defer {
            one.clearBindings()
            several.clearBindings()
        }
        for (place, value) in columns.constants {
            try one.bind(value, at: place)
            for number in 0..<entity.insertion.rowsAtOnce {
                try several.bind(value, at: place + number * entity.insertion.parameterCount)
            }
        }
        let atOnce = columns.isRowByRow ? 1 : entity.insertion.rowsAtOnce
        for start in stride(from: 0, to: rowCount, by: atOnce) where !run.faults.isFull {
            let rows = start..<min(rowCount, start + atOnce)
            if rows.count == entity.insertion.rowsAtOnce,
                try insert(columns, rows, first, several)
            {
                continue
            }
            for row in rows where !run.faults.isFull {
                try insert(columns, row, first, one)
            }
        }
        run.change = nil
        row += rowCount
        lastKeys[entity.rootNumber] = first + Int64(rowCount)
        noteInserted(first + 1...first + Int64(rowCount))
        if !run.suspects.isEmpty { try run.checkUniqueness() }
    }

    /// Inserts rows by one statement.
    ///
    /// - Returns: false, with nothing done and no fault, where one of them is at fault.
    private func insert(
        _ columns: PlainColumns, _ rows: Range<Int>, _ first: Int64, _ statement: Statement
    ) throws(SQLiteError) -> Bool {
        let faults = run.faults
        guard try bind(columns, rows, first, statement) else {
            run.faults = faults
            return false
        }
        do throws(SQLiteError) {
            try statement.run()
            return true
        } catch {
            guard error.isOfUniqueness else { throw error }
            return false
        }
    }

    private func insert(
        _ columns: PlainColumns, _ offset: Int, _ first: Int64, _ statement: Statement
    ) throws(SQLiteError) {
        guard try bind(columns, offset..<offset + 1, first, statement) else { return }
        do throws(SQLiteError) {
            try statement.run()
        } catch {
            guard error.isOfUniqueness, let fault = try uniquenessError(columns, offset)
            else { throw error }
            return run.fault(fault)
        }
        if !columns.combinations.isEmpty {
            let object = ObjectKey(entity: entity.number, key: first + Int64(offset) + 1)
            try run.noteUnique(object, in: columns.combinations)
        }
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
