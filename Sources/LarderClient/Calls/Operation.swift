import LarderModel
import LarderQuery
internal import LarderWire

/// One call with one reply: the request, whether it may be sent twice, and how to read its reply.
///
/// The blocking and the asynchronous form of a call share it.
struct Operation<Output: Sendable>: Exchange, Sendable {
    var request: Request
    var isWrite = false
    /// Reads the result from the reply; nil if the reply does not belong to this kind of request.
    var read: @Sendable (Reply, Welcome) throws(LarderError) -> Output?

    /// The request, with this author if its change set has none.
    func request(by author: String) -> Request {
        guard !author.isEmpty, case .save(var set) = request, set.author.isEmpty else {
            return request
        }
        set.author = author
        return .save(set)
    }

    /// The operation with an idempotency key for its change set. An empty key changes nothing.
    func keyed(_ key: String) -> Self {
        guard !key.isEmpty, case .save(var set) = request else { return self }
        set.idempotencyKey = key
        var operation = self
        operation.request = .save(set)
        return operation
    }

    /// Whether the change set has an idempotency key, so that it may be sent twice.
    var hasKey: Bool {
        if case .save(let set) = request { !set.idempotencyKey.isEmpty } else { false }
    }

    /// Whether the operation changes the store or its history.
    var isChange: Bool {
        if case .deleteHistory = request { true } else { isWrite }
    }

    var kind: RequestTracker.Kind { .call }

    mutating func restart() {}

    mutating func output(
        adding reply: Reply, to request: SentRequest
    ) throws(LarderError) -> Output? {
        try output(from: reply, request.connection.welcome)
    }

    /// - Throws: `malformedMessage` if the reply does not belong to this kind of request.
    func output(from reply: Reply, _ welcome: Welcome) throws(LarderError) -> Output {
        guard let output = try read(reply, welcome) else { throw .unexpectedReply }
        return output
    }
}

extension Operation where Output == PersistentIdentifier {
    static func insert(
        _ entityName: String, _ values: [String: Value], _ policy: UniqueConflictPolicy
    ) -> Self {
        let name = PersistentIdentifier(temporary: "new", entityName: entityName)
        let set = ChangeSet([.insert(name, values: values)], onUniqueConflict: policy)
        return Operation(save: set) { $0.inserted.first }
    }
}

extension Operation where Output == Int64 {
    static func update(
        _ identifier: PersistentIdentifier, _ values: [String: Value],
        _ edits: [RelationshipEdit], ifVersion: Int64?, base: [String: Value],
        _ policy: MergePolicy
    ) -> Self {
        let change = Change.update(
            identifier, ifVersion: ifVersion, values: values, base: base, edits: edits)
        return Operation(save: ChangeSet([change], mergePolicy: policy)) {
            $0.updatedVersions.first
        }
    }
}

extension Operation where Output == Void {
    static func delete(_ identifier: PersistentIdentifier, ifVersion: Int64?) -> Self {
        Operation(save: ChangeSet([.delete(identifier, ifVersion: ifVersion)])) { _ in () }
    }

    static var ping: Self {
        Operation(request: .ping) { reply, _ in
            if case .pong = reply { () } else { nil }
        }
    }
}

extension Operation where Output == SaveResult {
    static func save(_ changes: ChangeSet) -> Self {
        Operation(request: .save(changes), isWrite: true) { reply, _ in
            if case .saved(let result) = reply { result } else { nil }
        }
    }
}

extension Operation where Output == AffectedObjects {
    static func updateAll(
        _ selection: ObjectSelection, _ values: [String: Value],
        _ expressions: KeyValuePairs<String, String>
    ) -> Self {
        let assignments =
            expressions.map { PropertyAssignment($0.key, .format($0.value)) }
            + values.sorted { $0.key < $1.key }.map { PropertyAssignment($0.key, to: $0.value) }
        return Operation(save: ChangeSet([.updateAll(selection, set: assignments)])) {
            $0.affected.first
        }
    }

    static func deleteAll(_ selection: ObjectSelection) -> Self {
        Operation(save: ChangeSet([.deleteAll(selection)])) { $0.affected.first }
    }
}

extension Operation where Output == Record? {
    static func object(_ identifier: PersistentIdentifier) -> Self {
        let operation = Operation<[Record]>.objects([identifier], properties: nil)
        return Operation(request: operation.request) { reply, welcome throws(LarderError) in
            guard let records = try operation.read(reply, welcome) else { return nil }
            return .some(records.first)
        }
    }
}

