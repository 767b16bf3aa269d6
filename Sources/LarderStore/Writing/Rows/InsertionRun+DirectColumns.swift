import LarderModel
import LarderSQL

// No row of a stream can correct another one. So errors that a change set finds at its end are
// found at once here, and nothing is recorded for the end.
extension InsertionRun {
    /// The columns, if one statement inserts each row; nil if the batch has to be inserted as
    /// change sets.
    func directColumns(_ batch: Batch) throws(SQLError) -> DirectColumns? {
        let schema = context.schema
        guard insertion.onUniqueConflict == .error, context.rights == nil,
            entity.isInsertedDirectly(schema),
            batch.columns.allSatisfy({ column in
                switch entity.properties[column.name] {
                case .attribute: true
                case .relationship(let number): entity.insertedToOnes.contains(number)
                case nil: false
                }
            })
        else { return nil }
        let columns = Dictionary(
            batch.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let uniques = entity.constraints.compactMap { constraint in
            constraint.uniqueAttribute.map { number in
                let attribute = entity.attributes[number]
                return (constraint, columns[attribute.attribute.name], attribute)
            }
        }
        var direct = DirectColumns(
            uniques: uniques,
            combinations: entity.constraints.indices.filter {
                entity.constraints[$0].uniqueAttribute == nil
            })
        addParameters(columns, to: &direct)
        return direct
    }

    private func addParameters(_ columns: [String: Column], to direct: inout DirectColumns) {
        // The first parameter of a row is its key.
        var parameter = 2
        for attribute in entity.attributes {
            if let column = columns[attribute.attribute.name] {
                direct.append(
                    attribute.validColumn(column).map { .valid($0) }
                        ?? .unchecked(column, attribute),
                    at: parameter)
            } else {
                direct.append(storedDefault(attribute), at: parameter)
            }
            parameter += 1
        }
        for number in entity.insertedToOnes {
            let relationship = context.schema.relationships[number]
            if let column = columns[relationship.relationship.name] {
                direct.append(.link(column, relationship), at: parameter)
            } else {
                if relationship.isRequired { addMissing(relationship) }
                for offset in 0..<relationship.parameterCount {
                    direct.append(.null, at: parameter + offset)
                }
            }
            parameter += relationship.parameterCount
        }
    }

    func insert(_ columns: DirectColumns, rowCount: Int) throws(SQLError) {
        let first = lastKeys[entity.rootNumber]
        guard !first.addingReportingOverflow(Int64(rowCount)).overflow else {
            return context.add(
                LarderError(.storageFull, "\(entity.name) has no keys left"))
        }
        let one = try statements.statement(entity.insertion.one)
        let several = try statements.statement(entity.insertion.several)
        // The bound memory of the columns is valid only until this method returns.
        defer {
            one.clearBindings()
            several.clearBindings()
        }
        for (parameter, value) in columns.constants {
            try one.bind(value, at: parameter)
            for number in 0..<entity.insertion.rowsAtOnce {
                try several.bind(
                    value, at: parameter + number * entity.insertion.parameterCount)
            }
        }
        let atOnce = columns.isRowByRow ? 1 : entity.insertion.rowsAtOnce
        for start in stride(from: 0, to: rowCount, by: atOnce) where !context.errors.isFull {
            try context.checkBudget()
            var rows = start..<min(rowCount, start + atOnce)
            if rows.count == entity.insertion.rowsAtOnce {
                rows.removeFirst(try insert(columns, rows, first, several))
            }
            for row in rows where !context.errors.isFull {
                try insert(columns, row, first, one)
            }
        }
        context.changeIndex = nil
        row += rowCount
        lastKeys[entity.rootNumber] = first + Int64(rowCount)
        recordInserted(first + 1...first + Int64(rowCount))
        if run.checks.uniqueness.hasCandidates { try run.checks.uniqueness.check(context) }
    }

    /// Inserts several rows by one statement.
    ///
    /// - Returns: The number of rows that are inserted: those before a row that is invalid, or
    ///   none. No error is added.
    private func insert(
        _ columns: DirectColumns, _ rows: Range<Int>, _ first: Int64, _ statement: Statement
    ) throws(SQLError) -> Int {
        let errors = context.errors
        guard try bind(columns, rows, first, statement) else {
            context.restore(errors)
            return 0
        }
        do throws(SQLError) {
            try statement.run()
            return rows.count
        } catch {
            guard error.condition == .uniquenessViolated else { throw error }
            return Int(statements.connection.changes)
        }
    }

    private func insert(
        _ columns: DirectColumns, _ offset: Int, _ first: Int64, _ statement: Statement
    ) throws(SQLError) {
        guard try bind(columns, offset..<offset + 1, first, statement) else { return }
        do throws(SQLError) {
            try statement.run()
        } catch {
            guard error.condition == .uniquenessViolated,
                let violation = try uniquenessError(columns, offset)
            else { throw error }
            return context.add(violation)
        }
        if !columns.combinations.isEmpty {
            let object = ObjectKey(entity: entity.number, key: first + Int64(offset) + 1)
            try run.checks.uniqueness.record(object, in: columns.combinations, context)
        }
    }

    /// The error of a row that a UNIQUE index rejected.
    private func uniquenessError(
        _ columns: DirectColumns, _ offset: Int
    ) throws(SQLError) -> LarderError? {
        for (constraint, column, attribute) in columns.uniques {
            let value =
                column.map { stored($0, offset, attribute) ?? .null }
                ?? attribute.defaultValue ?? .null
            guard value != .null, let key = try context.key(constraint.match, [value])
            else { continue }
            let existing = try context.object(constraint.declarerNumber, key)
            return try UniquenessCheck.error(constraint, entity, existing, [value], context)
        }
        return nil
    }
}

extension StoredEntity {
    /// Whether an insert that sets attributes and to-ones of its own row leaves nothing to check at
    /// the end of a set: no attribute is derived, and no relationship that other rows store is
    /// required.
    fileprivate func isInsertedDirectly(_ schema: WritingSchema) -> Bool {
        guard !attributes.contains(where: \.attribute.isDerived) else { return false }
        return relationshipNumbers.allSatisfy { number in
            let relationship = schema.relationships[number]
            return insertedToOnes.contains(number) || relationship.relationship.isOptional
        }
    }
}
