import LarderModel
import LarderQuery
import LarderWire

/// The history, feeds and observed queries.
extension RightsFuzzer {
    private var last: HistoryToken {
        get throws {
            let id = try root.open(.history(HistoryRequest(HistoryFetch(), startsNow: true)))
            defer { root.forget(id) }
            guard case .history(let reply, _) = try root.next(id) else {
                throw Leak(description: "root cannot read the history")
            }
            return reply.position
        }
    }

    private func transactions(
        _ connection: RawConnection, _ request: HistoryRequest
    ) throws -> (transactions: [HistoryTransaction], objects: [Batch]) {
        let id = try connection.open(.history(request))
        defer { connection.forget(id) }
        var transactions: [HistoryTransaction] = []
        var objects: [Batch] = []
        while let reply = try connection.next(id) {
            guard case .history(let history, let more) = reply else {
                throw Leak(description: "the history has the reply \(reply)")
            }
            transactions += history.transactions
            objects += history.objects
            if !more { return (transactions, objects) }
        }
        throw Leak(description: "the history has no end")
    }

    // MARK: What a user may see of the history

    private static func text(
        _ transaction: HistoryTransaction, _ change: HistoryChange, _ properties: [String],
        _ former: [String: Value]
    ) -> String {
        let values = former.sorted { $0.key < $1.key }.map {
            "\($0.key)=\(RightsRead.text($0.value))"
        }
        return "\(transaction.id) \(change.kind) \(RightsRead.text(change.identifier)) "
            + "\(properties.sorted()) \(values)"
    }

    private static func texts(_ transactions: [HistoryTransaction]) -> [String] {
        transactions.flatMap { transaction in
            transaction.changes.map {
                text(transaction, $0, $0.properties, $0.former)
            }
        }.sorted()
    }

    /// The part of root's history that a user may see.
    private func visible(
        _ transactions: [HistoryTransaction], _ user: User
    ) -> [String] {
        let rights = user.rights
        let seen = rights.visible(world)
        func sees(_ object: PersistentIdentifier) -> Bool {
            let key = object.permanentKey ?? 0
            guard rights.readsPart(of: object.entityName) else { return true }
            return switch object.entityName {
            case "List": seen.lists[key] != nil
            case "Tag": seen.tags[key] != nil
            default: seen.tasks[key] != nil
            }
        }
        return transactions.flatMap { transaction in
            transaction.changes.compactMap { change -> String? in
                let entity = change.identifier.entityName
                guard entity == "Mark" || rights.has(entity) && rights.history.contains(entity),
                    change.kind == .deleted || sees(change.identifier)
                else { return nil }
                let known = { (name: String) in rights.has(name: "\(entity).\(name)") }
                var former = change.former.filter { known($0.key) }
                if rights.readsPart(of: entity) { former = [:] }
                former = former.filter { _, value in
                    guard case .object(let object) = value else { return true }
                    return !rights.readsPart(of: object.entityName)
                }
                return Self.text(transaction, change, change.properties.filter(known), former)
            }
        }.sorted()
    }

    /// The history from before some changes, in each of its forms.
    func history(_ user: User) throws {
        let start = try last
        for _ in 0..<Int.random(in: 1...3, using: &random) { try changeByRoot() }
        var fetch = HistoryFetch(after: start, newestFirst: chance(2))
        if chance(3), user.rights.has("Task") { fetch.filter.entityNames = ["Task"] }
        let all = try transactions(root, HistoryRequest(fetch)).transactions
        let expected = visible(all, user)
        let found = try transactions(user.connection, HistoryRequest(fetch)).transactions
        try Self.expect(
            Self.texts(found) == expected, "\(Self.texts(found)), not \(expected) of \(all)")
        try Self.expect(
            found.allSatisfy { !$0.runs.isEmpty }, "a transaction without a change is shown")
        fetch.includesChanges = false
        let numbers = try transactions(user.connection, HistoryRequest(fetch)).transactions
        try Self.expect(numbers.map(\.id) == found.map(\.id), "\(numbers.map(\.id))")
    }

    /// The history with the objects as they are now.
    func historyObjects(_ user: User) throws {
        let start = try last
        for _ in 0..<3 { try changeByRoot() }
        guard user.rights.has("Task") else { return }
        let objects = Query.fetch(Fetch("Task", selection: .columns(["title"])))
        let request = HistoryRequest(
            HistoryFetch(after: start), objects: [try QueryRequest(objects)])
        let found = try transactions(user.connection, request)
        let expected = visible(
            try transactions(root, HistoryRequest(request.fetch)).transactions, user)
        try Self.expect(Self.texts(found.transactions) == expected, "not \(expected)")
        let titles = Set(user.rights.visible(world).tasks.values.map(\.title))
        let rows = found.objects.flatMap { RightsRead.rows(of: $0, isWhole: false) }
        try Self.expect(rows.allSatisfy(titles.contains), "\(rows), of \(titles)")
    }

