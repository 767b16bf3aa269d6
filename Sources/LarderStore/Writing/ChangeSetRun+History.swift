import LarderModel

// What the history will say of the set: noted where it happens, written when the set is done.
extension ChangeSetRun {
    func noteChange(_ object: ObjectKey, _ relationship: StoredRelationship) {
        changes.update(object, .relationship(relationship.number))
    }

    /// Notes those attributes whose values differ from what the row holds.
    ///
    /// - Returns: The version of the row; nil if there is none.
    func noteChanges(
        _ values: [(attribute: Int, value: SQLBinding)], of object: ObjectKey
    ) throws(SQLiteError) -> Int64? {
        let entity = schema.entities[object.entity]
        guard !values.isEmpty else { return try version(of: object) }
        let statement = try statements.statement(entity.rows[values.map(\.attribute)].read)
        defer { statement.reset() }
        try statement.bind(integer: object.key, at: 1)
        guard try statement.step() else { return nil }
        if !isInserted(object) {
            for (column, (attribute, value)) in values.enumerated()
            where !statement.holds(value, at: column) {
                changes.update(object, .attribute(attribute))
            }
        }
        return statement.int64(at: values.count)
    }

    /// Copies the attributes that outlive their object, before its row goes.
    func preserveValues(of object: ObjectKey) throws(SQLiteError) {
        guard !isInserted(object) else { return }
        let entity = schema.entities[object.entity]
        for (attribute, text) in entity.preserving {
            let constraint = entity.constraints.firstIndex { $0.aside == attribute }
            let waiting = constraint.flatMap { aside[Twin(object: object, constraint: $0)]?.value }
            try statements.statement(text).run([
                .integer(transaction), .integer(object.key), waiting ?? .null,
            ])
        }
    }

    /// Writes the set into the history; false if it changed nothing.
    func writeHistory(
        _ changeSet: ReceivedChangeSet, _ statement: TransactionStatement
    ) throws(SQLiteError) -> Bool {
        try forgetMissing()
        let runs = changes.runs
        guard let first = runs.first else { return false }
        try writeTransaction(
            first, changeSet.source, author: changeSet.changeSet.author, statement)
        let several = (runs.count - 1) / Layout.changesAtOnce * Layout.changesAtOnce
        try writeChanges(
            runs, 1..<1 + several, Layout.insertSeveralChanges, atOnce: Layout.changesAtOnce)
        try writeChanges(runs, 1 + several..<runs.count, Layout.insertChange, atOnce: 1)
        return true
    }

    /// - Parameter count: How many runs the statement takes.
    private func writeChanges(
        _ runs: [ChangeRun], _ places: Range<Int>, _ text: SQLText, atOnce count: Int
    ) throws(SQLiteError) {
        guard !places.isEmpty else { return }
        let statement = try statements.statement(text)
        try statement.bind(integer: transaction, at: 1)
        for start in stride(from: places.lowerBound, to: places.upperBound, by: count) {
            try checkTime()
            for place in start..<start + count {
                let last = start == places.lowerBound ? nil : runs[place - count]
                let parameter = 2 + (place - start) * Layout.changeParameterCount
                try statement.bind(integer: Int64(place), at: parameter)
                try bind(runs[place], after: last, to: statement, from: parameter + 1)
            }
            try statement.run()
        }
    }

    private func writeTransaction(
        _ first: ChangeRun, _ source: ChangeSource, author: String,
        _ transactions: TransactionStatement
    ) throws(SQLiteError) {
        let statement = transactions.statement
        let isKnown = transactions.isKnown
        transactions.isKnown = false
        try statement.bind(integer: transaction, at: 1)
        try statement.bind(.real(time), at: 2)
        if !isKnown || transactions.author != author {
            try statement.bind(author.isEmpty ? .null : .text(author), at: 3)
            transactions.author = author
        }
        if !isKnown || transactions.source != source {
            try bind(source, to: statement)
            transactions.source = source
        }
        try bind(first, after: isKnown ? transactions.run : nil, to: statement, from: 7)
        transactions.run = first
        try statement.run()
        transactions.isKnown = true
    }

    private func bind(_ source: ChangeSource, to statement: Statement) throws(SQLiteError) {
        let client = source.clientName
        try statement.bind(client.isEmpty ? .null : .text(client), at: 4)
        try statement.bind(
            source.userIdentifier.map { .integer(Int64($0)) } ?? .null, at: 5)
        try statement.bind(
            source.processIdentifier.map { .integer(Int64($0)) } ?? .null, at: 6)
    }

    /// Binds a run: kind, entity, first key, last key, properties. What it has in common with the
    /// run that stood there before stays bound.
    private func bind(
        _ run: ChangeRun, after last: ChangeRun?, to statement: Statement, from place: Int
    ) throws(SQLiteError) {
        try statement.bind(integer: run.kind.rawValue, at: place)
        if run.entity != last?.entity {
            try statement.bind(.text(schema.entities[run.entity].name), at: place + 1)
        }
        try statement.bind(integer: run.first, at: place + 2)
        try statement.bind(integer: run.last, at: place + 3)
        guard run.kind != last?.kind || run.entity != last?.entity || run.places != last?.places
        else { return }
        try statement.bind(run.kind == .updated ? .text(names(run)) : .null, at: place + 4)
    }

    /// The names of a run's properties, in order and separated by commas, which no name holds.
    private func names(_ run: ChangeRun) -> String {
        run.places.map { place in
            switch place {
            case .attribute(let number):
                schema.entities[run.entity].attributes[number].attribute.name
            case .relationship(let number): schema.relationships[number].relationship.name
            }
        }.sorted().joined(separator: ",")
    }

    /// A key that the rule `noAction` left behind leads to an object that is not there, and does
    /// not change when the key goes.
    private func forgetMissing() throws(SQLiteError) {
        for number in schema.noActionNumbers {
            let entity = schema.relationships[number].entityNumber
            for key in changes.keys(changedIn: .relationship(number), of: entity) {
                let object = ObjectKey(entity: entity, key: key)
                if try version(of: object) == nil { changes.forget(object) }
            }
        }
    }
}

/// The statement that writes a transaction's row, and what it has bound: what one has in common
/// with the one before stays bound.
final class TransactionStatement {
    let statement: Statement
    /// Whether what is bound is what stands here.
    var isKnown = false
    var source = ChangeSource()
    var author = ""
    var run: ChangeRun?

    init(_ connection: Connection) throws(SQLiteError) {
        statement = try connection.prepare(Layout.insertTransaction, persistent: true)
    }
}