extension Operation where Output == [Record] {
    static func objects(_ identifiers: [PersistentIdentifier], properties: [String]?) -> Self {
        Operation(request: .get(identifiers, properties: properties)) {
            reply, welcome throws(LarderError) in
            guard case .encodedBatches(let rows, more: false) = reply else { return nil }
            let records = try rows.records(store: welcome.storeIdentifier)
            // Usually all objects are found, and are in the requested order.
            if records.lazy.map(\.identifier).elementsEqual(identifiers) { return records }
            return ordered(records, as: identifiers)
        }
    }

    /// The records in the order of the identifiers. Objects that were requested with a former name
    /// of their entity have today's name.
    private static func ordered(
        _ records: [Record], as identifiers: [PersistentIdentifier]
    ) -> [Record] {
        var found: [PersistentIdentifier: Record] = [:]
        for record in records { found[record.identifier] = record }
        let requested = Set(identifiers)
        var others = records.filter { !requested.contains($0.identifier) }
        var ordered: [Record] = []
        for identifier in identifiers {
            if let record = found[identifier] {
                ordered.append(record)
                continue
            }
            let key = identifier.permanentKey
            guard let index = others.firstIndex(where: { $0.identifier.permanentKey == key })
            else { continue }
            ordered.append(others.remove(at: index))
        }
        return ordered
    }
}

extension Operation where Output == Explanation {
    static func explain(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> Self {
        let request = try QueryRequest(query, parameters)
        return Operation(request: .explain(request), read: explanation)
    }

    static func analyze(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> Self {
        let request = try QueryRequest(query, parameters)
        return Operation(request: .analyze(request), read: explanation)
    }

    @Sendable
    private static func explanation(_ reply: Reply, _ welcome: Welcome) -> Explanation? {
        if case .explained(let explanation) = reply { explanation } else { nil }
    }
}

extension Operation where Output == QueryStatistics {
    /// - Parameter resets: Whether counting begins again afterwards. It is never sent twice then.
    static func queryStatistics(resetting resets: Bool) -> Self {
        Operation(request: .queryStatistics(reset: resets), isWrite: resets) { reply, _ in
            if case .queryStatistics(let statistics) = reply { statistics } else { nil }
        }
    }
}

extension Operation where Output == CheckReport {
    static var check: Self {
        Operation(request: .check) { reply, _ in
            if case .checked(let report) = reply { report } else { nil }
        }
    }
}

extension Operation where Output == [Statistic] {
    static var statistics: Self {
        Operation(request: .statistics) { reply, _ in
            if case .statistics(let statistics) = reply { statistics } else { nil }
        }
    }
}

extension Operation where Output == ServerActivity {
    static var activity: Self {
        Operation(request: .activity) { reply, _ in
            if case .activity(let activity) = reply { activity } else { nil }
        }
    }
}

extension Operation where Output == String {
    static var metrics: Self {
        Operation(request: .metrics) { reply, _ in
            if case .metrics(let text) = reply { text } else { nil }
        }
    }
}

extension Operation {
    private init(save set: ChangeSet, _ output: @escaping @Sendable (SaveResult) -> Output?) {
        self.init(request: .save(set), isWrite: true) { reply, _ in
            if case .saved(let result) = reply { output(result) } else { nil }
        }
    }
}

extension Operation where Output == Schema {
    static func schema(cachedBy session: Session) -> Self {
        Operation(request: .schema) { reply, welcome throws(LarderError) in
            guard case .schema(let text) = reply else { return nil }
            let schema: Schema
            do throws(SchemaError) {
                schema = try SchemaFile.schema(parsing: text)
            } catch {
                throw error.larderError
            }
            session.cache(schema, fingerprint: welcome.schemaFingerprint)
            return schema
        }
    }
}

extension Operation where Output == MigrationSummary {
    static func planMigration(to schema: Schema) -> Self {
        Operation(request: .migrate(.plan(to: schema.canonicalText))) { reply, _ in
            if case .migrated(let summary) = reply { summary } else { nil }
        }
    }
}

extension Operation where Output == Int64 {
    /// Never sent twice: after a restart of the server, another connection has the number.
    static func endRequests(connection: Int64, request: UInt64) -> Self {
        let request = Request.endRequests(connection: connection, request: request)
        return Operation(request: request, isWrite: true) { reply, _ in
            if case .requestsEnded(let count) = reply { count } else { nil }
        }
    }

    static func deleteHistory(_ deletion: HistoryDeletion) -> Self {
        Operation(request: .deleteHistory(deletion)) { reply, _ in
            if case .historyDeleted(let count) = reply { count } else { nil }
        }
    }
}
