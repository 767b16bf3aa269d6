public import LarderModel

/// The stages by which stores of earlier schemas get the newest one, in their order.
///
/// A store begins with the stage whose first schema it has, and performs all stages from there on.
/// They take effect together, or not at all. A stage may lead to an earlier version.
public struct StagedMigration: Sendable {
    public let stages: [MigrationStage]

    /// - Throws: `migrationRefused` with every reason if there is no stage, if a stage does not
    ///   begin with the schema with which the one before it ends, leads back to a schema of an
    ///   earlier stage, or has a schema that cannot be inferred from the one before.
    public init(_ stages: [MigrationStage]) throws(LarderError) {
        self.stages = stages
        let problems = Self.problems(of: stages)
        guard problems.isEmpty else {
            throw LarderError(
                .migrationRefused, "the stages do not lead from one schema to the next",
                hint: "each stage begins with the schema with which the one before it ends",
                problems: problems)
        }
    }

    private static func problems(of stages: [MigrationStage]) -> [String] {
        guard let first = stages.first else { return ["there is no stage"] }
        var problems: [String] = []
        var passed = [(schema: first.from, place: "stages[0] begins")]
        for (index, stage) in stages.enumerated() {
            let place = "stages[\(index)]"
            if index > 0, stage.from.fingerprint != stages[index - 1].to.fingerprint {
                problems.append(
                    "\(place) begins with \(title(stage.from)), and stages[\(index - 1)] ends "
                        + "with \(title(stages[index - 1].to))")
            }
            if let earlier = passed.first(where: { $0.schema.fingerprint == stage.to.fingerprint })
            {
                problems.append(
                    "\(place) leads back to \(title(stage.to)), with which \(earlier.place)")
            }
            passed.append((stage.to, "\(place) ends"))
            problems += SchemaMapping(
                from: stage.from, to: stage.to, permitsEarlierVersion: true
            ).problems.map { "\(place): \($0.description)" }
        }
        return problems
    }

    /// The stages that a store with this schema has not performed.
    ///
    /// - Throws: `migrationRefused` if no stage begins or ends with the schema.
    public func remaining(from schema: Schema) throws(LarderError) -> [MigrationStage] {
        if stages.last?.to.fingerprint == schema.fingerprint { return [] }
        let next = stages.firstIndex { $0.from.fingerprint == schema.fingerprint }
        guard let next else {
            throw LarderError(
                .migrationRefused,
                "no stage begins with the schema of the store, which is \(Self.title(schema))",
                hint: "add a stage from this schema; `larder schema show --output json` prints it",
                problems: stages.enumerated().map { index, stage in
                    "stages[\(index)] begins with \(Self.title(stage.from))"
                })
        }
        return Array(stages[next...])
    }

    private static func title(_ schema: Schema) -> String {
        "schema version \(schema.version) (\(schema.fingerprint))"
    }
}
