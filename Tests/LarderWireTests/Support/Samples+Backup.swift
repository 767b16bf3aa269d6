import LarderModel
import LarderWire

// The messages of backups.
extension Samples {
    static let backupRequests: [(name: String, request: Request)] = [
        ("backup", .backup(credit: 0)),
        ("backupWithCredit", .backup(credit: 4)),
    ]

    static let backupReplies: [(name: String, reply: Reply)] = [
        ("backupProgress", .backup(BackupPart(byteCount: 5_000_000_000), more: true)),
        (
            "backupPart",
            .backup(
                BackupPart(content: [0, 1, 0xFF, 0x80], byteCount: 20, transaction: 7), more: true)
        ),
        ("backupEnd", .backup(BackupPart(byteCount: .max, transaction: .max), more: false)),
    ]
}
