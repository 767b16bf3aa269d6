import Glibc
import LarderModel
import LarderQuery
import Synchronization

/// The policy of a server, which may be replaced while it runs.
package final class AccessPolicy: Sendable {
    private struct State {
        var policy: Policy?
        /// Counts the policies, so that what was resolved for another one is not used.
        var generation = 0
    }

    private let state: Mutex<State>

    /// - Parameter policy: nil for a server without one: everybody who connects may do everything,
    ///   at sockets without a role.
    package init(_ policy: Policy? = nil) { state = Mutex(State(policy: policy)) }

    func replace(by policy: Policy?) {
        state.withLock { state in
            state.policy = policy
            state.generation += 1
        }
    }

    /// Whether connections at a socket have limits.
    ///
    /// - Parameter socketRole: The role of everybody who connects at the socket; nil if it has
    ///   none.
    func applies(at socketRole: String?) -> Bool {
        socketRole != nil || state.withLock { $0.policy != nil }
    }

    /// The role of a user, and the number of the policy that has it.
    ///
    /// - Returns: nil for root, the user of this process and the owner of the store's file, unless
    ///   a role names one of them: they may do everything.
    /// - Throws: `permissionDenied` for a user without a role.
    func role(
        of principal: Principal, at socketRole: String?, owner: UInt32?
    ) throws(LarderError) -> (role: Role, generation: Int)? {
        let (policy, generation) = state.withLock { ($0.policy, $0.generation) }
        if let socketRole {
            guard let role = (policy ?? Policy()).role(named: socketRole) else {
                throw LarderError(
                    .permissionDenied, "the policy of the store has no role \(socketRole)",
                    hint: "add it to the policy, or start larderd with another one")
            }
            return (role, generation)
        }
        guard let policy else { return nil }
        let isPrivileged = [0, geteuid(), owner].contains(principal.userIdentifier)
        if let role = policy.role(of: principal, namedOnly: isPrivileged) {
            return (role, generation)
        }
        if isPrivileged { return nil }
        throw LarderError(
            .permissionDenied,
            "user \(principal.user) (\(principal.userIdentifier)) has no role in the policy of "
                + "this store",
            hint: "an administrator can add the user, or a group of the user, to a role")
    }
}

extension Principal {
    /// A user of this system. The look-up may block.
    package init(user: UInt32, program: String? = nil) {
        let groups = UserDatabase.groups(of: user)
        self.init(
            user: UserDatabase.name(of: user) ?? String(user), userIdentifier: user,
            groups: groups.compactMap(UserDatabase.name(ofGroup:)), groupIdentifiers: groups,
            program: program)
    }

    /// The user at the other end of a connection. The look-up may block.
    init(_ credentials: PeerCredentials) {
        self.init(
            user: credentials.userIdentifier,
            program: Self.program(of: credentials.processIdentifier))
        let group = credentials.groupIdentifier
        guard !groupIdentifiers.contains(group) else { return }
        groupIdentifiers.append(group)
        if let name = UserDatabase.name(ofGroup: group) { groups.append(name) }
    }

    private static let pathBytesMax = 4_096

    /// The path of the program of a process; nil if this process may not read it.
    private static func program(of process: Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: pathBytesMax)
        let count = readlink("/proc/\(process)/exe", &buffer, pathBytesMax)
        guard count > 0, count < pathBytesMax else { return nil }
        return String(validating: buffer.prefix(count), as: UTF8.self)
    }
}
