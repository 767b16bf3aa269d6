import Glibc
import LarderModel
import LarderPrograms
import LarderServer

extension DaemonCommand {
    /// Who may migrate the store. The store must exist.
    ///
    /// - Throws: ``UsageError`` for an unknown group.
    func migrationRights() throws -> MigrationRights {
        MigrationRights(
            owner: store.flatMap(Self.owner), group: try migrationGroup.map(Self.groupNumber))
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

    private static func groupNumber(_ name: String) throws -> UInt32 {
        // The number with all bits set means no group.
        if let number = UInt32(name), number != .max { return number }
        guard let number = UserDatabase.group(named: name) else {
            throw UsageError(message: "--migration-group: there is no group \(name)")
        }
        return number
    }
}
