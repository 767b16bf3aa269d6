import LarderModel
import LarderSQL

// Binds the columns of a batch to the parameters of a statement.
extension InsertionRun {
    /// Binds the values of some rows, row by row.
    ///
    /// - Returns: False if a row is invalid; its errors are added.
    func bind(
        _ columns: DirectColumns, _ rows: Range<Int>, _ first: Int64, _ statement: Statement
    ) throws(SQLError) -> Bool {
        let stride = entity.insertion.parameterCount
        var isValid = true
        for (number, offset) in rows.enumerated() {
            try statement.bind(integer: first + Int64(offset) + 1, at: 1 + number * stride)
        }
        for cell in columns.cells {
            switch cell.content {
            case .valid(let column):
                try statement.bind(column, rows, at: cell.parameter, stride: stride)
            case .unchecked(let column, let attribute):
                for (number, offset) in rows.enumerated() {
                    context.changeIndex = row + offset
                    guard let value = stored(column, offset, attribute) else {
                        isValid = false
                        continue
                    }
                    try statement.bind(value, at: cell.parameter + number * stride)
                }
            case .link(let column, let relationship):
                for (number, offset) in rows.enumerated() {
                    context.changeIndex = row + offset
                    let parameter = cell.parameter + number * stride
                    let isLinked = try bind(
                        column, offset, relationship, statement, at: parameter)
                    isValid = isLinked && isValid
                }
            }
        }
        context.changeIndex = row + rows.lowerBound
        return isValid
    }

    /// The stored form of a value. nil adds an error.
    func stored(
        _ column: Column, _ offset: Int, _ attribute: StoredAttribute
    ) -> SQLValue? {
        do throws(LarderError) {
            return try values.stored(column.value(at: offset, store: context.store), attribute)
        } catch {
            context.add(error)
            return nil
        }
    }

    /// The value of an attribute without a column.
    func storedDefault(_ attribute: StoredAttribute) -> SQLValue {
        do throws(LarderError) {
            return try values.storedDefault(attribute)
        } catch {
            context.changeIndex = row
            context.add(error)
            return .null
        }
    }

    private func bind(
        _ column: Column, _ offset: Int, _ relationship: StoredRelationship,
        _ statement: Statement, at parameter: Int
    ) throws(SQLError) -> Bool {
        guard case .integers(let keys) = column.storage else { return false }
        guard !column.isNull(at: offset) else {
            for number in 0..<relationship.parameterCount {
                try statement.bind(.null, at: parameter + number)
            }
            if relationship.isRequired { addMissing(relationship) }
            return !relationship.isRequired
        }
        let key = keys[offset]
        if relationship.parameterCount == 1,
            knownKeys[relationship.number]?.contains(key) == true
        {
            try statement.bind(integer: key, at: parameter)
            return true
        }
        let errorCount = context.errors.count
        let target = Assignment.Target(
            object: ObjectKey(entity: entityNumber(column, offset, relationship), key: key),
            insertedBy: nil)
        for (number, value) in try run.links.columnValues(relationship, target).enumerated() {
            try statement.bind(value, at: parameter + number)
        }
        guard context.errors.count == errorCount else { return false }
        remember(key, of: relationship)
        return true
    }

    /// The entity that a column names for the destination of a row.
    private func entityNumber(
        _ column: Column, _ offset: Int, _ relationship: StoredRelationship
    ) -> Int {
        guard case .object(let name) = column.kind else { return relationship.destinationNumber }
        let own = column.subentities.entityName(at: offset, among: name)
        return context.schema.number(of: own) ?? relationship.destinationNumber
    }

    /// Remembers a destination that exists, so that it is not read again.
    private func remember(_ key: Int64, of relationship: StoredRelationship) {
        let schema = context.schema
        // A key may be given a second time with the name of another entity of the table.
        if schema.entities[relationship.destinationNumber].sharesTable { return }
        // A list with bounds records each row, so that an error names the last one.
        if let inverse = relationship.inverseNumber, schema.relationships[inverse].hasCountBounds {
            return
        }
        if knownKeys[relationship.number]?.count ?? 0 >= Self.knownKeysMax {
            knownKeys[relationship.number] = []
        }
        knownKeys[relationship.number, default: []].insert(key)
    }

    /// Adds the error of a required to-one that is nil.
    func addMissing(_ relationship: StoredRelationship) {
        if context.changeIndex == nil { context.changeIndex = row }
        context.add(
            LarderError(
                relationship.violation(
                    .missingValue, "\(relationship.qualifiedName) is required", .optional)))
    }
}
