internal import Glibc
package import LarderClient
internal import LarderModel
package import LarderStore

/// How a store in a file is opened.
package struct StoreFileOptions: Sendable {
    /// The options of one store object; containers with equal ones share it.
    package struct Client: Hashable, Sendable {
        /// The name of the client in the history.
        package var name = ""
        /// Whether saves are rejected. Other containers may save.
        package var isReadOnly = false

        package init() {}
    }

    package var client = Client()
    /// The stages by which stores of earlier schemas are migrated; nil for what can be inferred.
    package var migration: StagedMigration?
    /// The default values for a migration without stages that the schema does not have.
    package var computedDefaults = ComputedDefaults()
    /// The permissions of the socket, if this process serves the file. Permissions for others than
    /// the user also mean that a file and a server of another user are accepted.
    package var socketMode: UInt32 = 0o600
    /// When a save is acknowledged, if this process serves the file.
    package var synchronous = StoreOptions.Synchronous.full
    /// How long calls wait for a process that serves the file.
    package var waitTimeMax = Duration.seconds(10)

    package init() {}

    /// Whether the store may belong to another user, and be used by others.
    var isShared: Bool { socketMode & 0o077 != 0 }

    /// Whether a server of this user is used. An administrator's is.
    var trusts: (UInt32) -> Bool {
        let isShared = isShared
        return { user in isShared || user == geteuid() || user == 0 }
    }
}
