import LarderModel

// What the history will say of the set: noted where it happens, written when the set is done.
extension ChangeSetRun {
    func noteChange(_ object: ObjectKey, _ relationship: StoredRelationship) {
        changes.update(object, .relationship(relationship.number))
    }

    /// Notes those attributes whose values differ from what the row holds.
    func noteChanges(
        _ values: [(attribute: Int, value: SQLBinding)], of object: ObjectKey
    ) throws(SQLiteError) {
        guard !isInserted(object) else { return }
        let entity = schema.entities[object.entity]
        let statement = try statements.statement(entity.read(values.map(\.attribute)))
        defer { statement.reset() }
        try statement.bind(.integer(object.key), at: 1)
        guard try statement.step() else { return }
        for (column, (attribute, value)) in values.enumerated()
        where statement.value(at: column) != value {
            changes.update(object, .attribute(attribute))
        }
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
    func writeHistory(_ changeSet: ReceivedChangeSet, time: Double) throws(SQLiteError) -> Bool {
        try forgetMissing()
        let runs = changes.runs
        guard let first = runs.first else { return false }
        let source = changeSet.source
        let (author, client) = (changeSet.changeSet.author, source.clientName)
        try statements.statement(Layout.insertTransaction).run(
            [
                .integer(transaction), .real(time), author.isEmpty ? .null : .text(author),
                client.isEmpty ? .null : .text(client),
                source.userIdentifier.map { .integer(Int64($0)) } ?? .null,
                source.processIdentifier.map { .integer(Int64($0)) } ?? .null,
            ] + bindings(first))
        for (place, run) in runs.enumerated().dropFirst() {
            try checkTime()
            try statements.statement(Layout.insertChange).run(
                [.integer(transaction), .integer(Int64(place))] + bindings(run))
        }
        return true
    }

    private func bindings(_ run: ChangeRun) -> [SQLBinding] {
        [
            .integer(run.kind.rawValue), .text(schema.entities[run.entity].entity.name),
            .integer(run.first), .integer(run.last),
            run.kind == .updated ? .text(names(run)) : .null,
        ]
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
        for relationship in schema.relationships
        where relationship.relationship.deleteRule == .noAction {
            let entity = relationship.entityNumber
            for key in changes.keys(changedIn: .relationship(relationship.number), of: entity) {
                let object = ObjectKey(entity: entity, key: key)
                if try version(of: object) == nil { changes.forget(object) }
            }
        }
    }
}
