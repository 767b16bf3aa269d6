import LarderModel
import LarderQuery
import LarderWire

extension RightsFuzzer {
    /// The contents of a reply, or the code of its error.
    enum Outcome: Equatable, CustomStringConvertible {
        case rows([String])
        case failed(ErrorCode)

        var description: String {
            switch self {
            case .rows(let rows): "\(rows)"
            case .failed(let code): code.name
            }
        }
    }

    static func expect(
        _ condition: Bool, _ text: @autoclosure () -> String
    ) throws {
        guard condition else { throw Leak(description: text()) }
    }

    /// Fails if a text has a value or an identifier of an object that the user does not see.
    ///
    /// - Parameter request: Has what the user has sent, which a reply may repeat.
    func checkText(_ text: String, _ user: User, request: String = "") throws {
        let seen = user.rights.visible(world)
        for secret in world.secrets.subtracting(seen.secrets)
        where text.contains(secret) && !request.contains(secret) {
            throw Leak(description: "\(secret) in \(text)")
        }
        for (key, task) in world.tasks where seen.tasks[key] == nil {
            for name in ["\(task.entityName)/p\(key)", "Task/p\(key)"]
            where Self.names(text, name) && !Self.names(request, name) {
                throw Leak(description: "\(name) in \(text)")
            }
        }
    }

    private static func names(_ text: String, _ object: String) -> Bool {
        guard let range = text.firstRange(of: object) else { return false }
        return range.upperBound == text.endIndex || !text[range.upperBound].isNumber
    }

    // MARK: Queries

    func query(_ user: User) throws {
        let reads = RightsRead.all(using: &random)
        guard let read = reads.randomElement(using: &random) else { return }
        try compare(read, user)
        // Both users send the request again, whose plans are in the caches then.
        if chance(2) { for user in users { try compare(read, user) } }
    }

    func outcome(_ read: RightsRead, _ user: User, in snapshot: UInt64 = 0) throws -> Outcome {
        let request = try QueryRequest(read.query, read.parameters)
        let id = try user.connection.open(.query(request), in: snapshot)
        defer { user.connection.forget(id) }
        var rows: [String] = []
        while let reply = try user.connection.next(id) {
            switch reply {
            case .batches(let batches, let more):
                rows += batches.flatMap { RightsRead.rows(of: $0, isWhole: read.isWhole) }
                if more { continue }
                return .rows(read.isOrdered ? rows : rows.sorted())
            case .failed(let error):
                try checkText("\(error)", user, request: "\(read.query)")
                return .failed(error.code)
            default: throw Leak(description: "a query has the reply \(reply)")
            }
        }
        throw Leak(description: "a query has no reply")
    }

    /// The rows for the objects that the user may see; nil if the query names what is hidden.
    func expected(_ read: RightsRead, _ user: User, _ world: RightsWorld) -> [String]? {
        guard read.names.allSatisfy(user.rights.has(name:)),
            user.rights.has(read.query.entityName)
        else { return nil }
        let rows = read.rows(user.rights.visible(world), user.rights)
        return read.isOrdered ? rows : rows.sorted()
    }

    func compare(_ read: RightsRead, _ user: User) throws {
        try compare(read, try outcome(read, user), expected(read, user, world))
    }

    private func compare(
        _ read: RightsRead, _ found: Outcome, _ expected: [String]?
    ) throws {
        let isRight =
            switch (found, expected) {
            case (.rows(let rows), let expected?): rows == expected
            case (.failed(let code), nil): [.unknownEntity, .unknownProperty].contains(code)
            default: false
            }
        try Self.expect(
            isRight, "\(read.name): \(found), not \(expected.map { "\($0)" } ?? "an error")")
    }

    /// A snapshot has the objects, and decides by the rules, of when it was opened.
    func snapshot(_ user: User) throws {
        let before = world
        let snapshot = try user.connection.open(.openSnapshot)
        guard case .snapshotOpened = try user.connection.next(snapshot) else {
            throw Leak(description: "no snapshot")
        }
        for _ in 0..<2 { try changeByRoot() }
        for _ in 0..<3 {
            let reads = RightsRead.all(using: &random)
            guard let read = reads.randomElement(using: &random) else { return }
            try compare(
                read, try outcome(read, user, in: snapshot), expected(read, user, before))
            try compare(read, user)
        }
        try user.connection.cancel(snapshot)
    }

    // MARK: Reads by identifier

    func get(_ user: User) throws {
        let keys = world.tasks.keys.sorted().filter { _ in chance(3) }
        try get(keys + [999_999], user)
    }

    /// Both users repeat a request, also after changes of other objects.
    func cachedGet(_ user: User) throws {
        guard let key = world.tasks.keys.sorted().randomElement(using: &random) else { return }
        for round in 0..<3 {
            for user in users { for _ in 0..<3 { try get([key], user, ["title", "done"]) } }
            switch round {
            case 0: try update(task: key, ["done": .bool(world.tasks[key]?.done != true)])
            default: try changeByRoot()
            }
            if world.tasks[key] == nil { return }
        }
    }

