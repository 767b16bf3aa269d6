import LarderModel
import LarderWire

// The messages of migrations.
extension Samples {
    static let migrationRequests: [(name: String, request: Request)] = [
        ("migrate", .migrate(schema: #"{"version":"2.0.0"}"#, dryRun: false)),
        ("migrateDryRun", .migrate(schema: "{}", dryRun: true)),
    ]

    static let migrationReplies: [(name: String, reply: Reply)] = [
        (
            "migrated",
            .migrated(
                MigrationSummary(
                    changes: [SchemaChange("Article.title: renamed from headline")],
                    steps: [
                        MigrationSummary.Step("creates the table of Tag", rowCount: 0),
                        MigrationSummary.Step(
                            "rewrites the table of Article", rowCount: 5_000_000_000,
                            isRewriting: true),
                    ], isAdditive: false, byteCount: 1 << 40))
        ),
        (
            "migratedAlready",
            .migrated(
                MigrationSummary(changes: [], steps: [], isAdditive: true, byteCount: 0))
        ),
    ]
}
