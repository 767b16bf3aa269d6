import Glibc
import LarderModel

/// Who may migrate the store: root, the user of the server's process, the owner of the store's
/// file, and the members of a group if there is one.
package struct MigrationRights: Hashable, Sendable {
    /// The owner of the store's file; nil if there is none.
    package var owner: UInt32?
    /// The group whose members may; nil if there is none.
    package var group: UInt32?

    package init(owner: UInt32? = nil, group: UInt32? = nil) {
        self.owner = owner
        self.group = group
    }

    enum Decision: Hashable {
        case permitted
        case denied
        /// The user has to be looked up by ``isMember(_:)``.
        case dependsOnGroups
    }

    /// Decides without a look at the system's users, which may take long.
    func decision(for peer: PeerCredentials) -> Decision {
        if [0, geteuid(), owner].contains(peer.userIdentifier) { return .permitted }
        guard let group else { return .denied }
        return peer.groupIdentifier == group ? .permitted : .dependsOnGroups
    }

    /// Whether the user is a member of the group, by the system's database of users. It may block.
    func isMember(_ user: UInt32) -> Bool {
        guard let group else { return false }
        return UserDatabase.groups(of: user).contains(group)
    }

    /// - Parameter user: Who has sent the request.
    static func denial(to user: UInt32) -> LarderError {
        LarderError(
            .permissionDenied, "user \(user) may not migrate this store",
            hint: "migrate it as the owner of the store's file or as root, or start larderd with "
                + "--migration-group and a group of the user")
    }
}
