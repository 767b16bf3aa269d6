import LarderModel
import LarderQuery
import Synchronization

/// The views of the users with limited rights of one store. Users of one role have views of their
/// own, because its rules contain their names.
final class LimitedViews: Sendable {
    private struct Key: Hashable {
        let role: String
        let generation: Int
        let principal: Principal
        /// The fingerprint of the former schema for which the client was built; empty for the
        /// current one.
        var former = ""
    }

    private struct Entry {
        weak var view: (any StoreView)?
    }

    private struct State {
        var views: [Key: Entry] = [:]
        /// By name.
        var roles: [String: RoleRights] = [:]
        var generation = 0
    }

    private let backend: any StoreBackend
    private let policy: AccessPolicy
    /// The owner of the store's file; nil if there is none.
    private let owner: UInt32?
    private let state = Mutex(State())

    init(_ backend: any StoreBackend, _ options: Server.Options) {
        self.backend = backend
        policy = options.policy
        owner = options.migrationRights.owner
    }

    func applies(at socketRole: String?) -> Bool { policy.applies(at: socketRole) }

    /// The view of a user. It may block.
    ///
    /// - Returns: nil if the user has no limits.
    /// - Throws: `permissionDenied`, or an error of a role that does not fit the schema.
    func view(
        for credentials: PeerCredentials, at socketRole: String?
    ) throws(LarderError) -> (any StoreView)? {
        let principal = Principal(credentials)
        guard
            let (role, generation) = try policy.role(of: principal, at: socketRole, owner: owner)
        else { return nil }
        let key = Key(role: role.name, generation: generation, principal: principal)
        if let view = state.withLock({ $0.views[key]?.view }) { return view }
        let resolved = try resolved(role, generation)
        let view = try backend.limitedView(Rights(resolved, of: principal))
        note(view, key)
        return view
    }

    /// The view of the user of another view, for a client that was built for a former schema.
    ///
    /// - Parameter former: The view of such clients without limits.
    /// - Throws: an error of a role that does not fit the former schema.
    func view(
        _ limited: any StoreView, for former: any StoreView
    ) throws(LarderError) -> any StoreView {
        guard let rights = limited.rights else { return former }
        let (schema, fingerprint) = (
            former.storeDescription.schema, former.storeDescription.fingerprint
        )
        var key = state.withLock { state in
            state.views.first { $0.value.view === limited }?.key
        }
        key?.former = fingerprint
        if let key, let view = state.withLock({ $0.views[key]?.view }) { return view }
        let resolved = try RoleRights(rights.role, in: rights.wholeSchema, knownTo: schema)
        let view = try backend.limitedView(Rights(resolved, of: rights.principal), for: former)
        if let key { note(view, key) }
        return view
    }

    private func note(_ view: any StoreView, _ key: Key) {
        state.withLock { state in
            state.views = state.views.filter { $0.value.view != nil }
            state.views[key] = Entry(view: view)
        }
    }

    private func resolved(_ role: Role, _ generation: Int) throws(LarderError) -> RoleRights {
        let known = state.withLock { state in
            if state.generation != generation {
                (state.generation, state.roles) = (generation, [:])
            }
            return state.roles[role.name]
        }
        if let known { return known }
        let resolved = try RoleRights(role, in: backend.storeDescription.schema)
        state.withLock { if $0.generation == generation { $0.roles[role.name] = resolved } }
        return resolved
    }
}
