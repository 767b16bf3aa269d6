import LarderModel
import LarderWire

// The messages of migrations.
extension Samples {
    static let migrationRequests: [(name: String, request: Request)] = [
        ("migrate", .migrate(.migrate(to: #"{"version":"2.0.0"}"#))),
        ("migratePlan", .migrate(.plan(to: "{}"))),
        ("migrateBegin", .migrate(.begin)),
        ("migrateCommit", .migrate(.commit)),
        (
            "helloOfMigration",
            .hello(Hello(clientName: "test", migrationSession: "1x2y3z"))
        ),
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
            "migrationProgress",
            .migrationProgress("rewrites the table of Article")
        ),
        (
            "migrationBegun",
            .migrationBegun(session: "1x2y3z")
        ),
        (
            "migratedAlready",
            .migrated(
                MigrationSummary(changes: [], steps: [], isAdditive: true, byteCount: 0))
        ),
    ]
}
