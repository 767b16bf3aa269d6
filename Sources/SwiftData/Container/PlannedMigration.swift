internal import LarderClient
internal import LarderModel
internal import LarderObjects

/// The stages of a migration plan as those of the store, which performs all of them or none.
enum PlannedMigration {
    /// - Throws: ``SwiftDataError/unknownSchema`` for a stage with a version that the plan does not
    ///   list, ``SwiftDataError/backwardMigration`` for one that leads back to a version from which
    ///   the plan has come. A plan may lead to an earlier version.
    static func check(_ plan: any SchemaMigrationPlan.Type) throws {
        let listed = plan.schemas.map { ObjectIdentifier($0) }
        var passed: Set<ObjectIdentifier> = []
        for stage in plan.stages {
            let (from, to) = stage.versions
            for version in [from, to] where !listed.contains(ObjectIdentifier(version)) {
                throw SwiftDataError.unknownSchema.explained(
                    "a stage of \(plan) has \(version), which is not one of the plan's schemas")
            }
            passed.insert(ObjectIdentifier(from))
            guard !passed.contains(ObjectIdentifier(to)) else {
                throw SwiftDataError.backwardMigration.explained(
                    "a stage of \(plan) leads from version \(from.versionIdentifier) to "
                        + "\(to.versionIdentifier), with which the plan has begun; use one plan "
                        + "for each direction")
            }
        }
    }

    /// - Returns: nil for a plan without stages.
    static func stages(of plan: any SchemaMigrationPlan.Type) throws -> StagedMigration? {
        let stages = try plan.stages.flatMap(stages)
        return stages.isEmpty ? nil : try StagedMigration(stages)
    }

    private static func stages(
        of stage: MigrationStage
    ) throws -> [LarderClient.MigrationStage] {
        let before = Schema(versionedSchema: stage.versions.from)
        let after = Schema(versionedSchema: stage.versions.to)
        var willMigrate: LarderClient.MigrationStage.Action?
        var didMigrate: LarderClient.MigrationStage.Action?
        if case .custom(_, _, let first, let last) = stage {
            willMigrate = try first.map { try action($0, before) }
            didMigrate = try last.map { try action($0, after) }
        }
        // Whether there are objects is known when the stage is performed.
        return try after.computedDefaults.stages(
            from: before.larderSchema(), to: after.larderSchema(), isEmpty: { _ in true },
            willMigrate: willMigrate, didMigrate: didMigrate)
    }

    /// The code of a stage with a context on the store as it is at that moment.
    private static func action(
        _ body: @escaping @Sendable (ModelContext) throws -> Void, _ schema: Schema
    ) throws -> LarderClient.MigrationStage.Action {
        let stored = try schema.larderSchema()
        return { client in
            let store = try ClientStore(client, schema: stored)
            try body(ModelContext(try ContainerCore(schema, store)))
        }
    }
}

extension MigrationStage {
    fileprivate var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
        switch self {
        case .lightweight(let from, let to), .custom(let from, let to, _, _): (from, to)
        }
    }
}