    private func get(_ keys: [Int64], _ user: User, _ properties: [String]? = nil) throws {
        let identifiers = keys.map { task($0) }
        let seen = user.rights.visible(world)
        let reply = try user.connection.reply(to: .get(identifiers, properties: properties))
        let hasAll = identifiers.allSatisfy { user.rights.has($0.entityName) }
        switch reply {
        case .batches(let batches, _):
            let found = batches.flatMap { RightsRead.rows(of: $0, isWhole: true) }.sorted()
            let expected = keys.compactMap { key in
                seen.tasks[key].map { task in
                    properties == nil
                        ? RightsRead.object(key, task, user.rights, includesLists: true)
                        : "\(task.entityName)/\(key)|\(task.done)|\(task.title)"
                }
            }.sorted()
            try Self.expect(found == expected, "\(found), not \(expected)")
        case .failed(let error):
            try checkText("\(error)", user, request: "\(identifiers)")
            try Self.expect(
                !hasAll && error.code == .unknownEntity, "get \(identifiers): \(error)")
        default: throw Leak(description: "get: \(String(describing: reply))")
        }
    }

    // MARK: What concerns the store as a whole

    /// Requests that need a right to the store.
    func storeRight(_ user: User) throws {
        let rights = user.rights
        let isAdmin = rights.rights.contains(.admin)
        let query = try QueryRequest(.count(entityName: "Mark", predicate: nil))
        let seesPlans = isAdmin || !rights.isLimited
        var requests: [(Request, Bool)] = [
            (.explain(query), seesPlans), (.analyze(query), seesPlans), (.statistics, isAdmin),
            (.metrics, isAdmin), (.queryStatistics(reset: false), isAdmin), (.check, isAdmin),
            (.deleteHistory(.keeping(1_000_000)), isAdmin),
        ]
        if !rights.rights.contains(.backup) { requests.append((.backup(credit: 1), false)) }
        if !rights.rights.contains(.migrate) {
            requests.append((.migrate(.plan(to: RightsWorld.schema)), false))
        }
        guard let (request, isAllowed) = requests.randomElement(using: &random) else { return }
        let reply = try user.connection.reply(to: request)
        if case .failed(let error) = reply {
            try Self.expect(
                !isAllowed && error.code == .permissionDenied, "\(request): \(error)")
        } else {
            let text = "\(String(describing: reply))"
            try Self.expect(isAllowed, "\(request): \(text)")
            try Self.expect(!text.contains(RightsWorld.marker), "\(request): \(text)")
        }
    }

    func activity(_ user: User) throws {
        guard case .activity(let activity) = try user.connection.reply(to: .activity) else {
            throw Leak(description: "no activity")
        }
        try Self.expect(!"\(activity)".contains(RightsWorld.marker), "\(activity)")
        if user.rights.rights.contains(.admin) { return }
        let sources =
            activity.connections.map(\.source) + activity.running.map(\.source)
            + activity.slowReads.map(\.source)
        let others = sources.filter { $0.userIdentifier != user.rights.user }
        try Self.expect(others.isEmpty, "the connections of others: \(others)")
        // Neither can a request of another user be ended.
        for number in 1...Int64(3 * account.policyCount + 3)
        where !activity.connections.contains(where: { $0.id == number }) {
            let reply = try user.connection.reply(
                to: .endRequests(connection: number, request: 0))
            try Self.expect(
                reply == .requestsEnded(0), "ended: \(String(describing: reply))")
            if number > 3 { break }
        }
    }

    func schema(_ user: User) throws {
        guard case .schema(let text) = try user.connection.reply(to: .schema) else {
            throw Leak(description: "no schema")
        }
        let schema = try SchemaFile.schema(parsing: text)
        let whole = try SchemaFile.schema(parsing: RightsWorld.schema)
        for entity in whole.entities {
            let found = schema.entity(named: entity.name)
            try Self.expect(
                (found != nil) == user.rights.has(entity.name), "\(entity.name) in \(text)")
            for name in entity.allNames where found != nil {
                try Self.expect(
                    (found?.property(named: name) != nil)
                        == user.rights.has(name: "\(entity.name).\(name)"),
                    "\(entity.name).\(name) in \(text)")
            }
        }
    }

    /// The hint of an error does not name what is hidden.
    func misspelledName(_ user: User) throws {
        let names = [
            ("Task.cost", "csot"), ("Task.note", "noet"), ("Task.list", "lsit"),
            ("Task.tags", "tgas"), ("List.size", "szie"), ("List.owner", "onwer"),
        ]
        guard let (name, wrong) = names.randomElement(using: &random) else { return }
        let parts = name.split(separator: ".").map(String.init)
        let entity = chance(3) ? String(parts[0].dropLast()) : parts[0]
        let query: Query =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .count(entityName: entity, predicate: .format("\(wrong) != nil"))
            case 1: .fetch(Fetch(entity, sort: [SortKey(wrong)]))
            default: .aggregate(Aggregate(entity, groupBy: [QueryColumn(wrong)], [.count]))
            }
        let id = try user.connection.open(.query(QueryRequest(query)))
        defer { user.connection.forget(id) }
        guard case .failed(let error) = try user.connection.next(id) else {
            throw Leak(description: "no error for \(wrong)")
        }
        let text = "\(error)"
        if !user.rights.has(name: name) {
            try Self.expect(
                !text.contains("\"\(parts[1])\"") && !text.contains("`\(parts[1])`"), text)
        }
        if entity != parts[0], !user.rights.has(parts[0]) {
            try Self.expect(
                !text.contains("\"\(parts[0])\"") && !text.contains("`\(parts[0])`"), text)
        }
    }
}