    /// A feed gets a change, and then one that everybody sees.
    func feed(_ user: User) throws {
        let start = try last
        let request = HistoryRequest(HistoryFetch(after: start), follows: true)
        let id = try user.connection.open(.history(request))
        var received: [HistoryTransaction] = []
        func receive(upTo number: Int64) throws {
            while received.last.map({ $0.id < number }) ?? true {
                guard case .history(let reply, more: true) = try user.connection.next(id) else {
                    throw Leak(description: "the feed ends")
                }
                received += reply.transactions
            }
        }
        // Once it has sent all, the event loop passes it the changes.
        if chance(2) { try receive(upTo: try mark()) }
        try changeByRoot()
        try receive(upTo: try mark())
        try user.connection.cancel(id)
        let all = try transactions(root, HistoryRequest(HistoryFetch(after: start))).transactions
        let expected = visible(all, user)
        try Self.expect(
            Self.texts(received) == expected, "\(Self.texts(received)), not \(expected) of \(all)")
    }

    // MARK: Observed queries

    /// The rows of an observed query, as a client has them.
    private struct ObservedRows {
        let isWhole: Bool
        let isOrdered: Bool
        private var current: [String] = []
        private var incoming: [String]?
        private(set) var isComplete = false

        init(_ read: RightsRead) { (isWhole, isOrdered) = (read.isWhole, read.isOrdered) }

        var rows: [String] { isOrdered ? current : current.sorted() }

        mutating func apply(_ reply: ObserveReply) {
            let received = reply.rows.map { RightsRead.rows(of: $0, isWhole: isWhole) } ?? []
            if reply.begins { incoming = [] }
            if incoming != nil {
                incoming? += received
                isComplete = reply.ends
                if reply.ends, let whole = incoming { (current, incoming) = (whole, nil) }
                return
            }
            let removed = reply.deleted + reply.oldIndexes.filter { $0 > 0 }.map { $0 - 1 }
            for index in Set(removed).sorted(by: >) { current.remove(at: Int(index)) }
            for (index, row) in zip(reply.newIndexes, received) {
                current.insert(row, at: Int(index))
            }
        }
    }

    func observe(_ user: User) throws {
        let reads = RightsRead.all(using: &random).filter {
            $0.name != "limit" && $0.name != "prefetch"
        }
        guard let read = reads.randomElement(using: &random) else { return }
        let request = ObserveRequest(try QueryRequest(read.query, read.parameters))
        let id = try user.connection.open(.observe(request))
        var observed = ObservedRows(read)
        var results = [expected(read, user, world)]
        while !observed.isComplete {
            let reply = try user.connection.next(id)
            if case .failed(let error) = reply {
                let mayWatch = user.rights.watches.contains(read.query.entityName)
                let code: [ErrorCode] =
                    results[0] == nil
                    ? [.unknownEntity, .unknownProperty] : mayWatch ? [] : [.permissionDenied]
                return try Self.expect(code.contains(error.code), "\(read.name): \(error)")
            }
            guard case .observed(let part, more: true) = reply else {
                throw Leak(description: "\(read.name): \(String(describing: reply))")
            }
            observed.apply(part)
        }
        try Self.expect(
            user.rights.watches.contains(read.query.entityName) && results[0] == observed.rows,
            "\(read.name): \(observed.rows), not \(String(describing: results))")
        for _ in 0..<2 {
            try changeByRoot()
            results.append(expected(read, user, world))
            try follow(read, &observed, results, id, user)
        }
        try user.connection.cancel(id)
    }

    /// Receives changes of an observed query until it has its last result.
    ///
    /// - Parameter results: Those that it may have had before, and the last one.
    private func follow(
        _ read: RightsRead, _ observed: inout ObservedRows, _ results: [[String]?], _ id: UInt64,
        _ user: User
    ) throws {
        guard let last = results.last else { return }
        while true {
            let isLast = observed.rows == last
            let reply: Reply?
            do {
                reply = try user.connection.next(id, waits: !isLast)
            } catch is RawConnection.NoReply {
                throw Leak(
                    description: "\(read.name): no change from \(observed.rows) to "
                        + "\(String(describing: last))")
            }
            guard let reply else { return }
            guard case .observed(let part, more: true) = reply else {
                throw Leak(description: "\(read.name): \(reply)")
            }
            observed.apply(part)
            guard observed.isComplete else { continue }
            try Self.expect(
                results.contains(observed.rows),
                "\(read.name): \(observed.rows), not one of \(results)")
        }
    }
}
