import LarderModel

/// Who may do what with a store: roles, of which each connection has one.
///
/// A connection has the first role whose members it belongs to. What a role does not permit is
/// denied. `PolicyFile` reads a policy; ``RoleRights`` resolves a role against a schema.
package struct Policy: Hashable, Sendable {
    package var roles: [Role]

    package init(roles: [Role] = []) { self.roles = roles }

    /// The first role that has a user as a member; nil if there is none.
    ///
    /// - Parameter namedOnly: Whether only roles count that name the user or a group of the user.
    package func role(of principal: Principal, namedOnly: Bool = false) -> Role? {
        roles.first {
            $0.hasMember(principal) && !(namedOnly && $0.users.isEmpty && $0.groups.isEmpty)
        }
    }

    package func role(named name: String) -> Role? {
        roles.first { $0.name == name } ?? (name == Role.reader.name ? Role.reader : nil)
    }
}

/// The rights of some users.
package struct Role: Hashable, Sendable {
    /// The right to do something with the store as a whole.
    package enum StoreRight: String, Hashable, Sendable, CaseIterable {
        case migrate
        case backup
        /// To verify the store, to read its metrics, and to delete history.
        case admin
    }

    package var name: String
    /// Names or numbers of users and names or numbers of groups. Everybody, if both are empty.
    package var users: [String] = []
    package var groups: [String] = []
    /// Paths of the programs that members must run; any program if empty.
    package var programs: [String] = []
    package var rights: Set<StoreRight> = []
    /// By the name of the entity. An entity that is not named has the rights of its nearest
    /// ancestor that is, or those of ``everyEntity``.
    package var entities: [String: EntityRights] = [:]

    package init(name: String) { self.name = name }

    /// The key of the rights to all entities that are not named.
    package static let everyEntity = "*"

    /// The role of a socket `PATH:read`, without a policy that has a role of this name.
    package static let reader: Role = {
        var role = Role(name: "read")
        role.entities[everyEntity] = EntityRights(
            rules: [.read: .granted], watches: true, readsHistory: true)
        return role
    }()

    func hasMember(_ principal: Principal) -> Bool {
        guard programs.isEmpty || principal.program.map(programs.contains) ?? false else {
            return false
        }
        if users.isEmpty, groups.isEmpty { return true }
        let isUser = users.contains {
            $0 == principal.user || $0 == String(principal.userIdentifier)
        }
        return isUser
            || groups.contains { group in
                principal.groups.contains(group)
                    || principal.groupIdentifiers.contains { String($0) == group }
            }
    }
}

/// The rights of a role to the objects of one entity and its subentities.
package struct EntityRights: Hashable, Sendable {
    package enum Right: String, Hashable, Sendable, CaseIterable {
        case read
        case insert
        case update
        case delete
    }

    /// For which objects a right holds.
    package enum Rule: Hashable, Sendable {
        case denied
        case granted
        /// For those that match a predicate, a format string.
        case when(String)
    }

    /// Rights that are not named are denied.
    package var rules: [Right: Rule]
    /// Whether queries may be observed.
    package var watches: Bool
    /// Whether the history may be read and followed.
    package var readsHistory: Bool
    /// Properties that do not exist for the role.
    package var hidden: Set<String>
    /// Properties that the role may set in a new object, and not change.
    package var frozen: Set<String>

    package init(
        rules: [Right: Rule] = [:], watches: Bool = false, readsHistory: Bool = false,
        hidden: Set<String> = [], frozen: Set<String> = []
    ) {
        self.rules = rules
        self.watches = watches
        self.readsHistory = readsHistory
        self.hidden = hidden
        self.frozen = frozen
    }
}

/// The user at the other end of a connection.
package struct Principal: Hashable, Sendable {
    /// The name; the number as text if the system knows no name.
    package var user: String
    package var userIdentifier: UInt32
    package var groups: [String]
    package var groupIdentifiers: [UInt32]
    /// The path of the program; nil if the server may not read it.
    package var program: String?

    package init(
        user: String, userIdentifier: UInt32, groups: [String], groupIdentifiers: [UInt32],
        program: String? = nil
    ) {
        self.user = user
        self.userIdentifier = userIdentifier
        self.groups = groups
        self.groupIdentifiers = groupIdentifiers
        self.program = program
    }

    /// The names of the variables of rules.
    static let variableNames = ["user", "uid", "groups", "gids", "program"]

    /// The values of the variables `$user`, `$uid`, `$groups`, `$gids` and `$program`.
    var variables: [String: QueryExpression] {
        [
            "user": .constant(.string(user)),
            "uid": .constant(.int(Int64(userIdentifier))),
            "groups": .list(groups.map { .constant(.string($0)) }),
            "gids": .list(groupIdentifiers.map { .constant(.int(Int64($0))) }),
            "program": .constant(program.map { .string($0) } ?? .null),
        ]
    }

    /// A user with which rules are checked before there is one.
    static let sample = Principal(
        user: "user", userIdentifier: 1_000, groups: ["group"], groupIdentifiers: [1_000],
        program: "/usr/bin/program")
}
