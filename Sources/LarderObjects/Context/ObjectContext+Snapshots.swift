internal import LarderModel

extension ObjectContext {
    /// Calls a closure in which every read of the context sees the state that each store has at
    /// this moment. Pending changes are shown as always. What others commit meanwhile is applied
    /// after the closure.
    ///
    /// - Throws: what the closure throws; errors of the stores. A save in the closure throws
    ///   `readOnly`.
    package func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        if isInSnapshot { return try body() }
        // The snapshot is not older than what the context has seen.
        applyCommitsOfOthers()
        return try withSnapshots(of: model.allStores[...], []) { snapshots in
            let current = model
            model = current.replacingStores(with: snapshots)
            isInSnapshot = true
            defer {
                model = current
                isInSnapshot = false
            }
            return try body()
        }
    }

    private func withSnapshots<Result>(
        of stores: ArraySlice<any ObjectStore>, _ snapshots: [any ObjectStore],
        _ body: ([any ObjectStore]) throws -> Result
    ) throws -> Result {
        guard let store = stores.first else { return try body(snapshots) }
        return try store.snapshot { snapshot in
            try withSnapshots(of: stores.dropFirst(), snapshots + [snapshot], body)
        }
    }
}
