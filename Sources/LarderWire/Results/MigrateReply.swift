internal import CLarderProto
internal import LarderModel

// The messages `MigrateReply` and `MigrationStep`.

extension Reply {
    init(migration wire: Larder__V1__MigrateReply) throws(LarderError) {
        let session = try wire.session.text("the migration session", bytesMax: Limits.nameBytesMax)
        let step = try wire.progress.text("the step of a migration")
        if !step.isEmpty {
            self = .migrationProgress(step)
        } else if !session.isEmpty {
            self = .migrationBegun(session: session)
        } else {
            self = .migrated(try MigrationSummary(wire))
        }
    }
}

extension MigrationSummary {
    private static let linesMax = 100_000

    init(_ wire: Larder__V1__MigrateReply) throws(LarderError) {
        let isAdditive = wire.additive != 0
        self.init(
            changes: try ProtobufReader.texts(
                wire.changes, wire.n_changes, "the changes of a migration",
                maximum: Self.linesMax
            ).map { SchemaChange($0, isAdditive: isAdditive) },
            steps: try ProtobufReader.list(
                wire.steps, wire.n_steps, "the steps of a migration", maximum: Self.linesMax,
                Step.init),
            isAdditive: isAdditive, byteCount: wire.byte_count)
    }
}

extension MigrationSummary.Step {
    init(_ wire: Larder__V1__MigrationStep) throws(LarderError) {
        self.init(
            try wire.description.text("the description of a step"), rowCount: wire.row_count,
            isRewriting: wire.rewriting != 0)
    }
}

extension ProtobufWriter {
    func migrationProgress(_ step: String) -> UnsafeMutablePointer<Larder__V1__MigrateReply> {
        let wire = make(larder__v1__migrate_reply__init)
        wire.pointee.progress = text(step)
        return wire
    }

    func migrationBegun(_ session: String) -> UnsafeMutablePointer<Larder__V1__MigrateReply> {
        let wire = make(larder__v1__migrate_reply__init)
        wire.pointee.session = text(session)
        return wire
    }

    func migration(
        _ summary: MigrationSummary
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__MigrateReply> {
        let wire = make(larder__v1__migrate_reply__init)
        wire.pointee.n_changes = summary.changes.count
        wire.pointee.changes = texts(summary.changes.map(\.description))
        wire.pointee.n_steps = summary.steps.count
        wire.pointee.steps = try list(summary.steps) { step in
            let item = make(larder__v1__migration_step__init)
            item.pointee.description = text(step.description)
            item.pointee.row_count = step.rowCount ?? 0
            item.pointee.rewriting = step.isRewriting ? 1 : 0
            return item
        }
        wire.pointee.additive = summary.isAdditive ? 1 : 0
        wire.pointee.byte_count = summary.byteCount ?? 0
        return wire
    }
}
