import Glibc
import LarderModel
import LarderPrograms
import LarderQuery
import LarderServer

extension DaemonCommand {
    /// The permissions of the socket: the owner's alone, unless options say otherwise.
    var socketMode: UInt32 { mode ?? (group == nil ? 0o600 : 0o660) }

    /// The group of the socket; nil for that of the process.
    ///
    /// - Throws: ``UsageError`` for an unknown group.
    func socketGroup() throws -> UInt32? {
        try group.map { try Self.groupNumber($0, option: "--group") }
    }

    /// Who may migrate the store. The store must exist.
    ///
    /// - Throws: ``UsageError`` for an unknown group.
    func migrationRights() throws -> MigrationRights {
        MigrationRights(
            owner: store.flatMap(Self.owner),
            group: try migrationGroup.map {
                try Self.groupNumber($0, option: "--migration-group")
            })
    }

    /// The policy of the store; nil without one.
    func readPolicy(for schema: Schema) throws(LarderError) -> Policy? {
        guard let policy else { return nil }
        return try PolicyDocument.read(InputFile(policy), for: schema)
    }

    private static func owner(ofFile path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    private static func groupNumber(_ name: String, option: String) throws -> UInt32 {
        // The number with all bits set means no group.
        if let number = UInt32(name), number != .max { return number }
        guard let number = UserDatabase.group(named: name) else {
            throw UsageError(message: "\(option): there is no group \(name)")
        }
        return number
    }
}
