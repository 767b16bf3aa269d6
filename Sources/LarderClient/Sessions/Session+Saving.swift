import LarderModel
internal import LarderWire

/// Saves: a change set in one frame, or in parts if it is long.
extension Session {
    /// The time for a save in parts and all its repetitions. Within it, the server replies within
    /// the request timeout, if only to report that it is still storing.
    private static let partsTimeMax = Duration.seconds(3_600)

    /// Performs a write of a change set.
    func save<Output>(_ operation: Operation<Output>) throws(LarderError) -> Output {
        guard let changes = partedChanges(of: operation) else { return try perform(operation) }
        return try operation.output(from: .saved(try saveInParts(changes)), welcome)
    }

    func save<Output>(_ operation: Operation<Output>) async throws(LarderError) -> Output {
        guard let changes = partedChanges(of: operation) else {
            return try await perform(operation)
        }
        return try operation.output(from: .saved(try await saveInParts(changes)), welcome)
    }

    /// The change set of a write if it is saved in parts.
    private func partedChanges<Output>(of operation: Operation<Output>) -> ChangeSet? {
        guard case .save(let changes) = operation.request, changes.isSavedInParts, acceptsParts
        else { return nil }
        return changes
    }

    private func saveInParts(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        let (changes, timeout) = try prepared(changes)
        var attempt = partsAttempt(changes)
        var failed: Connection?
        while true {
            let connection = try connection(replacing: failed, for: attempt)
            var upload = try SaveUpload(changes, over: connection, timeout: Self.partsTimeMax)
            attempts: while true {
                try upload.sendParts()
                let outcome = connection.outcome(of: upload.requestID, until: .after(timeout))
                switch try upload.process(outcome, &attempt, timeout) {
                case .waits: continue
                case .saved(let result): return result
                case .isRepeated: break attempts
                }
            }
            failed = connection
        }
    }

    private func saveInParts(_ changes: ChangeSet) async throws(LarderError) -> SaveResult {
        let (changes, timeout) = try prepared(changes)
        var attempt = partsAttempt(changes)
        var failed: Connection?
        while true {
            let connection = try await connection(replacing: failed, for: attempt)
            var upload = try SaveUpload(changes, over: connection, timeout: Self.partsTimeMax)
            attempts: while true {
                try upload.sendParts()
                let outcome = await connection.outcome(
                    of: upload.requestID, until: .after(timeout))
                switch try upload.process(outcome, &attempt, timeout) {
                case .waits: continue
                case .saved(let result): return result
                case .isRepeated: break attempts
                }
            }
            failed = connection
        }
    }

    /// A server of an earlier version does not.
    private var acceptsParts: Bool { welcome.capabilities.contains(WireProtocol.savesInParts) }

    private func prepared(
        _ changes: ChangeSet
    ) throws(LarderError) -> (changes: ChangeSet, timeout: Duration) {
        if snapshot != nil { throw Self.snapshotIsReadOnly }
        // A server of an earlier version would make the changes.
        guard !changes.isDryRun || welcome.capabilities.contains(WireProtocol.dryRuns) else {
            throw LarderError(
                .unsupported, "the server cannot undo the changes of a dry run",
                hint: "use a newer larderd")
        }
        var changes = changes
        if changes.author.isEmpty { changes.author = options.author }
        return (changes, options.requestTimeout)
    }

    private func partsAttempt(_ changes: ChangeSet) -> Attempt {
        Attempt(
            isWrite: true, hasKey: !changes.idempotencyKey.isEmpty, timeout: Self.partsTimeMax,
            reconnectWait: reconnectWait, now: .now)
    }
}
